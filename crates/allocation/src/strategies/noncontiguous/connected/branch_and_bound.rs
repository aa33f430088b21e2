//! Trying the connected sets of a small region one by one: `connected`.

use std::cmp::Reverse;

use super::component::Region;
use crate::strategies::shared::bit_set::ones;

/// The most nodes of a region.
const NODES: usize = 128;
/// The most sets, on the way to larger ones too, that are looked at for one question.
pub(super) const STEPS: u64 = 1 << 14;

/// Looks for the set that cuts the fewest nodes off, by branch and bound. Sets of nodes are bits of
/// a word. Scratch memory.
#[derive(Clone, Default)]
pub(super) struct Trial {
    all: u128,
    /// By node: its neighbours.
    beside: Vec<u128>,
    /// How many nodes the set has to have.
    wanted: u32,
    /// The set found that cuts the fewest off, and how many; below this another has to be.
    found: u128,
    below: u32,
    /// How many steps are left.
    left: u64,
    looked: u64,
}

impl Trial {
    /// The connected set of so many nodes, in row-major order, that cuts the fewest off, if these
    /// are fewer than `below` and the region has at most 128 nodes. Of equals the first that is
    /// met. Where so many steps do not suffice, the best of those met; those made are taken off.
    /// O(128) a step.
    pub(super) fn least_cut(
        &mut self,
        region: &Region,
        wanted: u32,
        below: u32,
        steps: &mut u64,
    ) -> Option<Vec<u32>> {
        if region.count() > NODES {
            return None;
        }
        self.all = u128::MAX >> (NODES - region.count());
        let set = |node| region.beside(node).iter().fold(0, |set, &other| set | 1 << other);
        self.beside.clear();
        self.beside.extend((0..region.count() as u32).map(set));
        (self.wanted, self.below, self.found) = (wanted, below, 0);
        let (before, mut out) = (*steps, 0);
        // Sets from ends and corners first, each start with its share of the steps.
        let mut seeds: Vec<u32> = bits(self.all).collect();
        seeds.sort_by_key(|&seed| region.beside(seed).len());
        for (index, seed) in seeds.iter().enumerate() {
            let share = steps.div_ceil((seeds.len() - index) as u64);
            self.left = share;
            self.descend(1 << seed, out);
            *steps -= share - self.left;
            out |= 1 << seed;
        }
        self.looked += before - *steps;
        (self.found != 0).then(|| bits(self.found).collect())
    }

    /// Goes over the sets that have the nodes of this connected set and none of those.
    fn descend(&mut self, set: u128, out: u128) {
        if self.left == 0 {
            return;
        }
        self.left -= 1;
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

    /// A bound to what a set with these nodes and without those cuts off, exact for a whole set.
    /// The largest rest will lie in one of the parts there are without the set: what is out of it
    /// elsewhere is cut off, and where the part is smaller than all rests together, what is
    /// missing.
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

    /// The neighbours of these nodes.
    fn around(&self, set: u128) -> u128 {
        bits(set).fold(0, |all, node| all | self.beside[node as usize])
    }

    /// What can be reached from these nodes through those.
    fn reach(&self, from: u128, through: u128) -> u128 {
        let (mut reached, mut fresh) = (from, from);
        while fresh != 0 {
            fresh = self.around(fresh) & through & !reached;
            reached |= fresh;
        }
        reached
    }

    /// Steps.
    pub(super) fn looked(&self) -> u64 {
        self.looked
    }
}

/// The bits that are set, ascending.
fn bits(set: u128) -> impl Iterator<Item = u32> {
    ones(set as u64).chain(ones((set >> 64) as u64).map(|bit| bit + 64))
}
