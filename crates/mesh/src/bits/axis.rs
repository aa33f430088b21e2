//! Shifting a set of nodes along an axis, a whole word at a time.
//!
//! Along an axis, consecutive nodes are a few bits apart within a word, a few bits apart within a
//! row of several words, or a few words apart.
//!
//! Invariant: bits from beyond the end of an axis are never shifted in unless the axis wraps.
//!
//! Cost: O(words) per shift, with no branch inside the loops.

use super::low;

/// Clears each bit unless the same bit `distance` words later is also set. Skips the last
/// `distance` words.
#[inline(always)]
fn and_further(words: &mut [u64], distance: usize) {
    const TOGETHER: usize = 8;
    let kept = words.len() - distance;
    let mut index = 0;
    // Read several words before writing any. This is safe because the indices ascend, but a
    // compiler may not reorder the accesses on its own.
    while index + TOGETHER <= kept {
        let mut further = [0; TOGETHER];
        further.copy_from_slice(&words[index + distance..][..TOGETHER]);
        let pairs = words[index..][..TOGETHER].iter_mut().zip(further);
        pairs.for_each(|(word, further)| *word &= further);
        index += TOGETHER;
    }
    for index in index..kept {
        words[index] &= words[index + distance];
    }
}

/// Returns word `index` of a row after shifting the row by `step` toward its start.
#[inline]
pub(super) fn ahead(row: &[u64], index: usize, step: usize) -> u64 {
    let (skip, bits) = (step / 64, step % 64);
    let at = |index: usize| row.get(index).copied().unwrap_or(0);
    if bits == 0 {
        at(index + skip)
    } else {
        at(index + skip) >> bits | at(index + skip + 1) << (64 - bits)
    }
}

/// Returns word `index` of a row after shifting the row by `step` toward its end.
#[inline]
fn back(row: &[u64], index: usize, step: usize) -> u64 {
    let (skip, bits) = (step / 64, step % 64);
    let at = |back: usize| index.checked_sub(back).map_or(0, |index| row[index]);
    if bits == 0 { at(skip) } else { at(skip) << bits | at(skip + 1) >> (64 - bits) }
}

/// The repeating pattern in which an axis's `n` coordinates are laid out in a set's words.
#[derive(Clone, Copy)]
pub(crate) enum Axis {
    /// The coordinates are `step` bits apart, in lanes within a word. Each lane contains the whole
    /// axis, and `lanes` marks the bits at which lanes start.
    Lanes { n: usize, step: usize, lanes: u64 },
    /// The coordinates are `step` bits apart, in rows of `words` words, each of which contains the
    /// whole axis.
    Rows { n: usize, step: usize, words: usize },
    /// The coordinates are `step` words apart, in blocks of `n * step` words.
    Words { n: usize, step: usize },
}

impl Axis {
    /// Returns true if the axis is laid out in rows of several words.
    pub(crate) fn is_in_rows(&self) -> bool {
        matches!(self, Axis::Rows { .. })
    }

    /// Clears each bit unless the bit `distance` coordinates farther along the axis is also set,
    /// wrapping around on a ring. On rings and in rows of several words, `spare` must be as long as
    /// `words`.
    #[expect(clippy::inline_always, reason = "compiled for each instruction set")]
    #[inline(always)]
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
                // The bits that have a counterpart in the same lane.
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
                        // In ascending order, each step reads only words not yet overwritten.
                        for index in 0..unit {
                            row[index] &= ahead(row, index, by);
                        }
                    }
                }
            }
            Axis::Words { n, step } => {
                // The number of words in a block, and the number with a counterpart in the same
                // block.
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

    /// Finds the set bits whose neighbor on the high or low side of the axis is clear or past the
    /// end.
    pub(crate) fn without_neighbour(self, words: &[u64], out: &mut [u64], ring: bool, high: bool) {
        match self {
            Axis::Lanes { n, step, lanes } => {
                let around = step * (n - 1);
                // The bits with a neighbor on that side, and the bits at that end of the axis.
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

/// Computes the bits that are set in `words` but not in `beside`.
fn without(out: &mut [u64], words: &[u64], beside: &[u64]) {
    for ((out, word), beside) in out.iter_mut().zip(words).zip(beside) {
        *out = word & !beside;
    }
}

/// Finds the bits at one end of the axis that have no neighbor in the set. On a ring, the neighbors
/// are in `around`. On other axes, bits at the end never have a neighbor.
fn without_at_end(out: &mut [u64], words: &[u64], around: &[u64], ring: bool) {
    if ring {
        without(out, words, around);
    } else {
        out.copy_from_slice(words);
    }
}
