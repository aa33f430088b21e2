//! Growing a set together with what it would cut off: `connected`.

use pavior_mesh::Grid;

use super::component::Region;
use super::cut_off::Floods;
use super::frontier::Fringe;
use super::hop_bound::SpreadBound;
use super::hop_sums::Spread;

/// The mark of a node of the rest that is not beside the set.
const REST: u8 = 0;
/// The mark of a node of the set.
const TAKEN: u8 = 1;
/// The mark of a node of the rest that was beside the set.
const MET: u8 = 2;

/// Scratch memory.
#[derive(Clone, Default)]
pub(super) struct ClosedGrowth {
    /// By number of the region: its mark.
    marks: Vec<u8>,
    /// The neighbours of the set that may be taken.
    fringe: Fringe,
    /// Neighbours that were passed over, with how many each would have cut off.
    passed: Vec<(usize, u32)>,
    nodes: Vec<u32>,
    bound: SpreadBound,
}

impl ClosedGrowth {
    /// A set of so many nodes of the region that holds this one, in no order; its spread is left in
    /// `spread`. Taken is always the neighbour nearest to all nodes of the set, with all that it
    /// cuts off from the largest rest; not one with which these are too many, which they then are
    /// for good: what is taken of them later is taken off both sides. If there is no other, the one
    /// that cuts the fewest off, and of these as many as are missing. None as soon as it is seen
    /// that its sum of hops will be above `most`. O(1) a neighbour that is compared,
    /// [`Spread::add`] a node, a flood for each neighbour, and the cost of
    /// [`SpreadBound::is_passed`].
    pub(super) fn grow(
        &mut self,
        grid: &Grid,
        region: &Region,
        (spread, floods): (&mut Spread, &mut Floods),
        (seed, wanted): (u32, usize),
        most: u64,
    ) -> Option<&[u32]> {
        self.marks.clear();
        self.marks.resize(region.count(), REST);
        self.fringe.clear();
        self.marks[seed as usize] = MET;
        self.nodes.clear();
        spread.clear();
        self.fringe.add(spread, seed, region.point(seed));
        self.passed.clear();
        self.bound.begin(most, region, wanted);
        let mut over = false;
        while self.nodes.len() < wanted && !over {
            let missing = wanted - self.nodes.len() - 1;
            let nearest = self.nearest(spread);
            let (node, room) =
                nearest.map_or_else(|| (self.least_passed(), 0), |node| (node, missing));
            let marks = &self.marks;
            let is_rest = |other: u32| marks[other as usize] != TAKEN;
            let behind = floods.behind(region, node, room, is_rest);
            if nearest.is_some() && behind.len() > missing {
                self.passed.push((behind.len(), node));
            } else {
                self.take(region, spread, node);
                behind.iter().take(missing).for_each(|&node| self.take(region, spread, node));
            }
            let is_taken = |node: u32| self.marks[node as usize] == TAKEN;
            over = self.bound.is_passed(grid, region, spread, is_taken);
        }
        (!over).then_some(&self.nodes[..])
    }

    /// Takes the nearest node out of the fringe; of equals the first in row-major order.
    fn nearest(&mut self, spread: &Spread) -> Option<u32> {
        let is_rest = |node: u32| self.marks[node as usize] != TAKEN;
        self.fringe.take_nearest(spread, is_rest, |node| node)
    }

    /// The neighbour of those passed over that cut the fewest off: where there is nothing else
    /// beside the set, one of them is in the rest.
    fn least_passed(&self) -> u32 {
        let in_rest = |(_, node): &&(usize, u32)| self.marks[*node as usize] != TAKEN;
        let least = self.passed.iter().filter(in_rest).min();
        least.expect("a connected region has neighbours of a part of it").1
    }

    fn take(&mut self, region: &Region, spread: &mut Spread, node: u32) {
        self.marks[node as usize] = TAKEN;
        spread.add(region.point(node));
        self.nodes.push(node);
        for &beside in region.beside(node) {
            if self.marks[beside as usize] == REST {
                self.marks[beside as usize] = MET;
                self.fringe.add(spread, beside, region.point(beside));
            }
        }
    }

    /// Neighbours and nodes of the region that were looked at.
    pub(super) fn looked(&self) -> u64 {
        self.fringe.looked() + self.bound.looked()
    }
}
