//! Sets of nodes as rows of bits, each row in words of its own, and shifts of them along the axes.

use crate::{Coordinates, Cuboid, Grid, NodeId, Occupancy};

/// The words of a row.
#[inline]
pub(crate) fn row_words(grid: &Grid) -> usize {
    usize::from(grid.side(0)).div_ceil(64)
}

/// The number of rows.
#[inline]
pub(crate) fn rows(grid: &Grid) -> usize {
    usize::from(grid.side(1)) * usize::from(grid.side(2))
}

/// The node of a bit.
#[inline]
pub(crate) fn point(grid: &Grid, word: usize, bit: u32) -> Coordinates {
    let wide = row_words(grid);
    let (row, column) = if wide == 1 { (word, 0) } else { (word / wide, word % wide) };
    let d = usize::from(grid.side(1));
    let (z, y) = if row < d { (0, row) } else { (row / d, row % d) };
    [(64 * column) as u16 + bit as u16, y as u16, z as u16]
}

/// Lays out the free nodes in rows.
pub(crate) fn load(grid: &Grid, free: &Occupancy, words: &mut [u64]) {
    let w = usize::from(grid.side(0));
    if w % 64 == 0 {
        words.copy_from_slice(free.words());
    } else if w < 64 {
        let mask = u64::MAX >> (64 - w);
        let mut from = 0;
        for word in words {
            let (index, shift) = (from / 64, from % 64);
            let mut row = free.words()[index] >> shift;
            if shift + w > 64 {
                row |= free.words()[index + 1] << (64 - shift);
            }
            *word = row & mask;
            from += w;
        }
    } else {
        for (row, words) in words.chunks_exact_mut(row_words(grid)).enumerate() {
            for (k, word) in words.iter_mut().enumerate() {
                let from = NodeId((row * w + 64 * k) as u32);
                *word = free.bits(from, (w - 64 * k).min(64));
            }
        }
    }
}

/// Word `index` of a row moved `step` towards its beginning.
#[inline]
pub(crate) fn ahead(row: &[u64], index: usize, step: usize) -> u64 {
    let (skip, bits) = (step / 64, step % 64);
    let at = |index: usize| row.get(index).copied().unwrap_or(0);
    if bits == 0 {
        at(index + skip)
    } else {
        at(index + skip) >> bits | at(index + skip + 1) << (64 - bits)
    }
}

/// Word `index` of a row moved `step` towards its end.
#[inline]
fn back(row: &[u64], index: usize, step: usize) -> u64 {
    let (skip, bits) = (step / 64, step % 64);
    let at = |back: usize| index.checked_sub(back).map_or(0, |index| row[index]);
    if bits == 0 { at(skip) } else { at(skip) << bits | at(skip + 1) >> (64 - bits) }
}

/// Hands every word that a box touches to a function, with the box's bits in it.
#[inline]
fn each_word(grid: &Grid, cuboid: &Cuboid, mut see: impl FnMut(usize, u64)) {
    let (wide, d) = (row_words(grid), usize::from(grid.side(1)));
    for piece in cuboid.unwrapped(grid) {
        let ([x, y, z], [a, b, c]) = (piece.base.map(usize::from), piece.sides.map(usize::from));
        for plane in z..z + c {
            let first = y + d * plane;
            if x / 64 == (x + a - 1) / 64 {
                let mask = (u64::MAX >> (64 - a)) << (x % 64);
                (first..first + b).for_each(|row| see(row * wide + x / 64, mask));
                continue;
            }
            for row in first..first + b {
                for word in x / 64..=(x + a - 1) / 64 {
                    let low = x.max(64 * word) - 64 * word;
                    let high = (x + a).min(64 * word + 64) - 64 * word;
                    see(row * wide + word, (u64::MAX >> (64 - (high - low))) << low);
                }
            }
        }
    }
}

/// The nodes of a box that are in a set.
pub(crate) fn count(grid: &Grid, words: &[u64], cuboid: &Cuboid) -> u32 {
    let mut count = 0;
    if cuboid.sides[0] == 1 {
        let shift = cuboid.base[0] % 64;
        each_word(grid, cuboid, |word, _| count += (words[word] >> shift) as u32 & 1);
    } else {
        each_word(grid, cuboid, |word, mask| count += (words[word] & mask).count_ones());
    }
    count
}

/// Whether any node of a box, which passes the end of no axis, is in a set.
pub(crate) fn any(grid: &Grid, words: &[u64], cuboid: &Cuboid) -> bool {
    let (wide, d) = (row_words(grid), usize::from(grid.side(1)));
    let ([x, y, z], [a, b, c]) = (cuboid.base.map(usize::from), cuboid.sides.map(usize::from));
    (x / 64..=(x + a - 1) / 64).any(|word| {
        let low = x.max(64 * word) - 64 * word;
        let high = (x + a).min(64 * word + 64) - 64 * word;
        let mask = (u64::MAX >> (64 - (high - low))) << low;
        (z..z + c).any(|plane| {
            let first = (y + d * plane) * wide + word;
            (0..b).any(|row| words[first + row * wide] & mask != 0)
        })
    })
}

/// Takes the nodes of a box out of a set.
pub(crate) fn clear(grid: &Grid, words: &mut [u64], cuboid: &Cuboid) {
    each_word(grid, cuboid, |word, mask| words[word] &= !mask);
}

/// How an axis lies in the words: `n` units of `unit` words after each other, again and again; or, for
/// x, `n` bits in rows of `unit` words.
#[derive(Clone, Copy)]
pub(crate) struct Block {
    x: bool,
    n: usize,
    unit: usize,
}

impl Block {
    pub(crate) fn of(grid: &Grid, axis: usize) -> Block {
        let wide = row_words(grid);
        let unit = if axis == 2 { wide * usize::from(grid.side(1)) } else { wide };
        Block { x: axis == 0, n: usize::from(grid.side(axis)), unit }
    }

    /// Leaves the bits whose neighbour `step` further along the axis is set too; around the end of a
    /// ring.
    pub(crate) fn and_ahead(self, words: &mut [u64], spare: &mut [u64], step: usize, ring: bool) {
        let Block { x, n, unit } = self;
        if x && unit == 1 {
            let around = if ring { (n - step) as u32 } else { 63 };
            if ring {
                for word in words.iter_mut() {
                    *word &= *word >> step | *word << around;
                }
            } else {
                for word in words.iter_mut() {
                    *word &= *word >> step;
                }
            }
        } else if x {
            for row in words.chunks_exact_mut(unit) {
                let copy = &mut spare[..unit];
                if ring {
                    copy.copy_from_slice(row);
                    for (index, word) in row.iter_mut().enumerate() {
                        *word &= ahead(copy, index, step) | back(copy, index, n - step);
                    }
                } else {
                    // Ascending order reads only words that are not written yet.
                    for index in 0..unit {
                        row[index] &= ahead(row, index, step);
                    }
                }
            }
        } else {
            let (whole, kept) = (n * unit, (n - step) * unit);
            for block in words.chunks_exact_mut(whole) {
                if ring {
                    spare[..step * unit].copy_from_slice(&block[..step * unit]);
                }
                // Ascending order reads only words that are not written yet.
                for index in 0..kept {
                    block[index] &= block[index + step * unit];
                }
                if ring {
                    let pairs = block[kept..].iter_mut().zip(&spare[..step * unit]);
                    pairs.for_each(|(word, first)| *word &= first);
                } else {
                    block[kept..].fill(0);
                }
            }
        }
    }

    /// The bits whose next neighbour on the high or the low side along the axis is not set, or lies
    /// beyond the end.
    pub(crate) fn without_neighbour(self, words: &[u64], out: &mut [u64], ring: bool, high: bool) {
        let Block { x, n, unit } = self;
        if x && unit == 1 {
            let last = n as u32 - 1;
            for (out, &word) in out.iter_mut().zip(words) {
                let beside = match (high, ring) {
                    (true, false) => word >> 1,
                    (true, true) => word >> 1 | word << last,
                    (false, false) => word << 1,
                    (false, true) => word << 1 | word >> last,
                };
                *out = word & !beside;
            }
        } else if x {
            for (out, row) in out.chunks_exact_mut(unit).zip(words.chunks_exact(unit)) {
                for (index, out) in out.iter_mut().enumerate() {
                    let (up, down) =
                        (|step| ahead(row, index, step), |step| back(row, index, step));
                    let beside = if high { up(1) } else { down(1) };
                    let around = if !ring {
                        0
                    } else if high {
                        down(n - 1)
                    } else {
                        up(n - 1)
                    };
                    *out = row[index] & !(beside | around);
                }
            }
        } else {
            let (whole, last) = (n * unit, (n - 1) * unit);
            for (out, block) in out.chunks_exact_mut(whole).zip(words.chunks_exact(whole)) {
                if high {
                    without(&mut out[..last], &block[..last], &block[unit..]);
                    without_at_end(&mut out[last..], &block[last..], &block[..unit], ring);
                } else {
                    without(&mut out[unit..], &block[unit..], &block[..last]);
                    without_at_end(&mut out[..unit], &block[..unit], &block[last..], ring);
                }
            }
        }
    }
}

fn without(out: &mut [u64], words: &[u64], beside: &[u64]) {
    for ((out, word), beside) in out.iter_mut().zip(words).zip(beside) {
        *out = word & !beside;
    }
}

fn without_at_end(out: &mut [u64], words: &[u64], around: &[u64], ring: bool) {
    if ring {
        without(out, words, around);
    } else {
        out.copy_from_slice(words);
    }
}
