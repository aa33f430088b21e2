//! The coverages of all busy boxes for one shape, cut at the ends of wrapping axes.

use pavior_mesh::{Cuboid, Grid, Sides};

use super::coverage::{AxisRange, covered};
use crate::Work;

/// A box of bases, one span an axis, none of which wraps.
pub(in crate::strategies) type Piece = [AxisRange; 3];

/// The coverages of a busy list for a shape: scratch memory that is filled once an orientation.
#[derive(Clone, Debug, Default)]
pub(in crate::strategies) struct CoverageList {
    pieces: Vec<Piece>,
    tested: u64,
}

impl CoverageList {
    /// Computes the coverages of all boxes, in their order: O(B) for B boxes, at most eight pieces
    /// each. The shape must fit the grid.
    pub(in crate::strategies) fn load(&mut self, grid: &Grid, busy: &[Cuboid], shape: Sides) {
        self.pieces.clear();
        self.tested += busy.len() as u64;
        for held in busy {
            let [xs, ys, zs] = std::array::from_fn(|axis| covered(grid, axis, held, shape[axis]));
            for z in zs.into_iter().flatten() {
                for y in ys.into_iter().flatten() {
                    self.pieces.extend(xs.into_iter().flatten().map(|x| [x, y, z]));
                }
            }
        }
    }

    /// The pieces; every base in one of them is covered, every other canonical base is free.
    pub(in crate::strategies) fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// Brings the pieces into ascending order of their first column.
    pub(in crate::strategies) fn sort_by_column(&mut self) {
        self.pieces.sort_unstable_by_key(|piece| piece[0].low);
        let pieces = self.pieces.len() as u64;
        self.tested += pieces * u64::from(pieces.checked_ilog2().unwrap_or(0));
    }

    /// The boxes whose coverages were computed, and n log n for each sort.
    pub(in crate::strategies) fn work(&self) -> Work {
        Work::of_boxes(self.tested)
    }
}
