//! The service's commands over HTTP.

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
mod gate;
mod health;
mod listen;
mod machines;
mod metrics;
mod openapi;
mod page;
mod places;
mod problem;
mod questions;
mod rates;
mod reads;
mod refusals;
mod reservations;
mod room;
mod series;
mod slots;
mod statuses;
mod traffic;
mod unblock;
mod watch;
mod write_timeout;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::StatusCode;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::get;
use pavior::{Grid, Sides};
use tokio::sync::{Semaphore, watch as signal};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) use auth::Peer;
pub use auth::{Access, BadToken};
pub(crate) use listen::Listener;
pub use listen::{Address, ListenError, Tls};
pub(crate) use problem::Fault;
pub use problem::written;
pub(crate) use series::sample;

use crate::core::MachineSpec;
use crate::forecasts::Forecasts;
use crate::waits;
use crate::writer::WriterHandle;

/// The maximum number of watchers that read the history at the same time, because each opens a file
/// and occupies a processor.
const READERS: usize = 2;

/// Limits on callers.
#[derive(Clone, Debug)]
pub struct HttpBounds {
    /// The maximum size of a body, in bytes.
    pub body: usize,
    /// The maximum number of concurrent watchers.
    pub watchers: usize,
    /// The average number of requests per second that a tenant may send; the operator has no limit.
    /// Each operation in a batch counts as a request.
    pub rate: Option<f64>,
    /// The maximum number of commands in a batch.
    pub batch: usize,
    /// The maximum number of concurrent connections.
    pub connections: usize,
    /// The shapes for which the metrics count the boxes that can be placed at once.
    pub slots: Vec<Sides>,
}

impl Default for HttpBounds {
    fn default() -> HttpBounds {
        HttpBounds {
            body: 1 << 20,
            watchers: 1024,
            rate: None,
            batch: 4096,
            connections: 4096,
            slots: Vec::new(),
        }
    }
}

/// The minimum number of long computations that may run concurrently.
const AT_ONCE: usize = 2;
/// The time limit for an answer or a forecast.
const LONGEST: Duration = Duration::from_mins(2);
const FORECAST: Duration = Duration::from_secs(10);

/// The state shared by all handlers.
pub(crate) struct App {
    pub(crate) writer: WriterHandle,
    pub(crate) access: Access,
    pub(crate) bounds: HttpBounds,
    pub(crate) metrics: metrics::Metrics,
    pub(crate) series: series::Series,
    pub(crate) refusals: refusals::Refusals,
    pub(crate) diagnoses: Arc<diagnoses::Diagnoses>,
    pub(crate) waits: waits::WaitsCache,
    pub(crate) counted: slots::Counted,
    pub(crate) forecasts: Forecasts,
    rates: Option<rates::Rates>,
    traffic: traffic::Traffic,
    /// Separate queues for questions, diagnoses of refusals, and forecasts, so that no kind waits
    /// for another.
    pub(crate) fair_queue: fair_queue::FairQueue,
    pub(crate) diagnosing: fair_queue::FairQueue,
    pub(crate) forecasting: fair_queue::FairQueue,
    /// The machines, in the order configured.
    pub(crate) machines: Vec<(MachineSpec, Grid)>,
    watchers: Arc<places::Places>,
    /// Permits for watchers that read the history.
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
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        App {
            watchers: places::Places::new(bounds.watchers),
            catching_up: Arc::new(Semaphore::new(READERS)),
            fair_queue: fair_queue::FairQueue::new(AT_ONCE.max(processors), LONGEST),
            diagnosing: fair_queue::FairQueue::new(AT_ONCE.max(processors), LONGEST),
            forecasting: fair_queue::FairQueue::new(1, FORECAST),
            traffic: traffic::Traffic::new(),
            metrics: metrics::Metrics::new(),
            series: series::Series::default(),
            refusals: refusals::Refusals::default(),
            diagnoses: Arc::default(),
            waits: waits::WaitsCache::default(),
            counted: slots::Counted::default(),
            forecasts: Forecasts::default(),
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

    /// Returns the grid of a machine, or of the first machine if the name is unknown; the decision
    /// then reports the error.
    pub(crate) fn grid(&self, machine: Option<&str>) -> &Grid {
        let named = |(spec, _): &&(MachineSpec, Grid)| machine.is_none_or(|name| spec.name == name);
        self.machines
            .iter()
            .find(named)
            .or(self.machines.first())
            .map_or_else(|| unreachable!("a service has at least one machine"), |(_, grid)| grid)
    }
}

/// Returns the routes that require authentication, and those that are open to everyone.
fn described() -> [OpenApiRouter<Arc<App>>; 2] {
    let known = OpenApiRouter::new()
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
        .routes(routes!(reservations::give_up))
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
    let open =
        OpenApiRouter::new().routes(routes!(health::healthz)).routes(routes!(health::readyz));
    [known, open]
}

/// Returns all routes.
pub(crate) fn router(app: Arc<App>) -> Router {
    let most = app.bounds.body;
    let [known, open] = described().map(Router::from);
    let known =
        known.layer(from_fn(form::checked)).layer(from_fn_with_state(app.clone(), gate::pass));
    let open = open
        .route("/", get(page::page))
        .route("/openapi.json", get(openapi::document))
        .layer(from_fn(form::checked));
    let no = |status, word, detail| async move { Fault::new(status, word, detail) };
    Router::new()
        .merge(known)
        .merge(open)
        .fallback(move || no(StatusCode::NOT_FOUND, "no-such-path", "there is no such path"))
        .method_not_allowed_fallback(move || {
            no(
                StatusCode::METHOD_NOT_ALLOWED,
                "no-such-method",
                "this path does not support the method: see the Allow header",
            )
        })
        .layer(axum::extract::DefaultBodyLimit::max(most))
        .layer(from_fn_with_state(app.clone(), gate::observe))
        .with_state(app)
}
