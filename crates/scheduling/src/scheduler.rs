//! The scheduler interface.

use pavior_allocation::{Machine, Placement};
use pavior_kernel::{CallerError, Time};

use crate::{MachineView, Queue, Running, Standing};

/// A rule that chooses which waiting job starts next.
///
/// The scheduler is called whenever an event occurs, and again after every start, until it returns
/// `None`.
pub trait Scheduler: Send + Sync {
    /// Returns the next job to start now.
    fn next(
        &mut self,
        now: Time,
        queue: &Queue,
        running: &Running,
        view: &mut MachineView<'_>,
    ) -> Option<Start>;

    /// Returns the reason why each job is waiting, or `None` if the scheduler does not report
    /// reasons. The last call to [`Scheduler::next`] must have returned `None`. Since then, the
    /// queue and the machine must not have changed, and `now` must not have gone backward. Takes
    /// O(q) time for q waiting jobs.
    fn standing(&self, _now: Time, _queue: &Queue, _machine: &Machine) -> Option<Standing> {
        None
    }

    /// Returns the number of jobs that started later than first promised, not counting delays
    /// caused by failures. Returns zero if the scheduler makes no promises.
    fn broken_guarantees(&self) -> u64 {
        0
    }

    /// Returns any error that has occurred, such as one in a script or service. After an error,
    /// [`Scheduler::next`] returns `None`, and the run stops.
    fn error(&self) -> Option<CallerError> {
        None
    }
}

/// A decision to start a job now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    /// The job's index in the queue ([`Queue::get`]). The oldest job has index 0.
    pub index: usize,
    /// The job's nodes, or `None` to let the machine's strategy choose them. In the latter case,
    /// the scheduler must have checked that the strategy would place the job.
    pub placement: Option<Placement>,
}

impl Start {
    /// Creates a decision to start a job on nodes chosen by the strategy.
    pub fn at(index: usize) -> Start {
        Start { index, placement: None }
    }

    /// Creates a decision to start a job on the given nodes, which must be free, at least as many
    /// as requested, and compatible with the job's shape and [`Freedom`](pavior_mesh::Freedom).
    pub fn on(index: usize, placement: Placement) -> Start {
        Start { index, placement: Some(placement) }
    }
}
