//! A lower bound to the sum of hops of a set that grows: when is it too high already?
//!
//! The missing nodes are at least as far from the set as the nearest free ones. They are at least
//! as far from each other as the nodes of a ball.
//!
//! Invariant: the bound never exceeds the sum of hops of any set that the growth can reach.
//!
//! Cost: O(nodes of the component), twice a growth: at a half and at three quarters of the nodes.
//! O(1) at all other steps.

use pavior_mesh::Grid;

use super::component::ComponentGraph;
use super::hop_sums::{HopSums, least_hops};

/// No bound is computed in components with more nodes than this many times those asked for.
const ROOMY: usize = 4;
/// No bound is computed for sets of fewer nodes.
const FEW: usize = 8;

/// The bound of one growth.
#[derive(Clone, Default)]
pub(super) struct HopBound {
    /// The sum of hops that the set may have.
    most: u64,
    /// How many nodes it will have.
    wanted: usize,
    /// The size of the set at which it is computed next; `None` if it is not.
    next: Option<usize>,
    /// Scratch: sums of hops from the nodes that are not taken.
    sums: Vec<u64>,
    looked: u64,
}

impl HopBound {
    /// Begins a growth to `wanted` nodes of the component, with at most `most` hops.
    pub(super) fn begin(&mut self, most: u64, component: &ComponentGraph, wanted: usize) {
        let pays = most < u64::MAX && component.count() <= ROOMY * wanted && wanted >= FEW;
        (self.most, self.wanted, self.next) = (most, wanted, pays.then_some(wanted / 2));
    }

    /// Whether every set that this one can grow to has too many hops.
    pub(super) fn is_passed(
        &mut self,
        grid: &Grid,
        component: &ComponentGraph,
        hop_sums: &HopSums,
        is_taken: impl Fn(u32) -> bool,
    ) -> bool {
        let count = hop_sums.nodes() as usize;
        if hop_sums.total() > self.most {
            return true;
        }
        if self.next.is_none_or(|next| count < next) || count >= self.wanted {
            return false;
        }
        let later = self.wanted * 3 / 4;
        self.next = (count < later).then_some(later);
        self.least(grid, component, hop_sums, is_taken) > self.most
    }

    /// The bound.
    fn least(
        &mut self,
        grid: &Grid,
        component: &ComponentGraph,
        hop_sums: &HopSums,
        is_taken: impl Fn(u32) -> bool,
    ) -> u64 {
        let missing = self.wanted - hop_sums.nodes() as usize;
        self.looked += component.count() as u64;
        self.sums.clear();
        for node in 0..component.count() as u32 {
            if !is_taken(node) {
                self.sums.push(hop_sums.of_any(component.point(node)));
            }
        }
        self.sums.select_nth_unstable(missing - 1);
        let apart = least_hops(grid, missing as u64);
        hop_sums.total() + self.sums[..missing].iter().sum::<u64>() + apart
    }

    /// Nodes of the component that were looked at.
    pub(super) fn looked(&self) -> u64 {
        self.looked
    }
}
