//! Coverage: the bases at which a shape would hit an allocated box.
//!
//! Along one axis, a busy interval of length `len` at `start` is hit by a side `s` that begins
//! anywhere in `start - s + 1 ..= start + len - 1`. On an axis that does not wrap this is clipped to
//! the canonical bases `0 ..= n - s` (the rest is the reject set); on a ring it is taken modulo n
//! and split at 0; a side that closes the ring has the one base 0, which everything covers.

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
    let low = (u32::from(start) + n + 1 - u32::from(side)) % n;
    let high = low + reach - 1;
    let span = |low: u32, high: u32| Some(AxisRange { low: low as u16, high: high as u16 });
    if high < n { [span(low, high), None] } else { [span(low, n - 1), span(0, high - n)] }
}

/// Whether a base of a side is covered on one axis, as [`covered`] has it.
#[inline]
pub(in crate::strategies) fn covers(
    grid: &Grid,
    axis: usize,
    busy: &Cuboid,
    side: u16,
    base: u16,
) -> bool {
    let n = u32::from(grid.side(axis));
    let (start, length) = (u32::from(busy.base[axis]), u32::from(busy.sides[axis]));
    let (base, side) = (u32::from(base), u32::from(side));
    if !grid.wraps(axis) {
        return base < start + length && start < base + side;
    }
    // On a ring the box lies ahead of the base, or the base ahead of the box.
    let ahead = |from: u32, to: u32| if to >= from { to - from } else { to + n - from };
    side == n || ahead(base, start) < side || ahead(start, base) < length
}

/// Whether any of these canonical bases of a side is covered on one axis.
#[inline]
pub(in crate::strategies) fn meets(
    grid: &Grid,
    axis: usize,
    busy: &Cuboid,
    side: u16,
    bases: AxisRange,
) -> bool {
    let n = u32::from(grid.side(axis));
    let (start, length) = (u32::from(busy.base[axis]), u32::from(busy.sides[axis]));
    let (low, high, side) = (u32::from(bases.low), u32::from(bases.high), u32::from(side));
    if !grid.wraps(axis) {
        return low < start + length && start < high + side;
    }
    // On a ring the first of the bases is covered, or another one where the cover begins.
    let ahead = |from: u32, to: u32| if to >= from { to - from } else { to + n - from };
    side == n || ahead(low, start) < high - low + side || ahead(start, low) < length
}
