//! What a scheduler is.

use pavior_allocation::{Machine, Placement};
use pavior_kernel::{CallerError, Time};

use crate::{MachineView, Queue, Running, Standing};

/// A rule that decides which waiting job starts next.
///
/// It is asked at every instant at which something happened, and again after every start, until it
/// answers `None`.
pub trait Scheduler: Send + Sync {
    /// The next job to start now, if any.
    fn next(
        &mut self,
        now: Time,
        queue: &Queue,
        running: &Running,
        view: &mut MachineView<'_>,
    ) -> Option<Start>;

    /// What keeps the jobs that wait, as of the last question, which was answered `None`; none if
    /// it does not say. Queue and machine are as they were then, and `now` is not earlier. O(q) for
    /// q waiting jobs.
    fn standing(&self, _now: Time, _queue: &Queue, _machine: &Machine) -> Option<Standing> {
        None
    }

    /// How many jobs have started later than they were first promised, failures of nodes apart.
    /// Zero for schedulers that promise nothing.
    fn broken_guarantees(&self) -> u64 {
        0
    }

    /// What has gone wrong in it, if it needs something that can fail: a script, a service. It
    /// answers `None` to the question that fails, and the run stops with this error.
    fn error(&self) -> Option<CallerError> {
        None
    }
}

/// A decision to start a job now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    /// The job's place in the queue; the oldest is at 0 ([`Queue::get`]).
    pub index: usize,
    /// Where it is put; `None` leaves that to the machine's strategy, which the scheduler has
    /// asked.
    pub placement: Option<Placement>,
}

impl Start {
    /// Starts a job where the strategy puts it.
    pub fn at(index: usize) -> Start {
        Start { index, placement: None }
    }

    /// Starts a job on given nodes. They must be free and at least as many as it asks for; whether
    /// they have its shape and [`Freedom`](pavior_mesh::Freedom) is left to the scheduler.
    pub fn on(index: usize, placement: Placement) -> Start {
        Start { index, placement: Some(placement) }
    }
}
