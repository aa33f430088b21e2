//! The start time promised to the head of the queue, and the option that makes promises hold.

use pavior_kernel::{OptionSpec, Options, Time, Values};
use pavior_mesh::JobId;

use crate::MachineView;

/// The `promise` option, which can make promises hold ([`Expected`](super::ends::Expected)).
pub(crate) const OPTION: OptionSpec = OptionSpec {
    key: "promise",
    values: Values::OneOf(&["moves", "holds"]),
    default: "moves",
    meaning: "whether the promised start is postponed (moves) or kept (holds) if an overtaking job \
              exceeds its estimate; use holds if users may underestimate run times",
    bare: false,
};

/// Returns true for `promise=holds`.
pub(crate) fn holds(options: &Options) -> bool {
    options.get(OPTION.key) == "holds"
}

/// The first promise made to the head of the queue, and the number of promises broken so far.
///
/// A promise is broken if the job starts later than promised. It becomes void if a node fails or is
/// repaired, if the advance reservations change, or if the promised nodes are granted outside the
/// queue. The next promise then counts as the first.
#[derive(Default)]
pub(crate) struct HeadPromise {
    first: Option<(JobId, Time)>,
    health: u64,
    broken: u64,
}

impl HeadPromise {
    /// Records the machine's health ([`MachineView::health`](crate::MachineView::health)). If it
    /// has changed, voids the promise and returns true.
    pub(crate) fn voided_by(&mut self, health: u64) -> bool {
        let changed = self.health != health;
        if changed {
            self.health = health;
            self.void();
        }
        changed
    }

    /// Works like [`HeadPromise::voided_by`], but any grant outside the queue also voids the
    /// promise.
    pub(crate) fn voided_in(&mut self, view: &MachineView<'_>) -> bool {
        let (changed, granted) = (self.voided_by(view.health()), !view.granted().is_empty());
        if granted {
            self.void();
        }
        changed || granted
    }

    pub(crate) fn void(&mut self) {
        self.first = None;
    }

    /// Promises the head a start time. Only the first promise to a given head counts.
    pub(crate) fn give(&mut self, head: JobId, at: Time) {
        if self.first.is_none_or(|(job, _)| job != head) {
            self.first = Some((head, at));
        }
    }

    /// Records that the head has started.
    pub(crate) fn starts(&mut self, head: JobId, now: Time) {
        if self.first.take().is_some_and(|(job, at)| job == head && at < now) {
            self.broken += 1;
        }
    }

    pub(crate) fn broken(&self) -> u64 {
        self.broken
    }
}
