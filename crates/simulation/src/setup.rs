//! What a run is made of, and how it ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pavior_allocation::{BuildError, UnknownNode};
use pavior_kernel::{CallerError, Time};
use pavior_mesh::{Grid, JobId, Request};
use pavior_network::{BadSettings, Deadlock};
use pavior_scheduling::StartError;
use pavior_workload::Job;
use thiserror::Error;

use crate::{BadFailing, Endless, Failing, Migration, NetworkSetup};

/// What a run is made of, besides its jobs.
#[derive(Clone)]
pub struct Setup {
    /// The machine.
    pub grid: Grid,
    /// Who allocates.
    pub strategy: pavior_allocation::Selection,
    /// Who schedules.
    pub scheduler: pavior_scheduling::Selection,
    /// The network, if jobs send messages; a tick is then a cycle.
    pub network: Option<NetworkSetup>,
    /// Whether running jobs move to make room; not together with a network or with failures.
    pub migration: Option<Migration>,
    /// The seed of all streams.
    pub seed: u64,
    /// The number of the replication.
    pub replication: u64,
    /// When averages start: time 0, or the first arrival of a log.
    pub begin: Time,
    /// Completions after which averages start anew.
    pub warmup: u64,
    /// When the run ends.
    pub ending: Ending,
    /// Whether attempts are timed.
    pub timing: bool,
    /// A request of which observers are told whether it could be granted
    /// ([`Fact::Slice`](crate::Fact)).
    pub slice: Option<Request>,
}

/// When a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// At this completion (the warm-up's included).
    Completions(u64),
    /// When all jobs have departed.
    Drained,
}

/// What comes from outside in the key of a run.
pub struct Inputs<'i> {
    /// The jobs, in the order of arrival.
    pub jobs: Box<dyn Iterator<Item = Job> + Send + 'i>,
    /// Failures of components. Not together with a network.
    pub failures: Option<Failing>,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// When it ended.
    pub end: Time,
    /// Jobs that arrived, rejected ones included.
    pub arrived: u64,
    /// Jobs that were waiting at the end.
    pub waiting: u64,
    /// Jobs rejected, in the order of arrival.
    pub rejected: Vec<JobId>,
    /// Measured time per attempt, clock overhead removed, in nanoseconds.
    pub allocation_ns: Option<f64>,
}

/// Why a run cannot be made, or cannot go on.
#[derive(Debug, Error)]
pub enum RunError {
    /// The strategy does not work on the machine.
    #[error(transparent)]
    Strategy(#[from] BuildError),
    /// An event names a node that the machine does not have.
    #[error(transparent)]
    Node(#[from] UnknownNode),
    /// Failures name what the machine does not have.
    #[error(transparent)]
    Failing(#[from] BadFailing),
    /// The network cannot be built so.
    #[error(transparent)]
    Network(#[from] BadSettings),
    /// Messages wait for each other in a circle.
    #[error(transparent)]
    Deadlock(#[from] Deadlock),
    /// The scheduler, or who decides in its place, started a job that cannot start.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The run would not end by itself, or passes the greatest time.
    #[error(transparent)]
    Endless(#[from] Endless),
    /// The strategy or the scheduler has failed
    /// ([`Strategy::error`](pavior_allocation::Strategy::error),
    /// [`Scheduler::error`](pavior_scheduling::Scheduler::error)), or the strategy proposed nodes
    /// that cannot be granted.
    #[error(transparent)]
    Failed(#[from] CallerError),
    /// A [`Stop`] was set.
    #[error("the run was stopped")]
    Stopped,
}

/// A request to end a run, from another thread. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Asks the runs that look at it to end; they do at their next instant.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was asked for.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
