//! Quick Allocation: for each row, store only the length of the covered prefix, and pick the first
//! row that has a gap after it.
//!
//! The strategy finds a free placement whenever one exists. For each row of bases, the `covered`
//! array contains the length of the prefix that coverages fill without a gap. Coverages are entered
//! in ascending order of their first columns, so if one begins after the prefix, it leaves a gap
//! that no later coverage can close. The result is the base that row-major First Fit finds for the
//! same orientation.
//!
//! ```text
//!   coverages of a row   c c c . . c .      covered = 3: base 3
//!   order entered         1 1 2     3       (a coverage that begins after `covered` is ignored)
//! ```
//!
//! The `search` option never changes the answer. The engine is First Fit's; `plain` is the search
//! described in the literature.
//!
//! Cost of `plain`: O(B log B + H B) for B busy boxes and H rows of bases (D H in 3D). The search
//! stores one number per row instead of one per node. A release takes O(B) to search the list.
//!
//! Source: Yoo, Youn & Shirazi, "An efficient task allocation scheme for 2D mesh architectures",
//! IEEE TPDS 8(9), 1997, known only from its abstract and the MFA paper. Departures: the MFA paper
//! calls `last_covered` "the last busy node on that row", but this would skip gaps before that
//! node. Here, `last_covered` is the end of the covered prefix. Sorting is necessary for
//! correctness, although no summary says so: without it, the scan returns covered bases. Support
//! for 3D meshes and tori is our addition.

use pavior_kernel::Options;
use pavior_mesh::{Coordinates, Cuboid, Grid, Scan, Sides};

use super::ff;
use crate::Work;
use crate::contiguous::{BoxRule, Contiguous, Scored, View, first_base};
use crate::kind::{BoxedStrategy, Entry, StrategyKind};
use crate::strategies::shared::base_search::{ENGINE, is_plain};
use crate::strategies::shared::coverage::{CoverageList, Piece};
use crate::strategies::shared::turning::TURN_ON;

pub(crate) static ENTRY: Entry = Entry {
    name: "qa",
    title: "Quick Allocation",
    source: "Yoo, Youn & Shirazi 1997",
    options: &[TURN_ON, ENGINE],
    variants: &["", "plain", "turn=none"],
    does: StrategyKind::contiguous(build).with_claim(first_base),
};

fn build(grid: &Grid, options: &Options) -> BoxedStrategy {
    if !is_plain(options) {
        return ff::first_fit(grid, options, Scan::default());
    }
    Contiguous::new(grid, options, QuickAllocation::default()).boxed()
}

#[derive(Clone, Default)]
struct QuickAllocation {
    coverages: CoverageList,
    /// The length of each row's covered prefix.
    covered: Vec<u16>,
    /// The number of coverages entered, and the number of rows that they span.
    work: Work,
}

impl QuickAllocation {
    fn first(&mut self, grid: &Grid, shape: Sides) -> Option<Cuboid> {
        self.coverages.sort_by_column();
        let rows =
            |[_, y, z]: &Piece| (u64::from(y.high - y.low) + 1) * (u64::from(z.high - z.low) + 1);
        self.work.boxes += self.coverages.pieces().len() as u64;
        self.work.words += self.coverages.pieces().iter().map(rows).sum::<u64>();
        let starts = std::array::from_fn(|axis| grid.starts(axis, shape[axis]));
        let base = first_gap(self.coverages.pieces(), &mut self.covered, starts);
        self.work.words += self.covered.len() as u64;
        let base = base?;
        Some(Cuboid::new(base, shape))
    }
}

/// Finds the first base that is in no coverage. The coverages must be sorted by ascending first
/// column.
fn first_gap(coverages: &[Piece], covered: &mut Vec<u16>, starts: Sides) -> Option<Coordinates> {
    let [columns, rows, planes] = starts;
    covered.clear();
    covered.resize(usize::from(rows) * usize::from(planes), 0);
    for [x, y, z] in coverages {
        for plane in z.low..=z.high {
            let row = usize::from(plane) * usize::from(rows);
            for prefix in &mut covered[row + usize::from(y.low)..=row + usize::from(y.high)] {
                if x.low <= *prefix {
                    *prefix = (*prefix).max(x.high + 1);
                }
            }
        }
    }
    let row = covered.iter().position(|&prefix| prefix < columns)?;
    let (y, z) = (row % usize::from(rows), row / usize::from(rows));
    Some([covered[row], y as u16, z as u16])
}

impl BoxRule for QuickAllocation {
    fn best(&mut self, view: &mut View<'_>, shape: Sides) -> Option<Scored> {
        self.coverages.load(view.grid(), view.busy(), shape);
        self.first(view.grid(), shape).map(Scored::from)
    }

    fn work(&self) -> Work {
        self.work + self.coverages.work()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A row of four nodes has two busy nodes, listed right to left. The right one is skipped
    /// because of the gap before it. The left one then fills that gap, so base 1 is returned
    /// although it is covered.
    #[test]
    fn unsorted_coverages_offer_a_covered_base() {
        let grid = Grid::mesh(&[4, 1]).unwrap();
        let busy = [Cuboid::node([1, 0, 0]), Cuboid::node([0, 0, 0])];
        let (mut coverages, mut covered) = (CoverageList::default(), Vec::new());
        coverages.load(&grid, &busy, [1; 3]);
        assert_eq!(first_gap(coverages.pieces(), &mut covered, [4, 1, 1]), Some([1, 0, 0]));
        coverages.sort_by_column();
        assert_eq!(first_gap(coverages.pieces(), &mut covered, [4, 1, 1]), Some([2, 0, 0]));
    }
}
