//! A search for the first free base that tests every candidate. It is used if few boxes are busy.
//!
//! On each axis, the first free base is at 0 or directly after a busy box; otherwise, the preceding
//! base on that axis would also be free. With m boxes, there are therefore m + 1 candidates per
//! axis, which are the same for all shapes. A box rules out a candidate for a side of length a if
//! the gap from the candidate to the box is less than a:
//!
//! ```text
//!   0       4         9            The candidate after A is 4. B is 5 ahead of it and forbids it
//!   . A A A . . . . . B B .        for sides above 5. On a line, A is behind it and forbids
//!           |<-- 5 -->|            nothing. On a ring of 12, A is 9 ahead.
//! ```
//!
//! Inside a box, the gap is 0. Boxes are in groups of eight. Each candidate has one byte per group,
//! with one bit per box, which is set if the box forbids the candidate. A base is free if the bytes
//! for its three coordinates share no set bit. Vectors test many bases at once, without branches.
//!
//! Invariant: the candidates on each axis include the coordinate of every possible first free base.
//! The result is therefore exact, both on lines and on rings.
//!
//! Cost: O(m^3 / 16) vector operations per shape.

use super::busy_boxes::{BusyBoxes, Group};
use super::lanes::{I16x8, U8x16};
use crate::{Coordinates, Cuboid, Grid, Sides};

/// A gap that exceeds every side, used for boxes behind the candidate.
const NEVER: i16 = i16::MAX;

/// One byte per candidate, for each group of boxes and each batch of eight candidates. Each bit
/// represents a box in the group, and is set if the box forbids the candidate.
type ForbiddenBy<const G: usize> = [[u64; G]; G];

/// Marks a word that has not been computed yet. If a computed word happens to have this value, it
/// is computed again.
const NOT_KNOWN: u64 = u64::MAX;

/// The candidates on an axis, in up to G batches of eight. The boxes are likewise in G groups of
/// eight.
#[derive(Clone, Copy, Debug)]
struct Axis<const G: usize> {
    /// The coordinate of the candidate after each box, or 0 in lanes without a box.
    at: [I16x8; G],
    /// The gaps from candidates to boxes, indexed by batch, candidate in the batch, and box group.
    gaps: [[[I16x8; G]; BusyBoxes::LANES]; G],
    /// The distance from each candidate to the end of the line, or [`NEVER`] on a ring.
    room: [I16x8; G],
}

impl<const G: usize> Axis<G> {
    /// Computes the candidates, padded to C with coordinate 0, which may then occur more than once.
    #[inline(always)]
    fn new<const C: usize>(grid: &Grid, axis: usize, groups: &[Group; G]) -> Axis<G> {
        let n = splat(grid.side(axis));
        let (mut at, mut room) = ([I16x8::ZERO; G], [I16x8::splat(NEVER); G]);
        if grid.wraps(axis) {
            for g in 0..G {
                let end = groups[g][axis][0] + groups[g][axis][1];
                at[g] = end - (n & !end.simd_lt(n));
            }
            let gaps = Axis::gaps::<C>(groups, axis, &at, |ahead, sides| {
                // The distance around the ring. If it exceeds n - sides, the box covers the
                // candidate.
                let ahead = ahead + (n & ahead.simd_lt(I16x8::ZERO));
                (ahead & !ahead.simd_gt(n - sides)) | never(sides)
            });
            return Axis { at, gaps, room };
        }
        for g in 0..G {
            at[g] = groups[g][axis][0] + groups[g][axis][1];
            room[g] = n - at[g];
        }
        let gaps = Axis::gaps::<C>(groups, axis, &at, |ahead, sides| {
            // A box that starts before the candidate either covers it or ends before it.
            ahead.max(I16x8::ZERO) | never(ahead + sides)
        });
        Axis { at, gaps, room }
    }

    /// Computes all gaps. `gap` converts a box's distance (possibly negative) and side to a gap.
    #[inline(always)]
    fn gaps<const C: usize>(
        groups: &[Group; G],
        axis: usize,
        at: &[I16x8; G],
        gap: impl Fn(I16x8, I16x8) -> I16x8,
    ) -> [[[I16x8; G]; BusyBoxes::LANES]; G] {
        let mut gaps = [[[I16x8::ZERO; G]; BusyBoxes::LANES]; G];
        for index in 0..C {
            let (batch, lane) = (index / BusyBoxes::LANES, index % BusyBoxes::LANES);
            let from = I16x8::splat(at[batch].as_array()[lane]);
            for g in 0..G {
                let [bases, sides] = groups[g][axis];
                gaps[batch][lane][g] = gap(bases - from, sides);
            }
        }
        gaps
    }

    /// Finds the boxes that forbid each of the first C candidates for a given side. A candidate too
    /// close to the end of a line is replaced by the candidate at 0, whose index is `count`.
    #[inline(always)]
    fn forbidden<const C: usize>(&self, side: u16, count: usize) -> ForbiddenBy<G> {
        let side = splat(side);
        let mut bytes = [[0; G]; G];
        for g in 0..G {
            for batch in 0..G {
                // Any candidate after the first C is forbidden by all boxes.
                let lanes = C.saturating_sub(batch * BusyBoxes::LANES).min(BusyBoxes::LANES);
                let mut word = u64::MAX.checked_shl(8 * lanes as u32).unwrap_or(0);
                for pair in 0..lanes / 2 {
                    let covers = |lane: usize| self.gaps[batch][lane][g].simd_lt(side);
                    let covered = covers(2 * pair).narrow(covers(2 * pair + 1));
                    word |= u64::from(covered.to_bitmask()) << (16 * pair);
                }
                bytes[g][batch] = word;
            }
            let at_zero = spread(&bytes[g], count);
            for batch in 0..G {
                let too_far = self.room[batch].simd_lt(side).narrow(I16x8::ZERO);
                let [too_far, _] = too_far.to_words();
                bytes[g][batch] = (bytes[g][batch] & !too_far) | (at_zero & too_far);
            }
        }
        bytes
    }
}

/// Returns a vector with [`NEVER`] in the lanes of boxes that have no nodes ahead.
#[inline(always)]
fn never(nodes: I16x8) -> I16x8 {
    I16x8::splat(NEVER) & !nodes.simd_gt(I16x8::ZERO)
}

#[inline(always)]
fn splat(value: u16) -> I16x8 {
    I16x8::splat(value as i16)
}

/// Returns a word that repeats one byte of `bytes` eight times.
#[inline(always)]
fn spread<const G: usize>(bytes: &[u64; G], index: usize) -> u64 {
    (bytes[index / 8] >> (8 * (index % 8)) & 0xff) * 0x0101_0101_0101_0101
}

/// A search among boxes in G groups (1 or 2), on a grid whose sides are at most
/// [`leaps::LONGEST`](super::leaps::LONGEST).
///
/// The search tests C candidates on the x axis, C on the y axis and Z on the z axis, where Z is C,
/// or 1 on a flat grid. C is even and greater than the number of boxes. The candidates in a plane
/// fill R = C G / 2 vectors.
pub(super) struct Corners<const G: usize, const R: usize, const C: usize, const Z: usize> {
    grid: Grid,
    axes: [Axis<G>; 3],
    count: usize,
}

impl<const G: usize, const R: usize, const C: usize, const Z: usize> Corners<G, R, C, Z> {
    /// The number of rows per vector.
    const ROWS: usize = 2 / G;

    /// Computes the candidates given by the first `count` boxes.
    #[inline(always)]
    pub(super) fn new(grid: Grid, groups: &[Group; G], count: usize) -> Corners<G, R, C, Z> {
        let axis = |axis: usize| Axis::new::<C>(&grid, axis, groups);
        Corners { grid, axes: [axis(0), axis(1), axis(2)], count }
    }

    /// Returns the first free box, in row-major order, of the first shape that fits.
    #[inline(always)]
    pub(super) fn first(&self, shapes: &[Sides]) -> Option<Cuboid> {
        // All orientations of a shape have the same three sides, each of which occurs on every
        // axis.
        let sides = shapes.first().copied().unwrap_or_default();
        let mut known = [[[[NOT_KNOWN; G]; G]; 3]; 3];
        shapes.iter().find_map(|&shape| {
            if !self.grid.fits(shape) {
                return None;
            }
            let mut bytes = [[[0; G]; G]; 3];
            for axis in 0..3 {
                let side = shape[axis];
                let find = || self.axes[axis].forbidden::<C>(side, self.count);
                bytes[axis] = match sides.iter().position(|&other| other == side) {
                    None => find(),
                    Some(index) => {
                        let known = &mut known[axis][index];
                        if known[0][0] == NOT_KNOWN {
                            *known = find();
                        }
                        *known
                    }
                };
            }
            self.base(shape, bytes)
        })
    }

    /// Finds a shape's first free base, given the boxes that forbid the candidates on each axis.
    #[inline(always)]
    fn base(&self, shape: Sides, [x, y, z]: [ForbiddenBy<G>; 3]) -> Option<Cuboid> {
        // For each pair of x and y candidates and each group, the boxes that forbid both
        // candidates. Pairs with the same y candidate form a row. One or two rows fill a vector.
        let mut rows = [[U8x16::ZERO; G]; R];
        for row in 0..R {
            let [first, last] = [row * Self::ROWS, row * Self::ROWS + Self::ROWS - 1];
            for g in 0..G {
                let [low, high] = [spread(&y[g], first), spread(&y[g], last)];
                rows[row][g] = U8x16::from_words([x[g][0] & low, x[g][G - 1] & high]);
            }
        }
        let mut free_bases = U8x16::ZERO;
        for plane in 0..Z {
            let in_plane = self.boxes_in_plane(&z, plane);
            for row in &rows {
                free_bases |= free(row, &in_plane);
            }
        }
        if free_bases.to_bitmask() == 0 {
            return None;
        }
        Some(Cuboid::new(self.first_of(&rows, &z), shape))
    }

    /// Returns the boxes that forbid a candidate along z, repeated in all lanes.
    #[inline(always)]
    fn boxes_in_plane(&self, z: &ForbiddenBy<G>, plane: usize) -> [U8x16; G] {
        let plane = if Z == 1 { self.count } else { plane };
        let mut in_plane = [U8x16::ZERO; G];
        for g in 0..G {
            in_plane[g] = U8x16::from_words([spread(&z[g], plane); 2]);
        }
        in_plane
    }

    /// Returns the first free base, which must exist. Finds the first plane with a free base, then
    /// the first row in that plane with a free base.
    #[inline(always)]
    fn first_of(&self, rows: &[[U8x16; G]; R], z: &ForbiddenBy<G>) -> Coordinates {
        let mut planes_with_bases = 0;
        for plane in 0..Z {
            let in_plane = self.boxes_in_plane(z, plane);
            let mut free_bases = U8x16::ZERO;
            for row in rows {
                free_bases |= free(row, &in_plane);
            }
            planes_with_bases |= u32::from(free_bases.to_bitmask() != 0) << plane;
        }
        let (plane, base_z) = if Z == 1 { (0, 0) } else { self.least(2, planes_with_bases) };
        let in_plane = self.boxes_in_plane(z, plane);
        // The free x candidates for each y candidate, as one bit each.
        let mut bases = [0; 16];
        let mut rows_with_bases = 0;
        for row in 0..C {
            let (vector, part) = (row / Self::ROWS, row % Self::ROWS);
            let bits = free(&rows[vector], &in_plane).to_bitmask();
            bases[row] = bits >> (8 * part) & (0xffff >> (8 * (Self::ROWS - 1)));
            rows_with_bases |= u32::from(bases[row] != 0) << row;
        }
        let (row, y) = self.least(1, rows_with_bases);
        let (_, x) = self.least(0, bases[row]);
        [x, y, base_z]
    }

    /// Returns the index and coordinate of the lowest candidate in a set of bits. A candidate too
    /// near the end of a line is never the lowest, because the set then contains the candidate at
    /// 0.
    #[inline(always)]
    fn least(&self, axis: usize, mut candidates: u32) -> (usize, u16) {
        let mut least = (0, u16::MAX);
        while candidates != 0 {
            let index = candidates.trailing_zeros() as usize;
            candidates &= candidates - 1;
            let at = self.axes[axis].at[index / BusyBoxes::LANES].as_array()
                [index % BusyBoxes::LANES] as u16;
            if at < least.1 {
                least = (index, at);
            }
        }
        least
    }
}

/// Returns the candidates in a vector that are not forbidden by any box that crosses their plane.
#[inline(always)]
fn free<const G: usize>(row: &[U8x16; G], in_plane: &[U8x16; G]) -> U8x16 {
    let mut taken = row[0] & in_plane[0];
    for g in 1..G {
        taken |= row[g] & in_plane[g];
    }
    taken.is_zero()
}
