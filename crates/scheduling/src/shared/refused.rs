//! Refused requests, so that none is put twice.

use pavior_kernel::Time;
use pavior_mesh::Request;
use pavior_workload::Job;
use rustc_hash::FxHashSet;

use crate::{MachineView, Queue, Reach, Start};

/// The requests that were refused in one state of the machine.
///
/// A request that is refused stays refused until the state changes, for jobs of the same reach. So
/// each distinct request is put once, however many jobs make it.
#[derive(Default)]
pub(crate) struct Refused {
    state: u64,
    /// Read by membership alone: its order does not matter.
    requests: FxHashSet<(Request, Reach)>,
    /// The number of jobs, from the oldest, that are known to be refused.
    passed: usize,
    /// When `passed` was counted, if reaches grow with the time.
    at: Time,
    /// [`Queue::withdrawals`] when `passed` was counted.
    withdrawals: u64,
}

impl Refused {
    /// Forgets the refusals if the machine's state has changed.
    pub(crate) fn in_state(&mut self, state: u64) {
        if self.state != state {
            self.state = state;
            self.requests.clear();
            self.passed = 0;
        }
    }

    /// The answer to a job of a reach, by `ask` if it is not known to be refused.
    pub(crate) fn ask<T>(
        &mut self,
        job: &Job,
        reach: Reach,
        ask: impl FnOnce() -> Option<T>,
    ) -> Option<T> {
        if self.requests.contains(&(job.request, reach)) {
            return None;
        }
        let answer = ask();
        if answer.is_none() {
            self.requests.insert((job.request, reach));
        }
        answer
    }

    /// Whether the machine, which is in this state, can start a job now.
    #[inline]
    pub(crate) fn can_start(&mut self, job: &Job, view: &mut MachineView<'_>) -> bool {
        self.ask(job, view.reach(job), || view.can_start(job).ok()).is_some()
    }

    /// Starts the first of the oldest `window` jobs that can start.
    ///
    /// In one state of the machine no job returns to the queue. So jobs that were passed over keep
    /// their places unless one is withdrawn.
    pub(crate) fn first_fit(
        &mut self,
        queue: &Queue,
        window: usize,
        view: &mut MachineView<'_>,
    ) -> Option<Start> {
        let (state, at) = view.moment();
        self.in_state(state);
        if self.withdrawals != queue.withdrawals() || self.at != at {
            (self.withdrawals, self.at) = (queue.withdrawals(), at);
            self.passed = 0;
        }
        let window = window.min(queue.len());
        for index in self.passed..window {
            if self.can_start(queue.get(index)?, view) {
                return Some(Start::at(index));
            }
            self.passed = index + 1;
        }
        None
    }
}
