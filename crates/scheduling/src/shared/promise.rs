//! The start that the head of the queue was promised.

use pavior_kernel::Time;
use pavior_mesh::JobId;

/// The first promise to the head of the queue, and the number of promises broken so far.
///
/// A promise is broken if the job starts later. A failure or repair of a node voids it, and so does
/// a reservation ahead that is made or given up: the next promise then counts as the first.
#[derive(Default)]
pub(crate) struct HeadPromise {
    first: Option<(JobId, Time)>,
    health: u64,
    broken: u64,
}

impl HeadPromise {
    /// Notes the machine's health ([`MachineView::health`](crate::MachineView::health)). If it has
    /// changed, the promise is void, and this says so.
    pub(crate) fn voided_by(&mut self, health: u64) -> bool {
        let changed = self.health != health;
        if changed {
            self.health = health;
            self.first = None;
        }
        changed
    }

    /// Promises the head a start. Later promises to the same job do not count.
    pub(crate) fn give(&mut self, head: JobId, at: Time) {
        if self.first.is_none_or(|(job, _)| job != head) {
            self.first = Some((head, at));
        }
    }

    /// Notes that the head starts.
    pub(crate) fn starts(&mut self, head: JobId, now: Time) {
        if self.first.take().is_some_and(|(job, at)| job == head && at < now) {
            self.broken += 1;
        }
    }

    pub(crate) fn broken(&self) -> u64 {
        self.broken
    }
}
