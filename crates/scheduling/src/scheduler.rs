//! The interface of a scheduler.

use pavior_allocation::{Machine, Placement};
use pavior_kernel::{CallerError, Time};

use crate::{MachineView, Queue, Running, Standing};

/// A rule that chooses which waiting job starts next.
///
/// The scheduler is called at every instant with an event, and again after every start, until it
/// returns `None`.
pub trait Scheduler: Send + Sync {
    /// Returns the next job to start now, if any.
    fn next(
        &mut self,
        now: Time,
        queue: &Queue,
        running: &Running,
        view: &mut MachineView<'_>,
    ) -> Option<Start>;

    /// Returns the reasons why jobs are waiting, as of the last call to [`Scheduler::next`], which
    /// returned `None`. Returns `None` if the scheduler does not report them. The queue and the
    /// machine must not have changed since then, and `now` must not be earlier. Takes O(q) time for
    /// q waiting jobs.
    fn standing(&self, _now: Time, _queue: &Queue, _machine: &Machine) -> Option<Standing> {
        None
    }

    /// Returns the number of jobs that started later than first promised, not counting delays
    /// caused by failures. The number is zero for schedulers that make no promises.
    fn broken_guarantees(&self) -> u64 {
        0
    }

    /// Returns the error that has occurred in the scheduler, for example in a script or a service
    /// that it depends on. After such a failure, [`Scheduler::next`] returns `None`, and the run
    /// stops with this error.
    fn error(&self) -> Option<CallerError> {
        None
    }
}

/// A decision to start a job now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    /// The job's index in the queue ([`Queue::get`]). The oldest job has index 0.
    pub index: usize,
    /// The job's nodes. If this is `None`, the choice is left to the machine's strategy, which the
    /// scheduler has already asked.
    pub placement: Option<Placement>,
}

impl Start {
    /// Starts a job on nodes chosen by the strategy.
    pub fn at(index: usize) -> Start {
        Start { index, placement: None }
    }

    /// Starts a job on given nodes. They must be free, and there must be at least as many as
    /// requested. The scheduler is responsible for their shape and for the job's
    /// [`Freedom`](pavior_mesh::Freedom).
    pub fn on(index: usize, placement: Placement) -> Start {
        Start { index, placement: Some(placement) }
    }
}
