//! Growth of a closed region: a set that takes with each node all that the node would cut off.
//!
//! ```text
//!   # . . #      the corner c hangs on by d: when d is taken, c is taken with it,
//!   # d # #      so that nothing is left behind the set
//!   # c # #
//! ```
//!
//! Invariant: what is left of the component is connected, unless a neighbour that was passed over
//! had to be taken.
//!
//! Cost: O(1) a neighbour compared, [`HopSums::add`] a node, and a flood fill a neighbour.

use super::component::ComponentGraph;
use super::flood_fill::FloodFill;
use super::frontier::Frontier;
use super::hop_sums::HopSums;

/// The mark of a node outside the set that has not been beside it.
const REST: u8 = 0;
/// The mark of a node of the set.
const TAKEN: u8 = 1;
/// The mark of a node outside the set that has been beside it.
const MET: u8 = 2;

/// The growth of one region after another, with its scratch memory.
#[derive(Clone, Default)]
pub(super) struct ClosedRegion {
    /// By node: its mark.
    marks: Vec<u8>,
    /// The neighbours of the set that may be taken.
    frontier: Frontier,
    /// Neighbours that were passed over: the number of nodes that each would cut off, and the node.
    passed: Vec<(usize, u32)>,
    /// The nodes of the set.
    nodes: Vec<u32>,
}

impl ClosedRegion {
    /// A set of `wanted` nodes of the component that holds `seed`, in no order. `hop_sums` then
    /// holds the set. `None` as soon as the set has a sum of hops above `most`.
    ///
    /// The next node is the neighbour nearest to all nodes of the set. It is taken with all nodes
    /// that it cuts off from the largest rest. If these are more than are missing, the neighbour is
    /// passed over for good: when some of them are taken later, as many fewer are missing. If no
    /// other neighbour is left, the one is taken that cuts the fewest off, with as many of these as
    /// are missing.
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

    /// Takes the nearest node out of the frontier, of equals the first in row-major order.
    fn nearest(&mut self, hop_sums: &HopSums) -> Option<u32> {
        let is_rest = |node: u32| self.marks[node as usize] != TAKEN;
        self.frontier.take_nearest(hop_sums, is_rest, |node| node)
    }

    /// The neighbour passed over that cuts the fewest nodes off. There is one: nothing else is
    /// beside the set.
    fn least_passed(&self) -> u32 {
        let in_rest = |(_, node): &&(usize, u32)| self.marks[*node as usize] != TAKEN;
        let least = self.passed.iter().filter(in_rest).min();
        least.expect("a connected component has neighbours of a part of it").1
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

    /// Neighbours that were looked at.
    pub(super) fn looked(&self) -> u64 {
        self.frontier.looked()
    }
}
