//! The set of free nodes, with one bit per node.
//!
//! Invariant: `count` is the number of set bits, and bits past the last node are zeros.

mod sets;

use thiserror::Error;

use crate::{Cuboid, Grid, NodeId};

/// The free nodes in a grid. The bit layout is private to this crate.
///
/// Bit `i % 64` of word `i / 64` is set if the node with row-major number `i` is free, and bits
/// past the last node are zero. Rows are not padded, so an 8x8x8 machine takes eight words, or one
/// cache line. Failed nodes are marked as not free; the machine tracks failures separately.
///
/// ```
/// # use pavior_mesh as pavior;
/// use pavior::{Cuboid, Grid, Occupancy};
/// let mut free = Occupancy::all_free(Grid::mesh(&[8, 8])?);
/// let submesh = Cuboid::new([2, 3], [4, 2]);
/// free.take(&submesh)?;
/// assert_eq!(free.count(), 56);
/// assert!(!free.is_free(&Cuboid::new([5, 4], [1, 1])));
/// free.give(&submesh)?;
/// assert!(free.is_free(&Cuboid::whole(free.grid())));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Occupancy {
    grid: Grid,
    words: Box<[u64]>,
    count: u32,
}

/// The reason why nodes cannot be taken or released.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum OccupancyError {
    /// The box is not on the grid.
    #[error("{0:?} is not on the machine")]
    Outside(Cuboid),
    /// The box contains a node that is not free.
    #[error("{0:?} is not free")]
    NotFree(Cuboid),
    /// The box contains a node that is free.
    #[error("{0:?} contains a free node")]
    NotTaken(Cuboid),
    /// The occupancies are for different grids.
    #[error("the occupancies belong to different machines")]
    OtherGrid,
}

impl Occupancy {
    /// Creates an occupancy with all nodes free.
    pub fn all_free(grid: Grid) -> Occupancy {
        let nodes = grid.nodes() as usize;
        let mut words = vec![u64::MAX; nodes.div_ceil(64)].into_boxed_slice();
        if nodes % 64 != 0 {
            words[nodes / 64] = (1 << (nodes % 64)) - 1;
        }
        Occupancy { grid, words, count: grid.nodes() }
    }

    /// Creates an occupancy with no nodes free.
    pub fn all_busy(grid: Grid) -> Occupancy {
        let words = vec![0; (grid.nodes() as usize).div_ceil(64)].into_boxed_slice();
        Occupancy { grid, words, count: 0 }
    }

    /// Copies another occupancy. Allocates no memory if both are for the same grid.
    pub fn copy_from(&mut self, other: &Occupancy) {
        if self.words.len() == other.words.len() {
            self.words.copy_from_slice(&other.words);
        } else {
            self.words.clone_from(&other.words);
        }
        (self.grid, self.count) = (other.grid, other.count);
    }

    /// Returns the grid.
    #[inline]
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// Returns the number of free nodes.
    #[inline]
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Returns true if a node is free, or false if it is busy or outside the grid.
    #[inline]
    pub fn is_node_free(&self, node: NodeId) -> bool {
        let word = self.words.get(node.index() / 64);
        word.is_some_and(|word| word >> (node.index() % 64) & 1 == 1)
    }

    /// Returns true if every node in a box is free, or false if the box is outside the grid. Reads
    /// a few words per row of the box.
    pub fn is_free(&self, cuboid: &Cuboid) -> bool {
        self.rows(cuboid).all(|(from, length)| {
            pieces(from, length)
                .all(|(word, mask)| self.words.get(word).is_some_and(|word| word & mask == mask))
        }) && cuboid.lies_on(&self.grid)
    }

    /// Returns true if a box is on the grid and none of its nodes is free. Takes O(rows of the box)
    /// time.
    pub fn is_taken(&self, cuboid: &Cuboid) -> bool {
        cuboid.lies_on(&self.grid)
            && !any_word(&self.grid, cuboid, |word, mask| self.words[word] & mask != 0)
    }

    /// Returns the number of free nodes in a box, or 0 for a box outside the grid. Takes O(rows of
    /// the box) time.
    pub fn free_in(&self, cuboid: &Cuboid) -> u32 {
        if !cuboid.lies_on(&self.grid) {
            return 0;
        }
        let mut free = 0;
        any_word(&self.grid, cuboid, |word, mask| {
            free += (self.words[word] & mask).count_ones();
            false
        });
        free
    }

    /// Marks every node in a box as not free. Takes O(rows of the box) time.
    ///
    /// # Errors
    /// Returns an error, and changes nothing, if the box is outside the grid or a node is not free.
    pub fn take(&mut self, cuboid: &Cuboid) -> Result<(), OccupancyError> {
        if !cuboid.lies_on(&self.grid) {
            return Err(OccupancyError::Outside(*cuboid));
        }
        // Check and flip the bits in one pass. If a node is busy, a second pass restores them.
        let mut clash = 0;
        self.change(cuboid, |word, mask| {
            clash |= !*word & mask;
            *word ^= mask;
        });
        if clash != 0 {
            self.change(cuboid, |word, mask| *word ^= mask);
            return Err(OccupancyError::NotFree(*cuboid));
        }
        self.count -= cuboid.volume();
        Ok(())
    }

    /// Marks every node in a box as free. Takes O(rows of the box) time.
    ///
    /// # Errors
    /// Returns an error, and changes nothing, if the box is outside the grid or a node is already
    /// free.
    pub fn give(&mut self, cuboid: &Cuboid) -> Result<(), OccupancyError> {
        if !cuboid.lies_on(&self.grid) {
            return Err(OccupancyError::Outside(*cuboid));
        }
        let mut clash = 0;
        self.change(cuboid, |word, mask| {
            clash |= *word & mask;
            *word ^= mask;
        });
        if clash != 0 {
            self.change(cuboid, |word, mask| *word ^= mask);
            return Err(OccupancyError::NotTaken(*cuboid));
        }
        self.count += cuboid.volume();
        Ok(())
    }

    /// Takes all of the boxes, or none if an error occurs.
    ///
    /// # Errors
    /// Returns the [`Occupancy::take`] error for the first box that cannot be taken once the boxes
    /// before it are taken. In that case, nothing changes.
    pub fn take_all(&mut self, boxes: &[Cuboid]) -> Result<(), OccupancyError> {
        for (index, part) in boxes.iter().enumerate() {
            if let Err(error) = self.take(part) {
                for taken in &boxes[..index] {
                    self.change(taken, |word, mask| *word |= mask);
                    self.count += taken.volume();
                }
                return Err(error);
            }
        }
        Ok(())
    }

    /// Releases all of the boxes, or none if an error occurs.
    ///
    /// # Errors
    /// Returns the [`Occupancy::give`] error for the first box that cannot be released once the
    /// boxes before it are released. In that case, nothing changes.
    pub fn give_all(&mut self, boxes: &[Cuboid]) -> Result<(), OccupancyError> {
        for (index, part) in boxes.iter().enumerate() {
            if let Err(error) = self.give(part) {
                for given in &boxes[..index] {
                    self.change(given, |word, mask| *word &= !mask);
                    self.count -= given.volume();
                }
                return Err(error);
            }
        }
        Ok(())
    }

    /// Calls `change` with each word that a box touches and the box's bits in that word.
    #[inline]
    fn change(&mut self, cuboid: &Cuboid, mut change: impl FnMut(&mut u64, u64)) {
        any_word(&self.grid, cuboid, |word, mask| {
            change(&mut self.words[word], mask);
            false
        });
    }

    /// Marks a single node as not free. Returns true if the node was free, or false if it was busy
    /// or is outside the grid.
    pub fn take_node(&mut self, node: NodeId) -> bool {
        let mask = 1 << (node.index() % 64);
        let Some(word) = self.words.get_mut(node.index() / 64) else { return false };
        let was_free = *word & mask != 0;
        *word &= !mask;
        self.count -= u32::from(was_free);
        was_free
    }

    /// Returns the free nodes in row-major order.
    pub fn iter(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.words
            .iter()
            .enumerate()
            .flat_map(|(index, &word)| Ones(word).map(move |bit| NodeId(index as u32 * 64 + bit)))
    }

    /// Returns the free state of `length` nodes (at most 64), starting at node `from`, in row-major
    /// order. The result has one bit per node, lowest first. A bit is set if its node is free, and
    /// clear if its node is busy or outside the grid.
    pub fn window(&self, from: NodeId, length: u16) -> u64 {
        let beyond = self.grid.nodes().saturating_sub(from.0);
        match u32::from(length).min(beyond).min(64) {
            0 => 0,
            length => self.bits(from, length as usize),
        }
    }

    /// Returns the bits of `length` nodes (at most 64), starting at a node, in the low bits of a
    /// word.
    pub(crate) fn bits(&self, from: NodeId, length: usize) -> u64 {
        let (word, shift) = (from.index() / 64, from.index() % 64);
        let low = self.words[word] >> shift;
        let high = match self.words.get(word + 1) {
            Some(next) if shift > 0 => next << (64 - shift),
            _ => 0,
        };
        (low | high) & (u64::MAX >> (64 - length))
    }

    /// Returns the words, with one bit per node. For use by this crate's searches.
    pub(crate) fn words(&self) -> &[u64] {
        &self.words
    }

    /// Returns a box's rows as runs, `(first node, length)`. A row that wraps yields two runs.
    fn rows(&self, cuboid: &Cuboid) -> impl Iterator<Item = (usize, usize)> + use<> {
        let (grid, cuboid) = (self.grid, *cuboid);
        let [w, d, _] = grid.sides().map(usize::from);
        let runs = cuboid.runs(&grid, 0);
        (0..cuboid.sides[2]).flat_map(move |k| {
            let plane = d * usize::from(cuboid.coordinate(&grid, 2, k));
            (0..cuboid.sides[1]).flat_map(move |j| {
                let row = w * (plane + usize::from(cuboid.coordinate(&grid, 1, j)));
                let of = move |run: (u16, u16)| (row + usize::from(run.0), usize::from(run.1));
                [of(runs[0]), of(runs[1])].into_iter().filter(|&(_, length)| length > 0)
            })
        })
    }
}

/// Calls `see` for each word that a box touches, until `see` returns true. Passes the word's index
/// and the box's bits in that word. Returns true if any call did. The box must be on the grid.
#[inline]
fn any_word(grid: &Grid, cuboid: &Cuboid, mut see: impl FnMut(usize, u64) -> bool) -> bool {
    debug_assert!(cuboid.lies_on(grid), "{cuboid:?} is not on {grid}");
    let [w, d, _] = grid.sides().map(usize::from);
    let is_short = w <= 32 && w.is_power_of_two();
    cuboid.unwrapped(grid).any(|piece| {
        let ([x, y, z], [a, b, c]) = (piece.base.map(usize::from), piece.sides.map(usize::from));
        let row = u64::MAX >> 64_usize.saturating_sub(a);
        (z..z + c).any(|plane| {
            let from = w * (y + d * plane);
            if is_short {
                // Every word contains whole rows, so rows start at the same bits in each word.
                let rows = repeated(w) * (row << x);
                return pieces(from, w * b).any(|(word, mask)| see(word, rows & mask));
            }
            (0..b).any(|line| {
                let from = from + x + w * line;
                let (word, shift) = (from / 64, from % 64);
                if shift + a <= 64 {
                    see(word, row << shift)
                } else {
                    pieces(from, a).any(|(word, mask)| see(word, mask))
                }
            })
        })
    })
}

/// Returns a word with every `length`-th bit set, starting with bit 0. `length` is a power of two
/// up to 64.
#[inline]
pub(crate) fn repeated(length: usize) -> u64 {
    const REPEATED: [u64; 7] = [
        u64::MAX,
        0x5555_5555_5555_5555,
        0x1111_1111_1111_1111,
        0x0101_0101_0101_0101,
        0x0001_0001_0001_0001,
        0x0000_0001_0000_0001,
        1,
    ];
    REPEATED[length.trailing_zeros() as usize]
}

/// Returns the index of each word that a run of bits touches, with a mask of the run's bits in that
/// word.
fn pieces(from: usize, length: usize) -> impl Iterator<Item = (usize, u64)> {
    let end = from + length;
    (from / 64..end.div_ceil(64)).map(move |word| {
        let low = from.max(word * 64) - word * 64;
        let high = end.min(word * 64 + 64) - word * 64;
        (word, (u64::MAX >> (64 - (high - low))) << low)
    })
}

/// The positions of a word's set bits, in ascending order.
pub(crate) struct Ones(pub(crate) u64);

impl Iterator for Ones {
    type Item = u32;
    fn next(&mut self) -> Option<u32> {
        if self.0 == 0 {
            return None;
        }
        let bit = self.0.trailing_zeros();
        self.0 &= self.0 - 1;
        Some(bit)
    }
}
