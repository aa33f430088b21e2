//! The commands of the service over HTTP.

mod auth;
mod batch;
mod body;
mod budget;
mod clock;
mod connection;
mod explain;
mod extract;
mod fair_queue;
mod form;
mod gate;
mod guarded_body;
mod health;
mod leases;
mod listen;
mod machines;
mod metrics;
mod nodes;
mod openapi;
mod page;
mod places;
mod problem;
mod rates;
mod reads;
mod series;
mod statuses;
mod traffic;
mod unblock;
mod watch;
mod write_timeout;

use std::sync::Arc;

use axum::Router;
use axum::http::StatusCode;
use axum::routing::{get, post};
use pavior_mesh::Grid;
use tokio::sync::{Semaphore, watch as signal};

pub(crate) use auth::Peer;
pub use auth::{Access, BadToken};
pub(crate) use body::FreedomSchema;
pub(crate) use listen::Listener;
pub use listen::{Address, ListenError, Tls};
pub(crate) use problem::Fault;
pub use problem::written;
pub(crate) use series::sample;

use crate::core::MachineSpec;
use crate::waits;
use crate::writer::WriterHandle;

/// Watchers that read the history at a time: each opens a file, and takes a processor.
const READERS: usize = 2;

/// How much callers may ask for.
#[derive(Clone, Debug)]
pub struct HttpBounds {
    /// The bytes of a body.
    pub body: usize,
    /// Watchers at a time.
    pub watchers: usize,
    /// Requests a second of a tenant, in the mean; the operator has no limit. A batch counts as its
    /// operations.
    pub rate: Option<f64>,
    /// Commands in a batch.
    pub batch: usize,
    /// Connections at a time.
    pub connections: usize,
}

impl Default for HttpBounds {
    fn default() -> HttpBounds {
        HttpBounds { body: 1 << 20, watchers: 1024, rate: None, batch: 4096, connections: 4096 }
    }
}

/// What all handlers share.
pub(crate) struct App {
    pub(crate) writer: WriterHandle,
    pub(crate) access: Access,
    pub(crate) bounds: HttpBounds,
    pub(crate) metrics: metrics::Metrics,
    pub(crate) series: series::Series,
    pub(crate) waits: waits::WaitsCache,
    rates: Option<rates::Rates>,
    traffic: traffic::Traffic,
    pub(crate) fair_queue: fair_queue::FairQueue,
    /// The machines, in the order in which they are configured.
    pub(crate) machines: Vec<(MachineSpec, Grid)>,
    watchers: Arc<places::Places>,
    /// Watchers that read the history at a time.
    catching_up: Arc<Semaphore>,
    connections: Arc<places::Places>,
    /// Becomes true when the service stops.
    pub(crate) stopping: signal::Receiver<bool>,
    pub(crate) seed: u64,
}

impl App {
    pub(crate) fn new(
        writer: WriterHandle,
        access: Access,
        bounds: HttpBounds,
        machines: Vec<(MachineSpec, Grid)>,
        stopping: signal::Receiver<bool>,
        seed: u64,
    ) -> App {
        App {
            watchers: places::Places::new(bounds.watchers),
            catching_up: Arc::new(Semaphore::new(READERS)),
            fair_queue: fair_queue::FairQueue::new(),
            traffic: traffic::Traffic::new(),
            metrics: metrics::Metrics::new(),
            series: series::Series::default(),
            waits: waits::WaitsCache::default(),
            rates: bounds.rate.map(rates::Rates::new),
            connections: places::Places::new(bounds.connections),
            writer,
            access,
            bounds,
            machines,
            stopping,
            seed,
        }
    }

    /// The grid of a machine; of the first if the name is not known, which the decision says.
    pub(crate) fn grid(&self, machine: Option<&str>) -> &Grid {
        let named = |(spec, _): &&(MachineSpec, Grid)| machine.is_none_or(|name| spec.name == name);
        self.machines
            .iter()
            .find(named)
            .or(self.machines.first())
            .map_or_else(|| unreachable!("a service has at least one machine"), |(_, grid)| grid)
    }
}

/// All routes.
pub(crate) fn router(app: Arc<App>) -> Router {
    let most = app.bounds.body;
    let limited = Router::new()
        .route("/v1/leases", get(reads::leases).post(leases::create))
        .route("/v1/leases/{id}", get(reads::lease))
        .route("/v1/leases/{id}/end", post(leases::end))
        .route("/v1/leases/{id}/renew", post(leases::renew))
        .route("/v1/hold", post(leases::hold))
        .route("/v1/batch", post(batch::batch))
        .route("/v1/nodes/fail", post(nodes::fail))
        .route("/v1/nodes/repair", post(nodes::repair))
        .route("/v1/nodes/drain", post(nodes::drain))
        .route("/v1/clock/confirm", post(clock::confirm))
        .route("/v1/machine", get(machines::machine))
        .route("/v1/machines", get(machines::machines))
        .route("/v1/queue", get(reads::queue))
        .route("/v1/state", get(machines::state))
        .route("/v1/series", get(series::series))
        .route("/v1/explain", post(explain::explain))
        .route("/v1/unblock", post(unblock::unblock))
        .route("/v1/what-if", post(explain::what_if))
        .route("/v1/watch", get(watch::watch))
        .route("/metrics", get(metrics::metrics))
        .layer(axum::middleware::from_fn(form::checked))
        .layer(axum::middleware::from_fn_with_state(app.clone(), gate::pass));
    let open = Router::new()
        .route("/", get(page::page))
        .route("/openapi.json", get(openapi::document))
        .route("/healthz", get(health::healthz))
        .route("/readyz", get(health::readyz))
        .layer(axum::middleware::from_fn(form::checked));
    Router::new()
        .merge(limited)
        .merge(open)
        .fallback(|| async {
            Fault::new(StatusCode::NOT_FOUND, "no-such-path", "there is no such path")
        })
        .method_not_allowed_fallback(|| async {
            Fault::new(
                StatusCode::METHOD_NOT_ALLOWED,
                "no-such-method",
                "this path has other methods",
            )
        })
        .layer(axum::extract::DefaultBodyLimit::max(most))
        .layer(axum::middleware::from_fn_with_state(app.clone(), gate::observe))
        .layer(axum::middleware::from_fn(form::with_headers))
        .with_state(app)
}
