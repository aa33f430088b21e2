//! Branch and bound over the connected sets in a component of at most 128 nodes. It finds the set
//! that cuts off the fewest nodes.
//!
//! A set is represented by 128 bits. Each step either adds a neighbor to the set or excludes that
//! neighbor. The search abandons a branch if the set cannot reach the wanted size, or if the set
//! cuts off at least as many nodes as the best set so far.
//!
//! ```text
//!   set o, excluded x:      o o x .        next: the free neighbor with the most neighbors o
//!                           o . . .        bound: nodes cut off by any set with o and no x
//! ```
//!
//! Invariant: without a step limit, no set cuts off fewer nodes than the one returned.
//!
//! Cost: O(128) per step, and at most [`STEPS`] steps per query.

use std::cmp::Reverse;

use super::component::ComponentGraph;
use crate::strategies::shared::bit_set::ones;

/// The maximum number of nodes in a component. A set of nodes is stored in a single word.
const NODES: usize = 128;
/// The maximum number of steps per query.
pub(super) const STEPS: u64 = 1 << 14;

#[derive(Clone, Default)]
pub(super) struct BranchAndBound {
    /// All nodes in the component.
    all: u128,
    /// The neighbors of each node.
    beside: Vec<u128>,
    /// The size of the set to find.
    wanted: u32,
    /// The best set so far, or 0 if none was found.
    found: u128,
    /// The exclusive upper bound on the number of nodes that a better set may cut off.
    below: u32,
    /// The remaining number of steps for the current start.
    steps_left: u64,
    /// The total number of steps in all queries.
    looked: u64,
}

impl BranchAndBound {
    /// Finds the connected set of `wanted` nodes that cuts off the fewest nodes. Ties go to the
    /// first one found. Returns the set's nodes in row-major order, or `None` if every set cuts off
    /// at least `below` nodes or the component has more than 128 nodes.
    ///
    /// Counts down `steps`. If no steps are left, returns the best set found so far.
    pub(super) fn least_cut(
        &mut self,
        component: &ComponentGraph,
        wanted: u32,
        below: u32,
        steps: &mut u64,
    ) -> Option<Vec<u32>> {
        if component.count() > NODES {
            return None;
        }
        self.all = u128::MAX >> (NODES - component.count());
        let set = |node| component.beside(node).iter().fold(0, |set, &other| set | 1 << other);
        self.beside.clear();
        self.beside.extend((0..component.count() as u32).map(set));
        (self.wanted, self.below, self.found) = (wanted, below, 0);
        let (before, mut out) = (*steps, 0);
        // First try nodes with few neighbors, such as those at ends and corners. Every start gets
        // an equal share of the steps.
        let with =
            |links| bits(self.all).filter(move |&seed| component.beside(seed).len() == links);
        let seeds: Vec<u32> = (0..=6).flat_map(with).collect();
        for (index, seed) in seeds.iter().enumerate() {
            let share = steps.div_ceil((seeds.len() - index) as u64);
            self.steps_left = share;
            self.descend(1 << seed, out);
            *steps -= share - self.steps_left;
            out |= 1 << seed;
        }
        self.looked += before - *steps;
        (self.found != 0).then(|| bits(self.found).collect())
    }

    /// Tries all connected sets that contain every node in `set` and no node in `out`.
    fn descend(&mut self, set: u128, out: u128) {
        if self.steps_left == 0 {
            return;
        }
        self.steps_left -= 1;
        let cut = self.least_cut_with(set, out);
        if cut >= self.below || self.reach(set, self.all & !out).count_ones() < self.wanted {
            return;
        }
        if set.count_ones() == self.wanted {
            (self.found, self.below) = (set, cut);
            return;
        }
        let inside = |node: u32| (self.beside[node as usize] & set).count_ones();
        let next = bits(self.around(set) & !set & !out);
        if let Some(node) = next.max_by_key(|&node| (inside(node), Reverse(node))) {
            self.descend(set | 1 << node, out);
            self.descend(set, out | 1 << node);
        }
    }

    /// Returns a lower bound on the number of nodes cut off by a set that contains every node in
    /// `set` and none in `out`. The bound is exact when `set` is complete.
    ///
    /// Removing `set` splits the component into parts, one of which contains the largest remainder.
    /// For each candidate part, the cut is at least the number of nodes in `out` outside that part,
    /// and at least the number of remaining nodes that do not fit in it. The result is the minimum
    /// over all parts.
    fn least_cut_with(&self, set: u128, out: u128) -> u32 {
        let rests = self.all.count_ones() - self.wanted;
        let (mut left, mut least) = (self.all & !set, rests);
        while left != 0 {
            let part = self.reach(left & left.wrapping_neg(), left);
            left &= !part;
            let missing = rests.saturating_sub(part.count_ones());
            least = least.min(missing.max((out & !part).count_ones()));
        }
        least
    }

    /// Returns the neighbors of a set's nodes.
    fn around(&self, set: u128) -> u128 {
        bits(set).fold(0, |all, node| all | self.beside[node as usize])
    }

    /// Returns the nodes reachable from one set through the nodes in another.
    fn reach(&self, from: u128, through: u128) -> u128 {
        let (mut reached, mut fresh) = (from, from);
        while fresh != 0 {
            fresh = self.around(fresh) & through & !reached;
            reached |= fresh;
        }
        reached
    }

    /// Returns the number of steps.
    pub(super) fn looked(&self) -> u64 {
        self.looked
    }
}

/// Returns the set bits in ascending order.
fn bits(set: u128) -> impl Iterator<Item = u32> {
    ones(set as u64).chain(ones((set >> 64) as u64).map(|bit| bit + 64))
}
