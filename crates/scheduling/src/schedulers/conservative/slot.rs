//! Stretches of time, and what is taken for them.

use pavior_allocation::Placement;
use pavior_kernel::Time;
use pavior_mesh::{Grid, Occupancy};

/// A stretch of time, its end excluded. One that ends at [`Time::MAX`] never ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Interval {
    pub(super) from: Time,
    pub(super) to: Time,
}

impl Interval {
    /// A stretch of a job's estimated length. It has at least a tick: a job said to take no time
    /// still holds its nodes for an instant.
    pub(super) fn new(from: Time, estimate: Time) -> Interval {
        Interval { from, to: from.saturating_add(estimate.max(Time(1))) }
    }

    /// Returns true if two stretches have an instant in common.
    pub(super) fn overlaps(self, other: Interval) -> bool {
        self.from < other.to && other.from < self.to
    }
}

/// What a job takes: nodes, or a number of them.
pub(super) trait Held: Clone + Send + Sync {
    /// How many nodes.
    fn nodes(&self) -> u64;

    /// Which nodes, if they are chosen.
    fn placement(&self) -> Option<Placement>;
}

/// All nodes but those of a placement, to find the slots that have one of these.
pub(super) struct OtherNodes(Occupancy);

impl OtherNodes {
    /// O(N) for N nodes of the placement.
    pub(super) fn than(held: &Placement, grid: &Grid) -> OtherNodes {
        let mut others = Occupancy::all_free(*grid);
        for node in held.parts().iter().flat_map(|part| part.nodes(grid)) {
            others.take_node(node);
        }
        OtherNodes(others)
    }

    /// Returns true if a slot has none but these. O(rows of its parts).
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

/// What a job takes for a stretch of time.
#[derive(Clone)]
pub(super) struct Slot<H> {
    pub(super) interval: Interval,
    pub(super) held: H,
}

/// What a job needs: so many nodes for so long.
#[derive(Clone, Copy)]
pub(super) struct Need {
    pub(super) nodes: u64,
    pub(super) estimate: Time,
}
