//! Grows a closed region: each node is added to the set together with all nodes that it cuts off.
//!
//! ```text
//!   # . . #      the corner c is connected only through d: taking d also takes c,
//!   # d # #      so that no node is cut off
//!   # c # #
//! ```
//!
//! Invariant: the component's remaining nodes are connected unless a deferred neighbor was taken.
//!
//! Cost: O(1) per neighbor compared, [`HopSums::add`] per node, and one flood fill per neighbor.

use super::component::ComponentGraph;
use super::flood_fill::FloodFill;
use super::frontier::Frontier;
use super::hop_sums::HopSums;

/// The mark of a node that is not in the set and has never been adjacent to it.
const REST: u8 = 0;
/// The mark of a node in the set.
const TAKEN: u8 = 1;
/// The mark of a node that is not in the set but has been adjacent to it.
const MET: u8 = 2;

/// State for growing one region after another, including scratch buffers.
#[derive(Clone, Default)]
pub(super) struct ClosedRegion {
    marks: Vec<u8>,
    /// The set's neighbors that may be taken.
    frontier: Frontier,
    /// The deferred neighbors, each with the number of nodes that taking it would cut off.
    passed: Vec<(usize, u32)>,
    /// The nodes in the set.
    nodes: Vec<u32>,
}

impl ClosedRegion {
    /// Grows a set of `wanted` nodes in the component that contains `seed`. Returns the set's nodes
    /// in no particular order, and leaves the set in `hop_sums`. Returns `None` once the set's sum
    /// of hops exceeds `most`.
    ///
    /// The next node is the neighbor nearest to all nodes in the set. It is taken together with all
    /// nodes that it cuts off from the largest remaining part. If there are too many of these, the
    /// neighbor is deferred. A deferred neighbor need not be tested again: whenever nodes that it
    /// cuts off are taken, the number of missing nodes decreases by the same amount. If no other
    /// neighbor remains, the deferred neighbor that cuts off the fewest nodes is taken, together
    /// with as many of those nodes as are still needed.
    pub(super) fn grow(
        &mut self,
        component: &ComponentGraph,
        (hop_sums, floods): (&mut HopSums, &mut FloodFill),
        (seed, wanted): (u32, usize),
        most: u64,
    ) -> Option<&[u32]> {
        self.marks.clear();
        self.marks.resize(component.count(), REST);
        self.frontier.clear();
        self.marks[seed as usize] = MET;
        self.nodes.clear();
        hop_sums.clear();
        self.frontier.add(hop_sums, seed, component.point(seed));
        self.passed.clear();
        let mut over = false;
        while self.nodes.len() < wanted && !over {
            let missing = wanted - self.nodes.len() - 1;
            let nearest = self.nearest(hop_sums);
            let (node, room) =
                nearest.map_or_else(|| (self.least_passed(), 0), |node| (node, missing));
            let marks = &self.marks;
            let is_rest = |other: u32| marks[other as usize] != TAKEN;
            let behind = floods.behind(component, node, room, is_rest);
            if nearest.is_some() && behind.len() > missing {
                self.passed.push((behind.len(), node));
            } else {
                self.take(component, hop_sums, node);
                behind.iter().take(missing).for_each(|&node| self.take(component, hop_sums, node));
            }
            over = hop_sums.total() > most;
        }
        (!over).then_some(&self.nodes[..])
    }

    /// Removes and returns the nearest frontier node. Ties go to the first in row-major order.
    fn nearest(&mut self, hop_sums: &HopSums) -> Option<u32> {
        let is_rest = |node: u32| self.marks[node as usize] != TAKEN;
        self.frontier.take_nearest(hop_sums, is_rest, |node| node)
    }

    /// Returns the deferred neighbor that cuts off the fewest nodes. The set must have neighbors,
    /// and all of them must be deferred.
    fn least_passed(&self) -> u32 {
        let in_rest = |(_, node): &&(usize, u32)| self.marks[*node as usize] != TAKEN;
        let least = self.passed.iter().filter(in_rest).min();
        least.expect("a part of a connected component has neighbors").1
    }

    fn take(&mut self, component: &ComponentGraph, hop_sums: &mut HopSums, node: u32) {
        self.marks[node as usize] = TAKEN;
        hop_sums.add(component.point(node));
        self.nodes.push(node);
        for &beside in component.beside(node) {
            if self.marks[beside as usize] == REST {
                self.marks[beside as usize] = MET;
                self.frontier.add(hop_sums, beside, component.point(beside));
            }
        }
    }

    /// Returns the number of neighbors visited.
    pub(super) fn looked(&self) -> u64 {
        self.frontier.looked()
    }
}
