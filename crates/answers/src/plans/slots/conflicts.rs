//! The overlaps between placements, stored as rows of bits.
//!
//! Two boxes overlap if they overlap on every axis. On a given axis, the set of placements that
//! overlap a box depends only on the box's base and side on that axis. Each row is therefore the
//! AND of three rows, each shared by many placements.

use pavior_mesh::{Cuboid, Grid};
use rustc_hash::FxHashMap;

/// The overlap graph. No placement conflicts with itself.
pub(super) struct Conflicts {
    /// The number of placements.
    pub(super) count: usize,
    words: usize,
    rows: Vec<u64>,
}

impl Conflicts {
    /// Computes the conflicts between placements on the grid. Takes O(P^2 / 64 + P (sides of the
    /// grid)) time for P placements.
    pub(super) fn of(grid: &Grid, places: &[Cuboid]) -> Conflicts {
        let (count, words) = (places.len(), places.len().div_ceil(64));
        let mut axes: [FxHashMap<(u16, u16), Vec<u64>>; 3] = Default::default();
        for (axis, known) in axes.iter_mut().enumerate() {
            for place in places {
                let key = (place.base[axis], place.sides[axis]);
                known.entry(key).or_insert_with(|| meeting(grid, axis, key, places));
            }
        }
        let mut rows = Vec::with_capacity(count * words);
        for (place, cuboid) in places.iter().enumerate() {
            let [x, y, z] =
                [0, 1, 2].map(|axis| &axes[axis][&(cuboid.base[axis], cuboid.sides[axis])]);
            rows.extend(x.iter().zip(y).zip(z).map(|((x, y), z)| x & y & z));
            rows[place * words + place / 64] &= !(1 << (place % 64));
        }
        Conflicts { count, words, rows }
    }

    /// Returns the placements that overlap the given one.
    pub(super) fn of_place(&self, place: usize) -> &[u64] {
        &self.rows[place * self.words..][..self.words]
    }

    /// Returns the conflicts among the given placements, which are renumbered in the given order.
    pub(super) fn among(&self, places: &[usize]) -> Conflicts {
        let (count, words) = (places.len(), places.len().div_ceil(64));
        let mut rows = vec![0; count * words];
        for (at, &place) in places.iter().enumerate() {
            let row = self.of_place(place);
            for (to, &other) in places.iter().enumerate() {
                rows[at * words + to / 64] |= (row[other / 64] >> (other % 64) & 1) << (to % 64);
            }
        }
        Conflicts { count, words, rows }
    }
}

/// Returns the placements whose extent along an axis overlaps a run of coordinates.
fn meeting(grid: &Grid, axis: usize, (base, side): (u16, u16), places: &[Cuboid]) -> Vec<u64> {
    let mut row = vec![0; places.len().div_ceil(64)];
    let n = u32::from(grid.side(axis));
    for (place, cuboid) in places.iter().enumerate() {
        let (other, length) = (u32::from(cuboid.base[axis]), u32::from(cuboid.sides[axis]));
        // The distance around the ring from the start of this run to the start of the other run.
        let (base, side) = (u32::from(base), u32::from(side));
        let after = if other >= base { other - base } else { n - (base - other) };
        let meets = if grid.wraps(axis) {
            after < side || n - after < length
        } else {
            other < base + side && base < other + length
        };
        row[place / 64] |= u64::from(meets) << (place % 64);
    }
    row
}
