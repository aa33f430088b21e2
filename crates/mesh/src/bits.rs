//! Sets of nodes as bits, and shifts of them along the axes.
//!
//! A row along x begins at a multiple of its pitch: the next power of two up to 64, so that short rows
//! lie several to a word, or whole words. A plane begins with a new word. The bits between are zeros.
//!
//! ```text
//!   rows of 5:   . . . 44444 . . . 33333 . . . 22222 . . . 11111    the low bits, a pitch of 8
//! ```

use crate::occupancy::repeated;
use crate::{Coordinates, Cuboid, Grid, NodeId, Occupancy};

/// Where the nodes of a grid are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    grid: Grid,
    /// Bits from the beginning of a row to that of the next one.
    pitch: usize,
    /// Words of a plane.
    plane: usize,
    /// A bit at the beginning of every row of a word.
    rows: u64,
}

/// The lowest bits, at most 64.
#[inline]
fn low(count: usize) -> u64 {
    if count == 0 { 0 } else { u64::MAX >> (64 - count) }
}

impl Layout {
    pub(crate) fn new(grid: Grid) -> Layout {
        let w = usize::from(grid.side(0));
        let pitch = if w <= 64 { w.next_power_of_two() } else { w.next_multiple_of(64) };
        let plane = (usize::from(grid.side(1)) * pitch).div_ceil(64);
        Layout { grid, pitch, plane, rows: repeated(pitch.min(64)) }
    }

    /// The words of a set.
    pub(crate) fn words(&self) -> usize {
        self.plane * usize::from(self.grid.side(2))
    }

    /// The words of a row; rows shorter than half a word share one.
    pub(crate) fn row_words(&self) -> usize {
        self.pitch.div_ceil(64)
    }

    /// The node of a bit.
    #[inline]
    pub(crate) fn point(&self, word: usize, bit: u32) -> Coordinates {
        let (z, word) =
            if word < self.plane { (0, word) } else { (word / self.plane, word % self.plane) };
        let at = 64 * word + bit as usize;
        let (x, y) = if self.pitch.is_power_of_two() {
            (at & (self.pitch - 1), at >> self.pitch.trailing_zeros())
        } else {
            (at % self.pitch, at / self.pitch)
        };
        [x as u16, y as u16, z as u16]
    }

    /// The word and the bit in it of a node of the grid.
    #[inline]
    pub(crate) fn bit(&self, [x, y, z]: Coordinates) -> (usize, usize) {
        let at = self.pitch * usize::from(y) + usize::from(x);
        (self.plane * usize::from(z) + at / 64, at % 64)
    }

    /// Word `index` of a row moved `step` towards its beginning.
    #[inline]
    pub(crate) fn row_ahead(
        &self,
        words: &[u64],
        [y, z]: [u16; 2],
        index: usize,
        step: usize,
    ) -> u64 {
        let (first, shift) = self.bit([0, y, z]);
        if self.pitch < 64 {
            (words[first] >> shift & low(self.pitch)) >> step
        } else {
            ahead(&words[first..first + self.row_words()], index, step)
        }
    }

    /// Lays out the free nodes.
    pub(crate) fn load(&self, free: &Occupancy, words: &mut [u64]) {
        let [w, d, h] = self.grid.sides().map(usize::from);
        if self.pitch == w && (h == 1 || d * w % 64 == 0) {
            words.copy_from_slice(free.words());
            return;
        }
        words.fill(0);
        for z in 0..h {
            for y in 0..d {
                for x in (0..w).step_by(64) {
                    let node = NodeId((x + w * (y + d * z)) as u32);
                    let at = self.pitch * y + x;
                    words[self.plane * z + at / 64] |=
                        free.bits(node, (w - x).min(64)) << (at % 64);
                }
            }
        }
    }

    /// Hands every word that a box, which passes the end of no axis, touches to a function, with the
    /// box's bits in it, until the function says to stop; returns whether it did.
    #[inline]
    fn until(&self, piece: &Cuboid, mut see: impl FnMut(usize, u64) -> bool) -> bool {
        let ([x, y, z], [a, b, c]) = (piece.base.map(usize::from), piece.sides.map(usize::from));
        if self.pitch < 64 {
            // From the first bit of its first row to that behind its last one.
            let (from, end) = (self.pitch * y, self.pitch * (y + b));
            let rows = self.rows * (low(a) << x);
            return (from / 64..=(end - 1) / 64).any(|word| {
                let within = low((end - 64 * word).min(64)) & !low(from.saturating_sub(64 * word));
                (z..z + c).any(|z| see(self.plane * z + word, rows & within))
            });
        }
        let wide = self.pitch / 64;
        (x / 64..=(x + a - 1) / 64).any(|word| {
            let from = x.max(64 * word) - 64 * word;
            let end = (x + a).min(64 * word + 64) - 64 * word;
            let mask = low(end - from) << from;
            (z..z + c).any(|z| {
                let first = self.plane * z + wide * y + word;
                (0..b).any(|row| see(first + row * wide, mask))
            })
        })
    }

    /// The nodes of a box that are in a set.
    #[inline]
    pub(crate) fn count(&self, words: &[u64], cuboid: &Cuboid) -> u32 {
        let mut count = 0;
        for piece in cuboid.unwrapped(&self.grid) {
            if piece.sides[0] == 1 && self.pitch >= 64 {
                let shift = piece.base[0] % 64;
                self.until(&piece, |word, _| {
                    count += (words[word] >> shift) as u32 & 1;
                    false
                });
            } else {
                self.until(&piece, |word, mask| {
                    count += (words[word] & mask).count_ones();
                    false
                });
            }
        }
        count
    }

    /// Whether any node of a box, which passes the end of no axis, is in a set.
    pub(crate) fn any(&self, words: &[u64], cuboid: &Cuboid) -> bool {
        self.until(cuboid, |word, mask| words[word] & mask != 0)
    }

    /// Takes the nodes of a box out of a set.
    pub(crate) fn clear(&self, words: &mut [u64], cuboid: &Cuboid) {
        for piece in cuboid.unwrapped(&self.grid) {
            self.until(&piece, |word, mask| {
                words[word] &= !mask;
                false
            });
        }
    }

    /// The columns of the machine in which there are nodes of a set: bit x % 64 of word x / 64.
    pub(crate) fn columns_into(&self, words: &[u64], columns: &mut Vec<u64>) {
        columns.clear();
        columns.resize(self.row_words(), 0);
        for row in words.chunks_exact(columns.len()) {
            columns.iter_mut().zip(row).for_each(|(column, word)| *column |= word);
        }
        let mut lane = 64;
        while lane > self.pitch {
            lane /= 2;
            columns[0] |= columns[0] >> lane;
        }
        if self.pitch < 64 {
            columns[0] &= low(self.pitch);
        }
    }

    /// How an axis lies in the words.
    pub(crate) fn axis(&self, axis: usize) -> Axis {
        let n = usize::from(self.grid.side(axis));
        match axis {
            0 if self.pitch <= 64 => Axis::Lanes { n, step: 1, lanes: self.rows },
            0 => Axis::Rows { n, step: 1, words: self.pitch / 64 },
            1 if self.pitch >= 64 => Axis::Words { n, step: self.pitch / 64 },
            1 if self.plane == 1 => Axis::Lanes { n, step: self.pitch, lanes: 1 },
            1 => Axis::Rows { n, step: self.pitch, words: self.plane },
            _ => Axis::Words { n, step: self.plane },
        }
    }
}

/// Leaves in each word but the last `distance` the bits that are set in the word so much further on, too.
fn and_further(words: &mut [u64], distance: usize) {
    const TOGETHER: usize = 8;
    let kept = words.len() - distance;
    let whole = kept - kept % TOGETHER;
    // Several are read before any of them is written, which no compiler may do by itself, and which
    // ascending order allows.
    for index in (0..whole).step_by(TOGETHER) {
        let mut further = [0; TOGETHER];
        further.copy_from_slice(&words[index + distance..][..TOGETHER]);
        let pairs = words[index..][..TOGETHER].iter_mut().zip(further);
        pairs.for_each(|(word, further)| *word &= further);
    }
    for index in whole..kept {
        words[index] &= words[index + distance];
    }
}

/// Word `index` of a row moved `step` towards its beginning.
#[inline]
fn ahead(row: &[u64], index: usize, step: usize) -> u64 {
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

/// How the `n` coordinates of an axis lie in the words, again and again.
#[derive(Clone, Copy)]
pub(crate) enum Axis {
    /// `step` bits apart, in lanes of a word, each of which begins with a bit of `lanes`.
    Lanes { n: usize, step: usize, lanes: u64 },
    /// `step` bits apart, in rows of several words.
    Rows { n: usize, step: usize, words: usize },
    /// `step` words apart.
    Words { n: usize, step: usize },
}

impl Axis {
    /// Whether it lies in rows of several words.
    pub(crate) fn is_in_rows(&self) -> bool {
        matches!(self, Axis::Rows { .. })
    }

    /// Leaves the bits whose neighbour `ahead` further along the axis is set too; around the end of a
    /// ring. `spare` has as many words, if it is a ring or in rows.
    pub(crate) fn and_ahead(
        self,
        words: &mut [u64],
        spare: &mut [u64],
        distance: usize,
        ring: bool,
    ) {
        match self {
            Axis::Lanes { n, step, lanes } => {
                let (by, around) = (step * distance, step * (n - distance));
                let kept = lanes * low(around);
                if ring {
                    for word in words.iter_mut() {
                        *word &= *word >> by & kept | (*word << around) & !kept;
                    }
                } else {
                    for word in words.iter_mut() {
                        *word &= *word >> by & kept;
                    }
                }
            }
            Axis::Rows { n, step, words: unit } => {
                let (by, around) = (step * distance, step * (n - distance));
                for row in words.chunks_exact_mut(unit) {
                    let copy = &mut spare[..unit];
                    if ring {
                        copy.copy_from_slice(row);
                        for (index, word) in row.iter_mut().enumerate() {
                            *word &= ahead(copy, index, by) | back(copy, index, around);
                        }
                    } else {
                        // Ascending order reads only words that are not written yet.
                        for index in 0..unit {
                            row[index] &= ahead(row, index, by);
                        }
                    }
                }
            }
            Axis::Words { n, step } => {
                let (whole, kept) = (n * step, (n - distance) * step);
                for block in words.chunks_exact_mut(whole) {
                    if ring {
                        spare[..whole - kept].copy_from_slice(&block[..whole - kept]);
                    }
                    and_further(block, whole - kept);
                    if ring {
                        let pairs = block[kept..].iter_mut().zip(&spare[..whole - kept]);
                        pairs.for_each(|(word, first)| *word &= first);
                    } else {
                        block[kept..].fill(0);
                    }
                }
            }
        }
    }

    /// The bits whose next neighbour on the high or the low side along the axis is not set, or lies
    /// beyond the end.
    pub(crate) fn without_neighbour(self, words: &[u64], out: &mut [u64], ring: bool, high: bool) {
        match self {
            Axis::Lanes { n, step, lanes } => {
                let around = step * (n - 1);
                // Those with a neighbour on that side, and the others.
                let (inner, end) = if high {
                    (lanes * low(around), lanes * (low(step) << around))
                } else {
                    (lanes * (low(around) << step), lanes * low(step))
                };
                let end = if ring { end } else { 0 };
                for (out, &word) in out.iter_mut().zip(words) {
                    let beside = if high {
                        word >> step & inner | (word << around) & end
                    } else {
                        (word << step) & inner | word >> around & end
                    };
                    *out = word & !beside;
                }
            }
            Axis::Rows { n, step, words: unit } => {
                let around = step * (n - 1);
                for (out, row) in out.chunks_exact_mut(unit).zip(words.chunks_exact(unit)) {
                    for (index, out) in out.iter_mut().enumerate() {
                        let beside = match (high, ring) {
                            (true, false) => ahead(row, index, step),
                            (true, true) => ahead(row, index, step) | back(row, index, around),
                            (false, false) => back(row, index, step),
                            (false, true) => back(row, index, step) | ahead(row, index, around),
                        };
                        *out = row[index] & !beside;
                    }
                }
            }
            Axis::Words { n, step } => {
                let (whole, last) = (n * step, (n - 1) * step);
                for (out, block) in out.chunks_exact_mut(whole).zip(words.chunks_exact(whole)) {
                    if high {
                        without(&mut out[..last], &block[..last], &block[step..]);
                        without_at_end(&mut out[last..], &block[last..], &block[..step], ring);
                    } else {
                        without(&mut out[step..], &block[step..], &block[..last]);
                        without_at_end(&mut out[..step], &block[..step], &block[last..], ring);
                    }
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
