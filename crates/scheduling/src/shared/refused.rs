//! A cache of refused requests, which avoids repeating queries.

use pavior_kernel::Time;
use pavior_mesh::{Pool, Request};
use pavior_workload::Job;
use rustc_hash::FxHashSet;

use crate::{MachineView, Queue, Reach, Start};

/// The requests refused in one state of the machine.
///
/// For jobs with the same reach, a refused request stays refused until the state changes. Each
/// distinct request is therefore tried only once, however many jobs make it.
#[derive(Default)]
pub(crate) struct Refused {
    state: u64,
    /// The refused requests.
    requests: FxHashSet<Key>,
    /// The number of jobs at the front of the queue that are known to be refused.
    passed: usize,
    /// The time at which `passed` was counted, or zero if there were no advance reservations.
    at: Time,
    /// The value of [`Queue::withdrawals`] when `passed` was counted.
    withdrawals: u64,
}

/// A request and a reach, packed into a few words because every event requires a lookup for every
/// waiting job.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    sides: u64,
    others: u128,
    reach: Reach,
}

impl Key {
    /// Creates the key for a request and a reach. No other pair has the same key.
    #[inline]
    fn of(request: &Request, reach: Reach) -> Key {
        let Request { nodes, shape, freedom, pool } = *request;
        // Sides are never 0, and neither are the codes for freedoms and pools.
        let sides =
            shape.map_or(0, |[x, y, z]| u64::from(x) | u64::from(y) << 16 | u64::from(z) << 32);
        let freedom = freedom.map_or(0, |freedom| 1 + freedom as u128);
        let pool = pool.map_or(0, |Pool(number)| 1 + u128::from(number));
        Key { sides, others: u128::from(nodes) | freedom << 32 | pool << 64, reach }
    }
}

impl Refused {
    /// Drops the refusals if the machine's state has changed.
    pub(crate) fn in_state(&mut self, state: u64) {
        if self.state != state {
            self.state = state;
            self.requests.clear();
            self.passed = 0;
        }
    }

    /// Returns the answer for a job with this reach. Calls `ask` unless the job is already known to
    /// be refused.
    pub(crate) fn ask<T>(
        &mut self,
        job: &Job,
        reach: Reach,
        ask: impl FnOnce() -> Option<T>,
    ) -> Option<T> {
        let key = Key::of(&job.request, reach);
        if self.requests.contains(&key) {
            return None;
        }
        let answer = ask();
        if answer.is_none() {
            self.requests.insert(key);
        }
        answer
    }

    /// Returns true if the job can start now. The machine must be in the state last passed to
    /// [`Refused::in_state`].
    #[inline]
    pub(crate) fn can_start(&mut self, job: &Job, view: &mut MachineView<'_>) -> bool {
        self.ask(job, view.reach(job), || view.can_start(job).ok()).is_some()
    }

    /// Starts the first job that can start among the oldest `window` jobs.
    ///
    /// No job is requeued while the machine's state is unchanged, so skipped jobs keep their
    /// indices unless a job is withdrawn.
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
