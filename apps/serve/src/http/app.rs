//! The state shared by all handlers, and limits on callers.

use std::sync::Arc;
use std::time::Duration;

use pavior::{Grid, Sides};
use tokio::sync::{self, Semaphore};

use super::fair_queue::FairQueue;
use super::permits::Permits;
use super::{Access, diagnoses, metrics, rates, refusals, sampling, slots, traffic};
use crate::core::{MachineSpec, Problem, find_machine};
use crate::forecasts::Forecasts;
use crate::waits;
use crate::writer::WriterHandle;

/// The maximum number of watchers that read the history concurrently. Each such watcher keeps a
/// file open and a core busy.
const MAX_HISTORY_READERS: usize = 2;
/// The minimum number of concurrent computations per queue, even on a single core.
const MIN_CONCURRENT: usize = 2;
/// The time limit for a question or a diagnosis.
const ANSWER_TIMEOUT: Duration = Duration::from_mins(2);
/// The time limit for a forecast.
const FORECAST_TIMEOUT: Duration = Duration::from_secs(10);

/// Limits on callers, and the shapes counted in the metrics.
#[derive(Clone, Debug)]
pub struct HttpBounds {
    /// The maximum number of concurrent watchers.
    pub watchers: usize,
    /// The average number of requests per second that each tenant may send. Each operation in a
    /// batch counts as a request. The operator is not limited.
    pub rate: Option<f64>,
    /// The maximum number of concurrent connections.
    pub connections: usize,
    /// The shapes whose free boxes are counted in the metrics.
    pub slots: Vec<Sides>,
}

impl Default for HttpBounds {
    fn default() -> HttpBounds {
        HttpBounds { watchers: 1024, rate: None, connections: 4096, slots: Vec::new() }
    }
}

/// The state shared by all handlers.
pub(crate) struct App {
    pub(crate) writer: WriterHandle,
    pub(crate) access: Access,
    pub(crate) bounds: HttpBounds,
    pub(crate) metrics: metrics::Metrics,
    pub(crate) samples: sampling::Samples,
    pub(crate) refusals: refusals::Refusals,
    pub(crate) diagnoses: Arc<diagnoses::Diagnoses>,
    pub(crate) waits: waits::WaitsCache,
    /// The latest box counts for the metrics.
    pub(crate) slot_counts: slots::SlotCounts,
    pub(crate) forecasts: Forecasts,
    pub(super) rates: Option<rates::Rates>,
    pub(super) traffic: traffic::Traffic,
    /// The queue for questions. Diagnoses and forecasts have separate queues.
    pub(super) questions: FairQueue,
    pub(super) diagnosis_queue: FairQueue,
    /// The queue for forecasts, which run one at a time on a shared copy of the state.
    pub(super) forecast_queue: FairQueue,
    /// The queue for descriptions of machines.
    pub(super) descriptions: FairQueue,
    /// The machines, in configuration order.
    pub(crate) machines: Vec<(MachineSpec, Grid)>,
    pub(super) watchers: Arc<Permits>,
    /// Permits for watchers that read the history.
    pub(super) history_readers: Arc<Semaphore>,
    pub(super) connections: Arc<Permits>,
    /// A flag that becomes true when the service stops.
    pub(crate) stopping: sync::watch::Receiver<bool>,
    pub(crate) seed: u64,
}

impl App {
    pub(crate) fn new(
        writer: WriterHandle,
        access: Access,
        bounds: HttpBounds,
        machines: Vec<(MachineSpec, Grid)>,
        stopping: sync::watch::Receiver<bool>,
        seed: u64,
    ) -> App {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let concurrent = MIN_CONCURRENT.max(processors);
        App {
            watchers: Permits::new(bounds.watchers),
            history_readers: Arc::new(Semaphore::new(MAX_HISTORY_READERS)),
            questions: FairQueue::new(concurrent, ANSWER_TIMEOUT),
            diagnosis_queue: FairQueue::new(concurrent, ANSWER_TIMEOUT),
            forecast_queue: FairQueue::new(1, FORECAST_TIMEOUT),
            descriptions: FairQueue::new(concurrent, ANSWER_TIMEOUT),
            traffic: traffic::Traffic::new(),
            metrics: metrics::Metrics::new(),
            samples: sampling::Samples::default(),
            refusals: refusals::Refusals::default(),
            diagnoses: Arc::default(),
            waits: waits::WaitsCache::default(),
            slot_counts: slots::SlotCounts::default(),
            forecasts: Forecasts::default(),
            rates: bounds.rate.map(rates::Rates::new),
            connections: Permits::new(bounds.connections),
            writer,
            access,
            bounds,
            machines,
            stopping,
            seed,
        }
    }

    /// Returns the grid of the machine named in a body, or a problem if there is none.
    pub(crate) fn named_grid(&self, machine: Option<&str>) -> Result<&Grid, Problem> {
        Ok(&self.machines[self.machine_index(machine)?].1)
    }

    /// Returns the grid of the named machine, or of the first machine if no machine has that name.
    pub(crate) fn grid(&self, machine: Option<&str>) -> &Grid {
        &self.machines[self.machine_index(machine).unwrap_or(0)].1
    }

    /// Returns the index of the named machine, or of the first machine if no name is given.
    pub(crate) fn machine_index(&self, machine: Option<&str>) -> Result<usize, Problem> {
        find_machine(self.machines.iter().map(|(spec, _)| spec), machine)
    }
}
