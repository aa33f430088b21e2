//! The page at `/`.

use std::sync::LazyLock;

use axum::http::header;
use axum::response::IntoResponse;

static PAGE: LazyLock<String> = LazyLock::new(pavior_viewer::live);

/// The content security policy. The page may use only its own script and style, and may connect
/// only to this service.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; \
    connect-src 'self'; img-src data: blob:; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'";

pub(crate) async fn page() -> impl IntoResponse {
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::CACHE_CONTROL, "no-cache"),
    ];
    (headers, PAGE.as_str())
}
