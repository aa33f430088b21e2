//! The first free base among few busy boxes, by leaps from the end of one box to the next.
//!
//! A busy box of w nodes on an axis forbids `w + a - 1` bases of a shape with side a there. The search
//! stands at a base; while a forbidden box holds it, it leaps to that box's end along x. A row that
//! is covered to its end stays covered until the first of the boxes that covered it ends along y, and
//! a plane until the first of its boxes ends along z: whole rows and planes are leapt over.
//!
//! ```text
//!   2x2 in 8x4:  A A A . . B B .      A forbids x 0..2, B forbids x 4..6, both rows 0..1:
//!                A A A . . B B .      from 0 leap to 3, which is free
//!                . . . . C C C C      (in an 8x2 machine of C's row: covered; then leap to
//!                . . . . C C C C      the row at which the first of the coverers ends)
//! ```
//!
//! Exact, in row-major order. A step costs O(m/8) vector operations with m busy boxes; there are at
//! most O(m^3) steps, and on the states of real schedules about as many as boxes. Rings need a
//! little more arithmetic.

use wide::{i16x8, u16x8};

use super::busy::{Busy, Group};
use super::region::Region;
use crate::{Grid, Point, Sides};

/// The answer of a search that may give up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// The first free base.
    Base(Point),
    /// There is none.
    Nothing,
    /// Too many steps; no base before this plane is free.
    Unknown(u16),
}

/// A search in a list of at most N vectors of boxes, on a grid whose sides are at most
/// [`LONGEST`].
pub(super) struct Leaps<'b, const N: usize, const RINGS: bool> {
    pub(super) grid: Grid,
    pub(super) busy: &'b Busy,
    pub(super) shape: Sides,
    pub(super) region: Region,
    /// The number of steps after which to give up, looked at once a row.
    pub(super) budget: u32,
}

/// The longest axis whose coordinates, and the sums of two, are lanes.
pub(super) const LONGEST: u16 = 16_383;

/// The forbidden bases on one axis, box by box.
#[derive(Clone, Copy)]
struct Forbidden<const N: usize> {
    /// The first one.
    from: [i16x8; N],
    /// How many.
    count: [i16x8; N],
    /// The axis's length if it wraps, else 0.
    around: i16x8,
}

impl<const N: usize> Forbidden<N> {
    #[inline(always)]
    fn on<const RINGS: bool>(
        grid: &Grid,
        groups: &[Group; N],
        axis: usize,
        side: u16,
    ) -> Forbidden<N> {
        let (mut from, mut count) = ([i16x8::ZERO; N], [i16x8::ZERO; N]);
        let (reach, n) = (splat(side - 1), splat(grid.side(axis)));
        if RINGS && grid.wraps(axis) {
            for i in 0..N {
                let [bases, sides] = groups[i][axis];
                let before = bases - reach;
                from[i] = before + (n & before.simd_lt(i16x8::ZERO));
                // What pads the list forbids nothing.
                count[i] = (sides + reach).min(n) & sides.simd_gt(i16x8::ZERO);
            }
            return Forbidden { from, count, around: n };
        }
        for i in 0..N {
            let [bases, sides] = groups[i][axis];
            from[i] = (bases - reach).max(i16x8::ZERO);
            count[i] = bases + sides - from[i];
        }
        Forbidden { from, count, around: i16x8::ZERO }
    }

    /// How many bases from `at` on each box forbids; 0 if not `at` itself.
    #[inline(always)]
    fn left<const RINGS: bool>(&self, at: u16) -> [i16x8; N] {
        let mut left = [i16x8::ZERO; N];
        for i in 0..N {
            let mut past = splat(at) - self.from[i];
            if RINGS {
                past += self.around & past.simd_lt(i16x8::ZERO);
            }
            // A base before the first one is far past as an unsigned number.
            let [count, past] = [self.count[i], past].map(bytemuck::cast::<i16x8, u16x8>);
            left[i] = bytemuck::cast(count.saturating_sub(past));
        }
        left
    }
}

/// The least of the values whose flag is not 0, of at least one.
#[inline(always)]
fn least<const N: usize>(values: &[i16x8; N], flags: &[i16x8; N]) -> u16 {
    let mut least = i16x8::MAX;
    for i in 0..N {
        let off = flags[i].simd_eq(i16x8::ZERO);
        least = least.min(off.select(i16x8::MAX, values[i]));
    }
    least.reduce_min() as u16
}

#[inline(always)]
fn splat(value: u16) -> i16x8 {
    i16x8::splat(value as i16)
}

impl<const N: usize, const RINGS: bool> Leaps<'_, N, RINGS> {
    /// The answer, and the number of steps.
    #[inline(always)]
    pub(super) fn run(&self) -> (Found, u32) {
        let Leaps { grid, busy, shape, region: Region { first, last }, budget } = self;
        let groups = busy.groups::<N>();
        let forbidden = |axis: usize| Forbidden::<N>::on::<RINGS>(grid, groups, axis, shape[axis]);
        let (along_x, along_y, along_z) = (forbidden(0), forbidden(1), forbidden(2));
        let (mut steps, mut z) = (0, first[2]);
        loop {
            let left_z = along_z.left::<RINGS>(z);
            let (mut in_plane, mut y) = ([i16x8::ZERO; N], first[1]);
            loop {
                let left_y = along_y.left::<RINGS>(y);
                let mut row = along_x;
                for i in 0..N {
                    let crosses = left_y[i].min(left_z[i]).simd_gt(i16x8::ZERO);
                    row.count[i] &= crosses;
                }
                let (mut in_row, mut x) = ([i16x8::ZERO; N], first[0]);
                loop {
                    let left = row.left::<RINGS>(x);
                    let mut leap = i16x8::ZERO;
                    for i in 0..N {
                        leap = leap.max(left[i]);
                        in_row[i] |= left[i];
                    }
                    steps += 1;
                    let leap = leap.reduce_max() as u16;
                    if leap == 0 {
                        return (Found::Base([x, y, z]), steps);
                    }
                    x += leap;
                    if x > last[0] {
                        break;
                    }
                }
                for i in 0..N {
                    in_plane[i] |= in_row[i];
                }
                y += least(&left_y, &in_row);
                if y > last[1] {
                    break;
                }
                if steps > *budget {
                    return (Found::Unknown(z), steps);
                }
            }
            z += least(&left_z, &in_plane);
            if z > last[2] {
                return (Found::Nothing, steps);
            }
        }
    }
}
