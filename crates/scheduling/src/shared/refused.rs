//! What has been refused already, so that it is not asked again.

use pavior_mesh::Request;
use rustc_hash::FxHashSet;

use crate::{MachineView, Queue, Start};

/// Requests refused in one state of the machine. The same request in the same state is refused
/// again, so each is asked once; this is what keeps a pass over a long queue cheap.
#[derive(Default)]
pub(crate) struct Refused {
    state: u64,
    /// Only ever asked for membership: its order does not matter.
    requests: FxHashSet<Request>,
    /// The waiting jobs, from the oldest, known to be refused.
    passed: usize,
    /// The jobs that had been withdrawn when that was found.
    withdrawals: u64,
}

impl Refused {
    /// Forgets what was refused in another state.
    pub(crate) fn in_state(&mut self, state: u64) {
        if self.state != state {
            self.state = state;
            self.requests.clear();
            self.passed = 0;
        }
    }

    /// Whether a request is refused, as far as is known or else as `ask` answers.
    pub(crate) fn ask<T>(
        &mut self,
        request: &Request,
        ask: impl FnOnce(&Request) -> Option<T>,
    ) -> Option<T> {
        if self.requests.contains(request) {
            return None;
        }
        let answer = ask(request);
        if answer.is_none() {
            self.requests.insert(*request);
        }
        answer
    }

    /// Starts the first of the oldest `window` jobs that can start.
    ///
    /// Jobs leave the queue by starting or are withdrawn, and return to it only from the machine:
    /// while its state is the same and none is withdrawn, the jobs passed over keep their places.
    pub(crate) fn first_fit(
        &mut self,
        queue: &Queue,
        window: usize,
        view: &mut MachineView<'_>,
    ) -> Option<Start> {
        self.in_state(view.machine().state());
        if self.withdrawals != queue.withdrawals() {
            self.withdrawals = queue.withdrawals();
            self.passed = 0;
        }
        let window = window.min(queue.len());
        for index in self.passed..window {
            let request = queue.get(index)?.request;
            if self.ask(&request, |request| view.can_start(request).ok()).is_some() {
                return Some(Start::at(index));
            }
            self.passed = index + 1;
        }
        None
    }
}
