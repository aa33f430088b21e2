//! Coverage: the bases at which a shape would hit an allocated box.
//!
//! Along one axis, a busy interval of length `len` at `start` is hit by a side `s` that begins
//! anywhere in `start - s + 1 ..= start + len - 1`. On an axis that does not wrap this is clipped
//! to the canonical bases `0 ..= n - s` (the rest is the reject set); on a ring it is taken modulo
//! n and split at 0; a side that closes the ring has the one base 0, which everything covers.

use pavior_mesh::{Cuboid, Grid};

/// A closed interval of bases on one axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::strategies) struct AxisRange {
    pub(in crate::strategies) low: u16,
    pub(in crate::strategies) high: u16,
}

impl AxisRange {
    /// No base.
    pub(in crate::strategies) const EMPTY: AxisRange = AxisRange { low: 1, high: 0 };

    pub(in crate::strategies) fn contains(self, at: u16) -> bool {
        self.low <= at && at <= self.high
    }
}

/// The covered canonical bases of a side on one axis, as up to two spans; the second only where a
/// ring is passed at 0.
pub(in crate::strategies) fn covered(
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

/// What covers any of some canonical bases of a side on one axis: [`covered`], asked of many boxes.
#[derive(Clone, Copy, Debug)]
pub(in crate::strategies) struct Cover {
    axis: usize,
    low: u16,
    /// The nodes of the placements at all of the bases.
    reach: u32,
    /// The length of the ring; more than any axis where none wraps.
    ring: u32,
}

impl Cover {
    /// Of the bases of a range, which is not empty.
    pub(in crate::strategies) fn new(
        grid: &Grid,
        axis: usize,
        side: u16,
        bases: AxisRange,
    ) -> Cover {
        let ring = if grid.wraps(axis) { u32::from(grid.side(axis)) } else { 1 << 16 };
        let reach = u32::from(bases.high - bases.low) + u32::from(side);
        Cover { axis, low: bases.low, reach, ring }
    }

    /// Whether a busy box covers any of them: it begins on their nodes, or these on its own.
    #[inline]
    pub(in crate::strategies) fn by(&self, busy: &Cuboid) -> bool {
        let (start, length) = (u32::from(busy.base[self.axis]), u32::from(busy.sides[self.axis]));
        let low = u32::from(self.low);
        let ahead = if start < low { start + self.ring - low } else { start - low };
        ahead < self.reach || ahead + length > self.ring
    }
}
