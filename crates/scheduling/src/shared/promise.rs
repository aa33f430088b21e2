//! What the head of the queue was first promised.

use pavior_kernel::Time;
use pavior_mesh::JobId;

/// The first promise to the head of the queue, and how many promises were broken so far.
///
/// A promise is broken when the job starts later. Promises do not cover failures of nodes: after
/// one, what is said next counts as the first.
#[derive(Default)]
pub(crate) struct HeadPromise {
    first: Option<(JobId, Time)>,
    health: u64,
    broken: u64,
}

impl HeadPromise {
    /// A node failed or was repaired: whether that is so, and all promises are void.
    pub(crate) fn voided_by(&mut self, health: u64) -> bool {
        let changed = self.health != health;
        if changed {
            self.health = health;
            self.first = None;
        }
        changed
    }

    /// The head is told when it can start; only the first time counts.
    pub(crate) fn give(&mut self, head: JobId, at: Time) {
        if self.first.is_none_or(|(job, _)| job != head) {
            self.first = Some((head, at));
        }
    }

    /// The head starts.
    pub(crate) fn starts(&mut self, head: JobId, now: Time) {
        if self.first.take().is_some_and(|(job, at)| job == head && at < now) {
            self.broken += 1;
        }
    }

    pub(crate) fn broken(&self) -> u64 {
        self.broken
    }
}
