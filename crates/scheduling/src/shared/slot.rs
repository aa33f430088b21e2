//! Stretches of time, and what is held for them.

use pavior_kernel::Time;

/// A stretch of time, its end excluded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Interval {
    pub(crate) from: Time,
    pub(crate) to: Time,
}

impl Interval {
    /// A stretch of a job's estimated length, at least a tick: a job said to take no time still
    /// holds its nodes in an instant.
    pub(crate) fn new(from: Time, estimate: Time) -> Interval {
        Interval { from, to: from.saturating_add(estimate.max(Time(1))) }
    }
}

/// Nodes for a stretch of time, or a number of them.
pub(crate) struct Slot<Held> {
    pub(crate) interval: Interval,
    pub(crate) held: Held,
}

/// How many nodes, for how long.
#[derive(Clone, Copy)]
pub(crate) struct Room {
    pub(crate) nodes: u64,
    pub(crate) estimate: Time,
}
