//! Health probes of Kubernetes and others.

use axum::Router;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use axum::routing::get;

/// Creates routes for probes: `GET /healthz` tells if the daemon is alive, and `GET /readyz` if it
/// has read its ledger. The answer is 200 or 503.
pub fn probes<A, R>(alive: A, ready: R) -> Router
where
    A: Fn() -> bool + Clone + Send + Sync + 'static,
    R: Fn() -> bool + Clone + Send + Sync + 'static,
{
    let answer = |holds: bool| {
        let (status, text) = if holds {
            (StatusCode::OK, "ok\n")
        } else {
            (StatusCode::SERVICE_UNAVAILABLE, "no\n")
        };
        (status, text).into_response()
    };
    Router::new()
        .route("/healthz", get(async move || answer(alive())))
        .route("/readyz", get(async move || answer(ready())))
}
