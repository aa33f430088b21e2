//! What a run is made of, and how it ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pavior_allocation::{BuildError, UnknownNode};
use pavior_kernel::{BadName, CallerError, Time};
use pavior_mesh::{Grid, JobId, Request};
use pavior_network::{BadSettings, Deadlock};
use pavior_scheduling::{
    AdvanceReservation, BadReservation, DispatchError, RepeatedJob, StartError,
};
use pavior_workload::Job;
use thiserror::Error;

use crate::{BadFailing, Endless, Failing, Migration, NetworkSetup};

/// What a run is made of, besides its jobs. [`Setup::new`] gives everything but machine, strategy
/// and scheduler a default, and the methods called `with_` change it.
///
/// ```
/// use pavior_simulation::{Ending, Setup};
/// let setup = Setup::new("torus:8x8x8".parse()?, "tff:scan=yzx", "easy")?
///     .with_seed(7)
///     .with_ending(Ending::Completions(1000));
/// assert_eq!(setup.strategy.to_string(), "tff:scan=yzx");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
    /// Whether running jobs move to make room; not together with a network, with failures
    /// or with reservations ahead.
    pub migration: Option<Migration>,
    /// The seed of what the run draws: choices of strategies, destinations of messages. Jobs and
    /// failures are drawn before, with seeds of their own.
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

impl Setup {
    /// A strategy and a scheduler on a machine; each is a name with options, or a selection.
    ///
    /// # Errors
    /// If a name cannot be read.
    pub fn new<A, S>(grid: Grid, strategy: A, scheduler: S) -> Result<Setup, BadName>
    where
        A: TryInto<pavior_allocation::Selection>,
        S: TryInto<pavior_scheduling::Selection>,
        BadName: From<A::Error> + From<S::Error>,
    {
        Ok(Setup {
            grid,
            strategy: strategy.try_into()?,
            scheduler: scheduler.try_into()?,
            network: None,
            migration: None,
            seed: 1,
            replication: 0,
            begin: Time::ZERO,
            warmup: 0,
            ending: Ending::Drained,
            timing: false,
            slice: None,
        })
    }

    /// Lets jobs send messages on a network: a tick is then a cycle. By default there is none.
    #[must_use]
    pub fn with_network(self, network: impl Into<Option<NetworkSetup>>) -> Setup {
        Setup { network: network.into(), ..self }
    }

    /// Lets running jobs move to make room. By default they stay.
    #[must_use]
    pub fn with_migration(self, migration: impl Into<Option<Migration>>) -> Setup {
        Setup { migration: migration.into(), ..self }
    }

    /// The seed of what the run draws; 1 by default. Jobs are drawn with the seed that they were
    /// made with.
    #[must_use]
    pub fn with_seed(self, seed: u64) -> Setup {
        Setup { seed, ..self }
    }

    /// The number of the replication, from 0, the default: each draws anew. Its jobs are to be made
    /// with the same number.
    #[must_use]
    pub fn with_replication(self, replication: u64) -> Setup {
        Setup { replication, ..self }
    }

    /// When averages start, in ticks; time 0 by default. For a log it is the first arrival.
    #[must_use]
    pub fn with_begin(self, begin: Time) -> Setup {
        Setup { begin, ..self }
    }

    /// Jobs that complete before averages start anew; 0 by default.
    #[must_use]
    pub fn with_warmup(self, warmup: u64) -> Setup {
        Setup { warmup, ..self }
    }

    /// When the run ends; by default when all jobs have departed.
    #[must_use]
    pub fn with_ending(self, ending: Ending) -> Setup {
        Setup { ending, ..self }
    }

    /// Whether attempts are timed; by default they are not.
    #[must_use]
    pub fn with_timing(self, timing: bool) -> Setup {
        Setup { timing, ..self }
    }

    /// A request of which observers are told whether it could be granted; none by default.
    #[must_use]
    pub fn with_slice(self, slice: impl Into<Option<Request>>) -> Setup {
        Setup { slice: slice.into(), ..self }
    }
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
    /// Nodes that are reserved ahead. Not together with migration.
    pub reserved: Vec<AdvanceReservation>,
}

impl<'i> Inputs<'i> {
    /// The same with failures of components; none by default.
    #[must_use]
    pub fn with_failures(self, failures: impl Into<Option<Failing>>) -> Inputs<'i> {
        Inputs { failures: failures.into(), ..self }
    }

    /// The same with nodes that are reserved ahead; none by default.
    #[must_use]
    pub fn with_reserved(self, reserved: Vec<AdvanceReservation>) -> Inputs<'i> {
        Inputs { reserved, ..self }
    }
}

/// Jobs in the order of arrival, on a machine whose nodes do not fail.
impl<'i, J> From<J> for Inputs<'i>
where
    J: IntoIterator<Item = Job, IntoIter: Send + 'i>,
{
    fn from(jobs: J) -> Inputs<'i> {
        Inputs { jobs: Box::new(jobs.into_iter()), failures: None, reserved: Vec::new() }
    }
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
    /// A job arrived while one of its number waits or runs.
    #[error(transparent)]
    Repeated(#[from] RepeatedJob),
    /// Nodes of another machine are reserved.
    #[error(transparent)]
    Reservation(#[from] BadReservation),
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

impl From<DispatchError> for RunError {
    fn from(error: DispatchError) -> RunError {
        match error {
            DispatchError::Failed(error) => error.into(),
            DispatchError::Start(error) => error.into(),
            DispatchError::Repeated(error) => error.into(),
        }
    }
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
