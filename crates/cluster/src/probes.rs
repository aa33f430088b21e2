//! Health probes for Kubernetes and other managers.

use axum::Router;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use axum::routing::get;

/// Creates routes for health probes. `GET /healthz` reports whether the daemon is alive.
/// `GET /readyz` reports whether it is ready and lists one fault per line. The status is 200 or
/// 503.
pub fn probes<A, R>(alive: A, ready: R) -> Router
where
    A: Fn() -> bool + Clone + Send + Sync + 'static,
    R: Fn() -> (bool, String) + Clone + Send + Sync + 'static,
{
    let answer = |(holds, faults): (bool, String)| {
        let (status, word) =
            if holds { (StatusCode::OK, "ok") } else { (StatusCode::SERVICE_UNAVAILABLE, "no") };
        (status, format!("{word}\n{faults}")).into_response()
    };
    Router::new()
        .route("/healthz", get(async move || answer((alive(), String::new()))))
        .route("/readyz", get(async move || answer(ready())))
}
