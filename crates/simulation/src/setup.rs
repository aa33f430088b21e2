//! The settings, inputs, outcomes and errors of a run.

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
use pavior_workload::traces::Link;
use thiserror::Error;

use crate::{BadFailing, Endless, Failing, Migration, NetworkSetup};

/// The settings for a run, except for its jobs. [`Setup::new`] sets the machine, the strategy and
/// the scheduler. All other settings have defaults, which the `with_` methods change.
///
/// ```
/// # mod pavior { pub use pavior_simulation as simulation; }
/// use pavior::simulation::{Ending, Setup};
/// let setup = Setup::new("torus:8x8x8".parse()?, "tff:scan=yzx", "easy")?
///     .with_seed(7)
///     .with_ending(Ending::Completions(1000));
/// assert_eq!(setup.strategy.to_string(), "tff:scan=yzx");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Setup {
    /// The machine's grid.
    pub grid: Grid,
    /// The allocation strategy.
    pub strategy: pavior_allocation::Selection,
    /// The scheduler.
    pub scheduler: pavior_scheduling::Selection,
    /// The network, if jobs send messages. With a network, one tick is one cycle.
    pub network: Option<NetworkSetup>,
    /// Settings for moving running jobs to make room. Cannot be combined with a network, failures
    /// or advance reservations.
    pub migration: Option<Migration>,
    /// The seed for random draws made during the run, for example by strategies or for message
    /// destinations. Jobs and failures have their own seeds.
    pub seed: u64,
    /// The replication number.
    pub replication: u64,
    /// The time from which averages are computed: 0, or the time of the first arrival if jobs come
    /// from a log.
    pub begin: Time,
    /// The number of completions after which averages are restarted.
    pub warmup: u64,
    /// The condition that ends the run.
    pub ending: Ending,
    /// True to time allocation attempts.
    pub timing: bool,
    /// The slice whose availability is reported to observers ([`Fact::Slice`](crate::Fact)).
    pub slice: Option<Request>,
}

impl Setup {
    /// Creates the settings for a run. The strategy and the scheduler can be selections, or names
    /// with options.
    ///
    /// # Errors
    /// Returns an error if a name is invalid.
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

    /// Lets jobs send messages over a network. One tick is then one cycle. By default, there is no
    /// network.
    #[must_use]
    pub fn with_network(self, network: impl Into<Option<NetworkSetup>>) -> Setup {
        Setup { network: network.into(), ..self }
    }

    /// Allows running jobs to be moved to make room for others. By default, jobs are not moved.
    #[must_use]
    pub fn with_migration(self, migration: impl Into<Option<Migration>>) -> Setup {
        Setup { migration: migration.into(), ..self }
    }

    /// Sets the seed for the run's random draws. The seed does not affect the jobs. The default is
    /// 1.
    #[must_use]
    pub fn with_seed(self, seed: u64) -> Setup {
        Setup { seed, ..self }
    }

    /// Sets the replication number, which is 0 by default. Each replication makes different random
    /// draws. Jobs should be created with the same replication number.
    #[must_use]
    pub fn with_replication(self, replication: u64) -> Setup {
        Setup { replication, ..self }
    }

    /// Sets the time at which averaging starts. The default is 0. For a log, use the first arrival.
    #[must_use]
    pub fn with_begin(self, begin: Time) -> Setup {
        Setup { begin, ..self }
    }

    /// Sets the number of completions after which averages are restarted. The default is 0.
    #[must_use]
    pub fn with_warmup(self, warmup: u64) -> Setup {
        Setup { warmup, ..self }
    }

    /// Sets the condition that ends the run. By default, the run ends when all jobs have departed.
    #[must_use]
    pub fn with_ending(self, ending: Ending) -> Setup {
        Setup { ending, ..self }
    }

    /// Sets whether allocation attempts are timed. By default, they are not.
    #[must_use]
    pub fn with_timing(self, timing: bool) -> Setup {
        Setup { timing, ..self }
    }

    /// Sets the slice whose availability is reported to observers. By default, there is none.
    #[must_use]
    pub fn with_slice(self, slice: impl Into<Option<Request>>) -> Setup {
        Setup { slice: slice.into(), ..self }
    }
}

/// The condition that ends a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// This many jobs, including those in the warm-up, have completed.
    Completions(u64),
    /// All jobs have departed.
    Drained,
}

/// The jobs and other external inputs to a run.
pub struct Inputs<'i> {
    /// The jobs, in order of arrival.
    pub jobs: Box<dyn Iterator<Item = Job> + Send + 'i>,
    /// Component failures. Incompatible with a network.
    pub failures: Option<Failing>,
    /// Advance reservations of nodes. Incompatible with migration.
    pub reserved: Vec<AdvanceReservation>,
    /// Sorted dependencies between jobs, as indices into `jobs`, or `None` if all jobs arrive at
    /// the listed times. A dependent job is submitted only after the jobs that it depends on.
    pub links: Option<Arc<[Link]>>,
}

impl<'i> Inputs<'i> {
    /// Adds component failures. By default, there are none.
    #[must_use]
    pub fn with_failures(self, failures: impl Into<Option<Failing>>) -> Inputs<'i> {
        Inputs { failures: failures.into(), ..self }
    }

    /// Adds advance reservations. By default, there are none.
    #[must_use]
    pub fn with_reserved(self, reserved: Vec<AdvanceReservation>) -> Inputs<'i> {
        Inputs { reserved, ..self }
    }

    /// Adds sorted dependencies between jobs, which are identified by their positions in order of
    /// arrival. There are none by default. Requires a finite number of jobs.
    #[must_use]
    pub fn with_links(self, links: impl Into<Option<Arc<[Link]>>>) -> Inputs<'i> {
        Inputs { links: links.into(), ..self }
    }
}

/// Creates inputs from jobs in order of arrival, without failures, reservations or dependencies.
impl<'i, J> From<J> for Inputs<'i>
where
    J: IntoIterator<Item = Job, IntoIter: Send + 'i>,
{
    fn from(jobs: J) -> Inputs<'i> {
        let jobs = Box::new(jobs.into_iter());
        Inputs { jobs, failures: None, reserved: Vec::new(), links: None }
    }
}

/// The outcome of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The time at which the run ended.
    pub end: Time,
    /// The number of jobs that arrived, including rejected ones.
    pub arrived: u64,
    /// The number of jobs that were still waiting at the end.
    pub waiting: u64,
    /// The rejected jobs, in order of arrival.
    pub rejected: Vec<JobId>,
    /// The number of dependencies on rejected jobs. They did not delay the dependent jobs.
    pub unfollowed: u64,
    /// The mean time per attempt in nanoseconds, excluding clock overhead, if attempts were timed.
    pub allocation_ns: Option<f64>,
}

/// The reason why a run cannot be created or cannot continue.
#[derive(Debug, Error)]
pub enum RunError {
    /// The strategy does not support the machine.
    #[error(transparent)]
    Strategy(#[from] BuildError),
    /// An event refers to a node that does not exist in the machine.
    #[error(transparent)]
    Node(#[from] UnknownNode),
    /// The failures or spares are invalid for the machine.
    #[error(transparent)]
    Failing(#[from] BadFailing),
    /// The network cannot be built with these settings.
    #[error(transparent)]
    Network(#[from] BadSettings),
    /// Messages wait for each other in a cycle, so none of them can proceed.
    #[error(transparent)]
    Deadlock(#[from] Deadlock),
    /// The scheduler or the caller tried to start a job that cannot start.
    #[error(transparent)]
    Start(#[from] StartError),
    /// A job arrived while another with the same id was waiting or running.
    #[error(transparent)]
    Repeated(#[from] RepeatedJob),
    /// A reservation is for a different machine.
    #[error(transparent)]
    Reservation(#[from] BadReservation),
    /// The run would never end, or would exceed the maximum time.
    #[error(transparent)]
    Endless(#[from] Endless),
    /// The strategy or the scheduler failed
    /// ([`Strategy::error`](pavior_allocation::Strategy::error),
    /// [`Scheduler::error`](pavior_scheduling::Scheduler::error)), or the strategy proposed nodes
    /// that cannot be granted.
    #[error(transparent)]
    Failed(#[from] CallerError),
    /// A [`Stop`] ended the run.
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

/// A flag that lets another thread stop runs. Clones share the same flag.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Stops all runs that share this flag, each at its next time step.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Returns true if the flag has been set.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
