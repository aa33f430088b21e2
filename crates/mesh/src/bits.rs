//! Sets of nodes as bits, laid out so that shifting the bits moves nodes along an axis.
//!
//! Rows along x start at multiples of the pitch. For rows of up to 64 nodes, the pitch is the next
//! power of two, so short rows share a word. Each longer row starts on a new word, as does each
//! plane.
//!
//! ```text
//!   rows of 5, pitch 8:   . . . 44444 . . . 33333 . . . 22222 . . . 11111
//! ```
//!
//! Invariant: the bits between rows and after each plane are zeros.
//!
//! Cost: O(words touched) per operation.

mod axis;

use crate::occupancy::repeated;
use crate::{Coordinates, Cuboid, Grid, NodeId, Occupancy};

pub(crate) use axis::Axis;
use axis::ahead;

/// The bit positions of a grid's nodes in the words of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    grid: Grid,
    /// The number of bits from the start of one row to the start of the next.
    pitch: usize,
    /// The number of words per plane.
    plane: usize,
    /// A mask that marks the start of every row in a word.
    rows: u64,
}

/// Returns a mask of the lowest `count` bits (at most 64).
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

    pub(crate) fn words(&self) -> usize {
        self.plane * usize::from(self.grid.side(2))
    }

    /// Returns the number of words per row, or 1 if short rows share a word.
    pub(crate) fn row_words(&self) -> usize {
        self.pitch.div_ceil(64)
    }

    /// Returns the node represented by a bit.
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

    /// Returns the index of the word that contains a node, and the node's bit within it.
    #[inline]
    pub(crate) fn bit(&self, [x, y, z]: Coordinates) -> (usize, usize) {
        let at = self.pitch * usize::from(y) + usize::from(x);
        (self.plane * usize::from(z) + at / 64, at % 64)
    }

    /// Returns word `index` of a row after shifting the row by `step` toward its start.
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

    /// Writes the free nodes to `words` in this layout.
    pub(crate) fn load(&self, free: &Occupancy, words: &mut [u64]) {
        let [w, d, h] = self.grid.sides().map(usize::from);
        if self.pitch == w && (h == 1 || d * w % 64 == 0) {
            words.copy_from_slice(free.words());
            return;
        }
        if self.pitch == 64 {
            load_rows(free, w, words);
            return;
        }
        words.fill(0);
        self.load_piece(free, &Cuboid::whole(&self.grid), [0; 3], words);
    }

    /// Writes the free nodes of a box on another grid to `words`, starting at the box's base.
    /// `self` is the layout of the box.
    pub(crate) fn load_box(&self, free: &Occupancy, cuboid: &Cuboid, words: &mut [u64]) {
        words.fill(0);
        let grid = free.grid();
        let mut z_end = 0;
        for (z, planes) in cuboid.runs(grid, 2) {
            let mut y_end = 0;
            for (y, rows) in cuboid.runs(grid, 1) {
                let mut x_end = 0;
                for (x, columns) in cuboid.runs(grid, 0) {
                    let piece = Cuboid::new([x, y, z], [columns, rows, planes]);
                    self.load_piece(free, &piece, [x_end, y_end, z_end], words);
                    x_end += usize::from(columns);
                }
                y_end += usize::from(rows);
            }
            z_end += usize::from(planes);
        }
    }

    /// Writes a box's free nodes to `words`, starting at the point `to`. The box must not wrap.
    fn load_piece(&self, free: &Occupancy, piece: &Cuboid, to: [usize; 3], words: &mut [u64]) {
        let ([x, y, z], [w, d, h]) = (piece.base.map(usize::from), piece.sides.map(usize::from));
        let [width, depth, _] = free.grid().sides().map(usize::from);
        for skipped in (0..w).step_by(64) {
            let length = (w - skipped).min(64);
            for plane in 0..h {
                let mut from = x + skipped + width * (y + depth * (z + plane));
                let mut at =
                    64 * self.plane * (to[2] + plane) + self.pitch * to[1] + to[0] + skipped;
                for _ in 0..d {
                    let bits = free.bits(NodeId(from as u32), length);
                    words[at / 64] |= bits << (at % 64);
                    // On a ring, the piece after the wrap may start mid-word and spill into the
                    // next word.
                    if at % 64 + length > 64 {
                        words[at / 64 + 1] |= bits >> (64 - at % 64);
                    }
                    (from, at) = (from + width, at + self.pitch);
                }
            }
        }
    }

    /// Calls `see` for each word that a box touches, until `see` returns true. Passes the word's
    /// index and the box's bits in that word. Returns true if any call did. The box must not wrap.
    #[inline]
    fn until(&self, piece: &Cuboid, mut see: impl FnMut(usize, u64) -> bool) -> bool {
        let ([x, y, z], [a, b, c]) = (piece.base.map(usize::from), piece.sides.map(usize::from));
        if self.pitch < 64 {
            // The range of bits from the start of the first row to the end of the last row.
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

    /// Counts the nodes in a box that belong to a set.
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

    /// Returns true if any node in a box is in a set. The box must not wrap.
    pub(crate) fn any(&self, words: &[u64], cuboid: &Cuboid) -> bool {
        self.until(cuboid, |word, mask| words[word] & mask != 0)
    }

    /// Removes a box's nodes from a set.
    pub(crate) fn clear(&self, words: &mut [u64], cuboid: &Cuboid) {
        for piece in cuboid.unwrapped(&self.grid) {
            self.until(&piece, |word, mask| {
                words[word] &= !mask;
                false
            });
        }
    }

    /// Computes the columns that a set's nodes occupy. Column x is bit x % 64 of word x / 64.
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

    /// Returns the layout of an axis within the words.
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

/// Lays out rows of `length` nodes (at most 64), one word per row.
fn load_rows(free: &Occupancy, length: usize, words: &mut [u64]) {
    let (nodes, mask) = (free.words(), low(length));
    // For the last rows, word `index + 1` may not exist.
    let inner = ((64 * nodes.len()).saturating_sub(128) / length).min(words.len());
    let mut from = 0;
    for word in &mut words[..inner] {
        let (index, shift) = (from / 64, from % 64);
        // Shift in two steps, because a row at a word boundary needs a shift by 64 bits.
        *word = (nodes[index] >> shift | nodes[index + 1] << 1 << (63 - shift)) & mask;
        from += length;
    }
    for word in &mut words[inner..] {
        *word = free.bits(NodeId(from as u32), length);
        from += length;
    }
}
