//! Whether a set that grows can still become compact enough: `connected`.

use pavior_mesh::Grid;

use super::component::Region;
use super::hop_sums::{Spread, least_distance};

/// No bound is computed in regions of more nodes than so many times those asked for.
const ROOMY: usize = 4;
/// None is for fewer nodes either.
const FEW: usize = 8;

/// A bound to the sum of hops of a set of so many nodes: it is looked at when a half and three
/// quarters of them are taken.
#[derive(Clone, Default)]
pub(super) struct SpreadBound {
    most: u64,
    wanted: usize,
    /// How many nodes there are when it is looked at next; none if it is not.
    next: Option<usize>,
    /// Sums of hops from the nodes that are left; scratch memory.
    sums: Vec<u64>,
    looked: u64,
}

impl SpreadBound {
    /// Begins with sets of so many nodes of the region with a sum of hops of at most so many.
    pub(super) fn begin(&mut self, most: u64, region: &Region, wanted: usize) {
        let pays = most < u64::MAX && region.count() <= ROOMY * wanted && wanted >= FEW;
        (self.most, self.wanted, self.next) = (most, wanted, pays.then_some(wanted / 2));
    }

    /// Whether all sets of the region with so many nodes that hold this one have more hops. O(1),
    /// and twice in all O(nodes of the region), if it has few more nodes.
    pub(super) fn is_passed(
        &mut self,
        grid: &Grid,
        region: &Region,
        spread: &Spread,
        is_taken: impl Fn(u32) -> bool,
    ) -> bool {
        let count = spread.nodes() as usize;
        if spread.total() > self.most {
            return true;
        }
        if self.next.is_none_or(|next| count < next) || count >= self.wanted {
            return false;
        }
        let later = self.wanted * 3 / 4;
        self.next = (count < later).then_some(later);
        self.least(grid, region, spread, is_taken) > self.most
    }

    /// The nodes that are missing are at least as far from the set as the nearest ones, and from
    /// each other as the nodes of a ball.
    fn least(
        &mut self,
        grid: &Grid,
        region: &Region,
        spread: &Spread,
        is_taken: impl Fn(u32) -> bool,
    ) -> u64 {
        let missing = self.wanted - spread.nodes() as usize;
        self.looked += region.count() as u64;
        self.sums.clear();
        for node in 0..region.count() as u32 {
            if !is_taken(node) {
                self.sums.push(spread.of_any(region.point(node)));
            }
        }
        self.sums.select_nth_unstable(missing - 1);
        let apart = least_distance(grid, missing as u64);
        spread.total() + self.sums[..missing].iter().sum::<u64>() + apart
    }

    /// Nodes of the region that were looked at.
    pub(super) fn looked(&self) -> u64 {
        self.looked
    }
}
