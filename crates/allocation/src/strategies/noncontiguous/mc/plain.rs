//! MC's plain search. It goes center by center and shell by shell, using a table of prefix sums.
//! Then it selects the nodes in the shells from among all free nodes.
//!
//! Invariant: a center that is dropped costs at least as much as the best one so far.
//!
//! Cost: O(N) for the sums, O(1) per shell and center, and O(F r) in total for F free centers and r
//! shells.

use pavior_mesh::{Grid, Occupancy, Sides};

use super::shells::{Core, Offer};
use crate::strategies::shared::prefix_sums::PrefixSums;
use crate::strategies::shared::runs::runs;
use crate::{Placement, Work};

#[derive(Clone)]
pub(super) struct PlainSearch {
    grid: Grid,
    /// The prefix sums. Created when first needed.
    sums: Option<PrefixSums>,
    /// The number of shells counted, plus the number of nodes tested against shells.
    tested: u64,
}

impl PlainSearch {
    pub(super) fn new(grid: Grid) -> PlainSearch {
        PlainSearch { grid, sums: None, tested: 0 }
    }

    /// Finds the nodes that the cheapest center takes. Enough nodes must be free.
    pub(super) fn find(&mut self, free: &Occupancy, shape: Sides, nodes: u32) -> Option<Placement> {
        let (core, offer) = self.cheapest(free, shape, nodes, 0)?;
        Some(self.taken(free, &core, offer, nodes))
    }

    /// Finds the cheapest center. Ties go to the first one. No center costs less than `least`, so
    /// the first center with that cost ends the search.
    pub(super) fn cheapest(
        &mut self,
        free: &Occupancy,
        shape: Sides,
        nodes: u32,
        least: u64,
    ) -> Option<(Core, Offer)> {
        let grid = self.grid;
        let sums = self.sums.get_or_insert_with(|| PrefixSums::new(grid));
        sums.load(free);
        let mut best: Option<(Core, Offer)> = None;
        for node in free.iter() {
            let limit = best.as_ref().map_or(u64::MAX, |(_, offer)| offer.cost);
            if limit == least {
                break;
            }
            let core = Core::new(grid, grid.point(node), shape);
            if let Some(offer) = offer_below(limit, sums, &core, nodes, &mut self.tested) {
                best = Some((core, offer));
            }
        }
        best
    }

    /// Returns the nodes that a center takes: all free nodes in the shells before the last one, and
    /// the first few free nodes in the last shell.
    fn taken(&mut self, free: &Occupancy, core: &Core, offer: Offer, nodes: u32) -> Placement {
        let Offer { last, free_inside, .. } = offer;
        self.tested += u64::from(free.count());
        let mut left = nodes - free_inside;
        let taken = free.iter().filter(|&node| {
            let shell = core.shell(self.grid.point(node));
            let here = shell == last && left > 0;
            left -= u32::from(here);
            shell < last || here
        });
        runs(&self.grid, taken)
    }

    pub(super) fn work(&self) -> Work {
        let sums = self.sums.as_ref().map(PrefixSums::work).unwrap_or_default();
        Work::of_boxes(self.tested) + sums
    }
}

/// Returns a center's offer if it costs less than `limit`. Adds the number of shells counted to
/// `tested`.
fn offer_below(
    limit: u64,
    sums: &PrefixSums,
    core: &Core,
    nodes: u32,
    tested: &mut u64,
) -> Option<Offer> {
    let (mut cost, mut free_inside) = (0, 0);
    for last in 0.. {
        *tested += 1;
        let left = u64::from(nodes - free_inside);
        // Each remaining node costs at least this shell's number.
        if cost + left * u64::from(last) >= limit {
            return None;
        }
        let cuboid = core.grown(last);
        let free = cuboid.volume() - sums.busy_in(&cuboid);
        if free >= nodes {
            return Some(Offer { cost: cost + left * u64::from(last), last, free_inside });
        }
        cost += u64::from(free - free_inside) * u64::from(last);
        free_inside = free;
    }
    unreachable!("enough nodes are free, so some shell has them")
}
