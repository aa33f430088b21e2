//! The HTTP interface:
//! - Connections: `listen`, `connection`, `permits`, `traffic`.
//! - Checks on every request: `middleware`, `auth`, `rates`, `form`.
//! - Parts of requests and replies: `extract`, `body`, `statuses`, `problem`.
//! - Changes: `changes`, `batch`. States: `machines`, `reads`, `past`, `watch`.
//! - Questions: `explain`, `forecast`, `unblock`, `room`; `questions` and `fair_queue` run them.
//! - Statistics: `metrics`, `sampling`, `series`, `refusals`.

mod app;
mod auth;
mod batch;
mod body;
mod changes;
mod connection;
mod diagnoses;
mod explain;
mod extract;
mod fair_queue;
mod forecast;
mod form;
mod health;
mod listen;
mod machines;
mod metrics;
mod middleware;
mod openapi;
mod page;
mod past;
mod permits;
mod problem;
mod questions;
mod rates;
mod reads;
mod refusals;
mod reply;
mod reservations;
mod room;
mod sampling;
mod series;
mod slots;
mod statuses;
mod traffic;
mod unblock;
mod watch;
mod write_timeout;

use std::sync::Arc;

use axum::Router;
use axum::http::StatusCode;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::get;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) use app::App;
pub use app::HttpBounds;
pub(crate) use auth::Peer;
pub use auth::{Access, BadToken};
pub(crate) use listen::Listener;
pub use listen::{Address, ListenError, Tls};
pub(crate) use problem::Fault;
pub use reply::format_reply;
pub(crate) use sampling::sample;

/// Returns two sets of routes: those that require authentication and the public ones.
fn api_routes() -> [OpenApiRouter<Arc<App>>; 2] {
    let authenticated = OpenApiRouter::new()
        .routes(routes!(reads::leases, changes::create))
        .routes(routes!(reads::lease))
        .routes(routes!(changes::end))
        .routes(routes!(changes::renew))
        .routes(routes!(changes::hold))
        .routes(routes!(batch::batch))
        .routes(routes!(changes::fail))
        .routes(routes!(changes::repair))
        .routes(routes!(changes::drain))
        .routes(routes!(changes::confirm))
        .routes(routes!(reservations::reservations, reservations::reserve))
        .routes(routes!(reservations::unreserve))
        .routes(routes!(machines::machine))
        .routes(routes!(machines::machines))
        .routes(routes!(reads::queue))
        .routes(routes!(machines::state))
        .routes(routes!(series::series))
        .routes(routes!(slots::slots_of))
        .routes(routes!(refusals::refusals))
        .routes(routes!(explain::explain))
        .routes(routes!(forecast::forecast))
        .routes(routes!(unblock::unblock))
        .routes(routes!(room::room))
        .routes(routes!(explain::what_if))
        .routes(routes!(watch::watch))
        .routes(routes!(metrics::metrics));
    let public =
        OpenApiRouter::new().routes(routes!(health::healthz)).routes(routes!(health::readyz));
    [authenticated, public]
}

/// Returns all routes. Layers added later run earlier, so `middleware::observe` sees every request
/// and reply, and callers are authenticated before their requests are validated.
pub(crate) fn router(app: Arc<App>) -> Router {
    let [authenticated, public] = api_routes().map(Router::from);
    let authenticated = authenticated
        .layer(from_fn(form::check))
        .layer(from_fn_with_state(app.clone(), middleware::authenticate));
    let public = public
        .route("/", get(page::page))
        .route("/openapi.json", get(openapi::document))
        .layer(from_fn(form::check));
    let unknown_path = async || Fault::new(StatusCode::NOT_FOUND, "no-such-path", "no such path");
    let unknown_method = async || {
        let detail = "this path does not support the request method; see the Allow header";
        Fault::new(StatusCode::METHOD_NOT_ALLOWED, "no-such-method", detail)
    };
    Router::new()
        .merge(authenticated)
        .merge(public)
        .fallback(unknown_path)
        .method_not_allowed_fallback(unknown_method)
        .layer(from_fn_with_state(app.clone(), middleware::observe))
        .with_state(app)
}
