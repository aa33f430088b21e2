//! A busy box's coverage: the bases at which a shape would overlap the box.
//!
//! ```text
//!   side s = 3, busy x = 4..5:   . . c c C C . .     s overlaps the box from each base in 2..5
//! ```
//!
//! On one axis, the coverage of a busy interval of length `len` at `start` consists of the bases
//! from `start - s + 1` to `start + len - 1`. If the axis does not wrap, this range is clipped to
//! the canonical bases, 0 to `n - s`. On a ring, it is taken modulo n and split at 0. A side that
//! closes the ring has only base 0, which every box covers.
//!
//! Cost: O(1) per box and axis.

use pavior_mesh::{Cuboid, Grid, Sides};

use crate::Work;

/// An inclusive interval of bases on one axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AxisRange {
    pub(crate) low: u16,
    pub(crate) high: u16,
}

impl AxisRange {
    pub(crate) const EMPTY: AxisRange = AxisRange { low: 1, high: 0 };

    pub(crate) fn contains(self, at: u16) -> bool {
        self.low <= at && at <= self.high
    }
}

/// Returns the canonical bases on one axis at which a placement with the given side would overlap a
/// box, as at most two spans. There are two only if the range crosses 0 on a ring.
pub(crate) fn covered(
    grid: &Grid,
    axis: usize,
    busy: &Cuboid,
    side: u16,
) -> [Option<AxisRange>; 2] {
    let (n, start, len) = (grid.side(axis), busy.base[axis], busy.sides[axis]);
    let starts = grid.starts(axis, side);
    if !grid.wraps(axis) || side == n {
        if grid.wraps(axis) {
            return [Some(AxisRange { low: 0, high: 0 }), None];
        }
        let (low, high) = ((start + 1).saturating_sub(side), (start + len - 1).min(starts - 1));
        return [(low <= high).then_some(AxisRange { low, high }), None];
    }
    let (n, reach) = (u32::from(n), u32::from(len) + u32::from(side) - 1);
    if reach >= n {
        return [Some(AxisRange { low: 0, high: (n - 1) as u16 }), None];
    }
    let back = u32::from(start) + 1;
    let low = if back < u32::from(side) { back + n } else { back } - u32::from(side);
    let high = low + reach - 1;
    let span = |low: u32, high: u32| Some(AxisRange { low: low as u16, high: high as u16 });
    if high < n { [span(low, high), None] } else { [span(low, n - 1), span(0, high - n)] }
}

/// A test for whether a busy box covers any of the given bases on one axis. It agrees with
/// [`covered`] but is optimized for testing many boxes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cover {
    axis: usize,
    low: u16,
    /// The number of nodes in the union of the placements at these bases, along this axis.
    reach: u32,
    /// The length of the ring, or a number greater than any axis if this axis does not wrap.
    ring: u32,
}

impl Cover {
    /// Creates the test for a nonempty range of canonical bases.
    pub(crate) fn new(grid: &Grid, axis: usize, side: u16, bases: AxisRange) -> Cover {
        let ring = if grid.wraps(axis) { u32::from(grid.side(axis)) } else { 1 << 16 };
        let reach = u32::from(bases.high - bases.low) + u32::from(side);
        Cover { axis, low: bases.low, reach, ring }
    }

    /// Returns true if a busy box covers any of the bases, either because the box begins inside a
    /// placement or because a placement begins inside the box.
    #[inline]
    pub(crate) fn is_by(&self, busy: &Cuboid) -> bool {
        let (start, length) = (u32::from(busy.base[self.axis]), u32::from(busy.sides[self.axis]));
        let low = u32::from(self.low);
        let ahead = if start < low { start + self.ring - low } else { start - low };
        ahead < self.reach || ahead + length > self.ring
    }
}

/// A box of bases, with one span per axis. No span wraps.
pub(crate) type Piece = [AxisRange; 3];

/// Scratch space for a busy list's coverages, filled once for each orientation of a shape.
#[derive(Clone, Debug, Default)]
pub(crate) struct CoverageList {
    pieces: Vec<Piece>,
    tested: u64,
}

impl CoverageList {
    /// Computes the coverages of all boxes, in order. Each coverage has at most eight pieces. The
    /// shape must fit the grid. Takes O(B) time for B boxes.
    pub(crate) fn load(&mut self, grid: &Grid, busy: &[Cuboid], shape: Sides) {
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

    /// Returns the pieces. A canonical base is covered if it is in any piece, and free otherwise.
    pub(crate) fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// Sorts the pieces by ascending first column.
    pub(crate) fn sort_by_column(&mut self) {
        self.pieces.sort_unstable_by_key(|piece| piece[0].low);
        let pieces = self.pieces.len() as u64;
        self.tested += pieces * u64::from(pieces.checked_ilog2().unwrap_or(0));
    }

    /// Returns the number of boxes whose coverages were computed, plus n log n for each sort.
    pub(crate) fn work(&self) -> Work {
        Work::of_boxes(self.tested)
    }
}
