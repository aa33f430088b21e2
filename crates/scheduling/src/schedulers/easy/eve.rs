//! The eve: the machine just before the time reserved for the head.
//!
//! On the eve, all jobs that are expected to end before the reserved time have ended. The head does
//! not fit on the eve; otherwise, it would have an earlier reservation. It can get an earlier one
//! only if a job that was expected to run at least until the reserved time ends early:
//!
//! ```text
//!   a a b b .    a ends at 4, b at 9; the head needs all nodes and is promised 9. On the eve, the
//!   . . b b .    nodes of b are taken. If b ends at 3, the eve is queried again.
//! ```
//!
//! Invariant: nodes free at any time before the reserved one are free on the eve. Therefore, if the
//! strategy's answers are monotone, a head refused on the eve has no earlier reservation.
//!
//! Cost: O(1) per grant or release, plus one query for each end of a job that was expected to be
//! running on the eve.

use pavior_allocation::{Change, Fork, Machine, Placement};
use pavior_kernel::Time;
use pavior_workload::Job;

use crate::Running;
use crate::shared::ends::Expected;

/// The machine just before the reserved time, when the head would still be refused.
pub(super) struct Eve {
    fork: Fork,
    /// The machine's state number when the fork was last updated.
    state: u64,
    /// The value of [`Running::revisions`] when the fork was last updated. A job whose estimate has
    /// been revised may end before the reserved time.
    revisions: u64,
}

impl Eve {
    /// Creates an eve from a fork that matches the machine's current state.
    pub(super) fn new(fork: Fork, running: &Running, machine: &Machine) -> Eve {
        Eve { fork, state: machine.state(), revisions: running.revisions() }
    }

    /// Returns true if the head definitely cannot get a reservation before `limit`, the time of its
    /// current reservation.
    pub(super) fn refuses(
        &mut self,
        head: &Job,
        limit: Time,
        expected: &Expected<'_>,
        machine: &Machine,
    ) -> bool {
        let changes = machine.changes_since(self.state);
        let Some(changes) = changes.filter(|_| self.revisions == expected.running().revisions())
        else {
            return false;
        };
        let mut gains = false;
        for Change { job, placement, granted } in changes {
            let stays = || {
                let job = expected.running().get(*job);
                job.is_some_and(|job| expected.end(job) >= limit)
            };
            if *granted {
                if stays() {
                    // If this fails, the fork has too many free nodes, which is safe.
                    let _ = self.fork.take(placement);
                }
            } else if self.is_taken(placement, machine) {
                if self.fork.give(placement).is_err() {
                    return false;
                }
                gains = true;
            }
        }
        self.state = machine.state();
        !gains || self.fork.find(&head.request).is_err()
    }

    /// Returns true if the nodes that a job held are still taken in the fork. Checks a single
    /// healthy node, because failed nodes are always taken in the fork.
    fn is_taken(&self, placement: &Placement, machine: &Machine) -> bool {
        let (free, healthy) = (self.fork.free(), machine.healthy());
        let mut nodes = placement.parts().iter().flat_map(|part| part.nodes(free.grid()));
        let first = nodes.find(|&node| healthy.is_node_free(node));
        first.is_some_and(|node| !free.is_node_free(node))
    }
}
