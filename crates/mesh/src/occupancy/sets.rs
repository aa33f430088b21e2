//! Set operations on occupancies: intersecting them, and taking or releasing whole sets of nodes.
//!
//! Invariant: an operation that fails changes nothing.
//!
//! Cost: O(N/64) per operation.

use super::{Occupancy, OccupancyError};
use crate::search::vectors::{FEW_WORDS, Kernel, Vectors};
use crate::{Cuboid, NodeId};

impl Occupancy {
    /// Intersects the free nodes with those in another occupancy for the same grid.
    ///
    /// # Errors
    /// Returns an error, and changes nothing, if the other occupancy is for another grid.
    pub fn keep(&mut self, other: &Occupancy) -> Result<(), OccupancyError> {
        if self.grid != other.grid {
            return Err(OccupancyError::OtherGrid);
        }
        self.count =
            widest(Keep { words: &mut self.words, other: &other.words }, other.words.len());
        Ok(())
    }

    /// Sets the free nodes to the intersection of `a` and `b`, which must be for the same grid.
    ///
    /// # Errors
    /// Returns an error, and changes nothing, if either occupancy is for another grid.
    pub fn set_common(&mut self, a: &Occupancy, b: &Occupancy) -> Result<(), OccupancyError> {
        if self.grid != a.grid || self.grid != b.grid {
            return Err(OccupancyError::OtherGrid);
        }
        self.count =
            widest(Common { words: &mut self.words, a: &a.words, b: &b.words }, a.words.len());
        Ok(())
    }

    /// Returns true if every node that is free in another occupancy is also free in this one.
    /// Returns false if the grids differ. Takes O(words) time.
    pub fn includes(&self, other: &Occupancy) -> bool {
        let mut pairs = self.words.iter().zip(&other.words);
        self.grid == other.grid && pairs.all(|(own, other)| other & !own == 0)
    }

    /// Takes the nodes that are free in another occupancy for the same grid. All of them must be
    /// free in this one. Takes O(words) time.
    ///
    /// # Errors
    /// Returns an error, and changes nothing, if the other occupancy is for another grid, or if any
    /// of its free nodes is not free in this one.
    pub fn take_set(&mut self, nodes: &Occupancy) -> Result<(), OccupancyError> {
        self.check_set(nodes, |own, other| other & !own, OccupancyError::NotFree)?;
        self.words.iter_mut().zip(&nodes.words).for_each(|(word, nodes)| *word &= !nodes);
        self.count -= nodes.count;
        Ok(())
    }

    /// Releases the nodes that are free in another occupancy for the same grid. None of them may be
    /// free in this one. Takes O(words) time.
    ///
    /// # Errors
    /// Returns an error, and changes nothing, if the other occupancy is for another grid, or if any
    /// of its free nodes is free in this one.
    pub fn give_set(&mut self, nodes: &Occupancy) -> Result<(), OccupancyError> {
        self.check_set(nodes, |own, other| other & own, OccupancyError::NotTaken)?;
        self.words.iter_mut().zip(&nodes.words).for_each(|(word, nodes)| *word |= nodes);
        self.count += nodes.count;
        Ok(())
    }

    /// Returns an error if the grids differ or if `wrong` returns a set bit for any node.
    fn check_set(
        &self,
        nodes: &Occupancy,
        wrong: impl Fn(u64, u64) -> u64,
        error: impl Fn(Cuboid) -> OccupancyError,
    ) -> Result<(), OccupancyError> {
        if self.grid != nodes.grid {
            return Err(OccupancyError::OtherGrid);
        }
        let pairs = || self.words.iter().zip(&nodes.words).map(|(&own, &other)| wrong(own, other));
        if pairs().fold(0, |all, wrong| all | wrong) == 0 {
            return Ok(());
        }
        let first = pairs().zip(0u32..).find(|&(wrong, _)| wrong != 0);
        let node = first.map_or(0, |(wrong, index)| 64 * index + wrong.trailing_zeros());
        Err(error(Cuboid::node(self.grid.point(NodeId(node)))))
    }
}

/// Runs a pass, using the widest vector instructions if there are enough words to benefit.
fn widest<K: Kernel<Output = u32>>(pass: K, words: usize) -> u32 {
    if words < FEW_WORDS { pass.run() } else { Vectors::widest().run(pass) }
}

/// A pass that clears the bits that are not in another set, and counts the remaining bits.
struct Keep<'a> {
    words: &'a mut [u64],
    other: &'a [u64],
}

impl Kernel for Keep<'_> {
    type Output = u32;

    #[expect(clippy::inline_always, reason = "compiled for each instruction set")]
    #[inline(always)]
    fn run(self) -> u32 {
        let pairs = self.words.iter_mut().zip(self.other);
        let kept = pairs.map(|(word, other)| {
            *word &= other;
            word.count_ones()
        });
        kept.sum()
    }
}

/// A pass that computes the intersection of two sets and counts its bits.
struct Common<'a> {
    words: &'a mut [u64],
    a: &'a [u64],
    b: &'a [u64],
}

impl Kernel for Common<'_> {
    type Output = u32;

    #[expect(clippy::inline_always, reason = "compiled for each instruction set")]
    #[inline(always)]
    fn run(self) -> u32 {
        let pairs = self.a.iter().zip(self.b);
        let common = self.words.iter_mut().zip(pairs).map(|(word, (a, b))| {
            *word = a & b;
            word.count_ones()
        });
        common.sum()
    }
}
