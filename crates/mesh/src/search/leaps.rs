//! A search that finds the first free base by leaping over busy boxes, from the end of one to the
//! end of the next. This search is used if there are few busy boxes.
//!
//! For a shape with side a, a busy box that is w nodes long on an axis rules out `w + a - 1` bases
//! on that axis. While a box forbids the current base, the search leaps to the end of that box
//! along x.
//!
//! ```text
//!   2x2 in 8x4:  A A A . . B B .      A forbids x = 0..2, B forbids x = 4..6, both in rows 0..1.
//!                A A A . . B B .      From 0 the search leaps to 3, which is free.
//!                . . . . C C C C
//!                . . . . C C C C
//! ```
//!
//! If a row is forbidden up to its end, the rows that follow along y are also forbidden until one
//! of the forbidding boxes ends. The same applies to planes along z. The search therefore leaps
//! over whole rows or planes.
//!
//! Invariant: no base before the current one, in row-major order, is free. The result is exact.
//!
//! Cost: O(m / 8) vector operations per leap for m busy boxes, and at most O(m^3) leaps. In real
//! schedules, a search needs about m leaps. It gives up when it has used up its leap budget.

use std::ops::ControlFlow;

use super::busy_boxes::{BusyBoxes, Group};
use super::lanes::I16x8;
use super::region::Region;
use crate::{Coordinates, Grid, Sides};

/// The result of a search that may give up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    Base(Coordinates),
    Nothing,
    /// The search gave up. No base before this plane is free.
    Unknown(u16),
}

/// A search among at most N groups of boxes, on a grid whose sides are at most [`LONGEST`].
pub(super) struct Leaps<'b, const N: usize, const RINGS: bool> {
    pub(super) grid: Grid,
    pub(super) busy: &'b BusyBoxes,
    pub(super) shape: Sides,
    pub(super) region: Region,
    /// The number of leaps after which the search gives up, checked once per row.
    pub(super) budget: u32,
}

/// The maximum length of an axis, chosen so that the sum of two coordinates fits in a lane.
pub(super) const LONGEST: u16 = 16_383;

/// The range of bases that each box forbids on one axis.
#[derive(Clone, Copy)]
struct Forbidden<const N: usize> {
    /// The first forbidden base.
    from: [I16x8; N],
    /// The number of forbidden bases.
    count: [I16x8; N],
    /// The length of the axis if it wraps, otherwise 0.
    around: I16x8,
}

impl<const N: usize> Forbidden<N> {
    #[inline(always)]
    fn on<const RINGS: bool>(
        grid: &Grid,
        groups: &[Group; N],
        axis: usize,
        side: u16,
    ) -> Forbidden<N> {
        let (mut from, mut count) = ([I16x8::ZERO; N], [I16x8::ZERO; N]);
        let (reach, n) = (splat(side - 1), splat(grid.side(axis)));
        if RINGS && grid.wraps(axis) {
            for i in 0..N {
                let [bases, sides] = groups[i][axis];
                let before = bases - reach;
                from[i] = before + (n & before.simd_lt(I16x8::ZERO));
                // Boxes that pad the list forbid no bases.
                count[i] = (sides + reach).min(n) & sides.simd_gt(I16x8::ZERO);
            }
            return Forbidden { from, count, around: n };
        }
        for i in 0..N {
            let [bases, sides] = groups[i][axis];
            from[i] = (bases - reach).max(I16x8::ZERO);
            count[i] = bases + sides - from[i];
        }
        Forbidden { from, count, around: I16x8::ZERO }
    }

    /// Returns, for each box, the number of consecutive bases that it forbids starting at `at`, or
    /// 0 if it does not forbid `at`.
    #[inline(always)]
    fn left<const RINGS: bool>(&self, at: u16) -> [I16x8; N] {
        let mut left = [I16x8::ZERO; N];
        for i in 0..N {
            let mut past = splat(at) - self.from[i];
            if RINGS {
                past += self.around & past.simd_lt(I16x8::ZERO);
            }
            // If `at` precedes the forbidden bases, `past` is negative (a large unsigned number).
            left[i] = self.count[i].saturating_sub_unsigned(past);
        }
        left
    }
}

/// Returns the longest leap and the box that it passes over. The leap is 0 if no box forbids the
/// base.
#[inline(always)]
fn longest<const N: usize>(left: &[I16x8; N]) -> (u16, usize) {
    let mut most = left[0];
    for i in 1..N {
        most = most.max(left[i]);
    }
    let leap = most.reduce_max();
    let wanted = I16x8::splat(leap);
    for i in 0..N - 1 {
        let lanes = left[i].simd_eq(wanted).to_bitmask();
        if lanes != 0 {
            return (leap as u16, i * BusyBoxes::LANES + lanes.trailing_zeros() as usize);
        }
    }
    let lanes = left[N - 1].simd_eq(wanted).to_bitmask();
    (leap as u16, (N - 1) * BusyBoxes::LANES + lanes.trailing_zeros() as usize)
}

/// Returns a mask of the boxes that forbid more than `bases` bases.
#[inline(always)]
fn forbid_more_than<const N: usize>(left: &[I16x8; N], bases: u16) -> [I16x8; N] {
    left.map(|left| left.simd_gt(splat(bases)))
}

/// Returns the values, with 0 in lanes where the mask is not set.
#[inline(always)]
fn masked<const N: usize>(values: &[I16x8; N], mask: &[I16x8; N]) -> [I16x8; N] {
    let mut masked = *values;
    for i in 0..N {
        masked[i] &= mask[i];
    }
    masked
}

#[inline(always)]
fn value_of<const N: usize>(values: &[I16x8; N], index: usize) -> u16 {
    values[index / BusyBoxes::LANES].as_array()[index % BusyBoxes::LANES] as u16
}

#[inline(always)]
fn splat(value: u16) -> I16x8 {
    I16x8::splat(value as i16)
}

impl<const N: usize, const RINGS: bool> Leaps<'_, N, RINGS> {
    /// Runs the search. Returns the result and the number of leaps.
    #[inline(always)]
    pub(super) fn run(&self) -> (Found, u32) {
        let Leaps { grid, busy, shape, region: Region { first, last, .. }, .. } = self;
        let groups = busy.groups::<N>();
        let forbidden = |axis: usize| Forbidden::<N>::on::<RINGS>(grid, groups, axis, shape[axis]);
        let along = [forbidden(0), forbidden(1), forbidden(2)];
        // The boxes that forbid whole rows and the boxes that forbid whole planes.
        let rows = forbid_more_than(&along[0].left::<RINGS>(first[0]), last[0] - first[0]);
        let mut planes = forbid_more_than(&along[1].left::<RINGS>(first[1]), last[1] - first[1]);
        for i in 0..N {
            planes[i] &= rows[i];
        }
        let (mut steps, mut z) = (0, first[2]);
        loop {
            let left_z = along[2].left::<RINGS>(z);
            let (mut until_free, _) = forbidden_whole::<N, RINGS>(&left_z, &planes, &mut steps);
            if until_free == 0 {
                match self.plane(z, &left_z, &along, &rows, &mut steps) {
                    ControlFlow::Continue(free) => until_free = free,
                    ControlFlow::Break(found) => return (found, steps),
                }
            }
            z += until_free;
            if z > last[2] {
                return (Found::Nothing, steps);
            }
        }
    }

    /// Searches a plane. If all of its bases are forbidden, returns the number of consecutive
    /// planes, starting with this one, in which all bases remain forbidden.
    #[inline(always)]
    fn plane(
        &self,
        z: u16,
        left_z: &[I16x8; N],
        along: &[Forbidden<N>; 3],
        rows: &[I16x8; N],
        steps: &mut u32,
    ) -> ControlFlow<Found, u16> {
        let Region { first, last, .. } = self.region;
        // The number of planes in which all rows before `y` remain forbidden.
        let (mut plane_lasts, mut y) = (u16::MAX, first[1]);
        loop {
            let left_y = along[1].left::<RINGS>(y);
            // The boxes that cross the current row in this plane.
            let mut crossing = left_y;
            for i in 0..N {
                crossing[i] = left_y[i].min(left_z[i]).simd_gt(I16x8::ZERO);
            }
            let whole = masked(&left_y, &crossing);
            let (mut row_lasts, index) = forbidden_whole::<N, RINGS>(&whole, rows, steps);
            if row_lasts > 0 {
                plane_lasts = plane_lasts.min(value_of(left_z, index));
            } else {
                // Leap along the row.
                row_lasts = u16::MAX;
                let mut row = along[0];
                row.count = masked(&row.count, &crossing);
                let mut x = first[0];
                loop {
                    let (leap, index) = longest(&row.left::<RINGS>(x));
                    *steps += 1;
                    if leap == 0 {
                        return ControlFlow::Break(Found::Base([x, y, z]));
                    }
                    row_lasts = row_lasts.min(value_of(&left_y, index));
                    plane_lasts = plane_lasts.min(value_of(left_z, index));
                    x += leap;
                    if x > last[0] {
                        break;
                    }
                }
            }
            if *steps > self.budget {
                return ControlFlow::Break(Found::Unknown(z));
            }
            y += row_lasts;
            if y > last[1] {
                return ControlFlow::Continue(plane_lasts);
            }
        }
    }
}

/// Returns the longest leap over a box that forbids a whole row or plane, and the box's index. The
/// leap is 0 if there is no such box. Boxes of this kind are common on a mesh. They are rare on a
/// ring, so the search does not look for them there.
#[inline(always)]
fn forbidden_whole<const N: usize, const RINGS: bool>(
    left: &[I16x8; N],
    whole: &[I16x8; N],
    steps: &mut u32,
) -> (u16, usize) {
    if RINGS {
        return (0, 0);
    }
    *steps += 1;
    longest(&masked(left, whole))
}
