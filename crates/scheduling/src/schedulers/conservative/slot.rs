//! Time intervals, and the nodes taken during them.

use pavior_allocation::Placement;
use pavior_kernel::Time;
use pavior_mesh::{Grid, Occupancy};

/// A half-open time interval. An interval that ends at [`Time::MAX`] is unbounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Interval {
    pub(super) from: Time,
    pub(super) to: Time,
}

impl Interval {
    /// Creates an interval as long as a job's estimate, but at least one tick, because even a job
    /// with an estimate of zero briefly holds its nodes.
    pub(super) fn new(from: Time, estimate: Time) -> Interval {
        Interval { from, to: from.saturating_add(estimate.max(Time(1))) }
    }

    /// Returns the part of this interval from `at` on, which may be empty.
    pub(super) fn after(self, at: Time) -> Interval {
        Interval { from: self.from.max(at), ..self }
    }

    /// Returns the part of this interval before `at`, which may be empty.
    pub(super) fn before(self, at: Time) -> Interval {
        Interval { to: self.to.min(at), ..self }
    }

    /// Returns true if this interval is empty.
    pub(super) fn is_empty(self) -> bool {
        self.from >= self.to
    }

    /// Returns true if this interval overlaps `other`.
    pub(super) fn overlaps(self, other: Interval) -> bool {
        self.from < other.to && other.from < self.to
    }
}

/// Returns the interval in which a job must begin in order to be running at some time in `freed`.
pub(super) fn begins_near(freed: Interval, estimate: Time) -> Interval {
    Interval { from: first_begin_reaching(freed.from, estimate), to: freed.to }
}

/// Returns the earliest time at which a job can begin and still be running at time `at`.
pub(super) fn first_begin_reaching(at: Time, estimate: Time) -> Time {
    let length = estimate.max(Time(1));
    if at < length { Time::ZERO } else { at.since(length).saturating_add(Time(1)) }
}

/// The nodes that a job holds, or only their number.
pub(super) trait Held: Clone + Send + Sync {
    /// Returns the number of nodes.
    fn nodes(&self) -> u64;

    /// Returns the nodes, if already chosen.
    fn placement(&self) -> Option<Placement>;
}

/// The complement of a placement's nodes, used to find the slots that overlap the placement.
pub(super) struct OtherNodes(Occupancy);

impl OtherNodes {
    /// Creates the complement of a placement. Takes O(N) time for N nodes in the placement.
    pub(super) fn than(held: &Placement, grid: &Grid) -> OtherNodes {
        let mut others = Occupancy::all_free(*grid);
        for node in held.parts().iter().flat_map(|part| part.nodes(grid)) {
            others.take_node(node);
        }
        OtherNodes(others)
    }

    /// Returns true if the set contains every node in a slot. Takes O(rows of the slot's parts)
    /// time.
    pub(super) fn include(&self, slot: &Slot<Placement>) -> bool {
        slot.held.parts().iter().all(|part| self.0.is_free(part))
    }
}

impl Held for Placement {
    fn nodes(&self) -> u64 {
        u64::from(Placement::nodes(self))
    }

    fn placement(&self) -> Option<Placement> {
        Some(self.clone())
    }
}

impl Held for u32 {
    fn nodes(&self) -> u64 {
        u64::from(*self)
    }

    fn placement(&self) -> Option<Placement> {
        None
    }
}

/// A job's nodes, and the interval in which it holds them.
#[derive(Clone)]
pub(super) struct Slot<H> {
    pub(super) interval: Interval,
    pub(super) held: H,
}

/// The number of nodes that a job needs, and its estimated run time.
#[derive(Clone, Copy)]
pub(super) struct Need {
    pub(super) nodes: u64,
    pub(super) estimate: Time,
}
