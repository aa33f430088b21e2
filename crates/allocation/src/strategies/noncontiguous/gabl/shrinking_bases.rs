//! The bases of all shapes in GABL's shrinking sequence, computed from the smallest shape up.
//!
//! Each shape is one node shorter than the previous one along one of its longest sides. A base of
//! the smaller shape is also a base of the larger one if the next node along that axis is also a
//! base of the smaller shape. One pass over the words therefore computes the larger shape's set
//! from the smaller one's:
//!
//! ```text
//!   bases of 2x1:   b b . b        next neighbor too:    bases of 3x1:   b . . .
//! ```
//!
//! Invariant: a shape that fits nowhere ends the search, because no larger shape fits either.
//!
//! Cost: O(N/64) per shape.

use pavior_mesh::{BaseSet, Grid, Occupancy, Sides, ascending, orientations};

use crate::strategies::shared::turning::Turn;

/// Sets of bases. They are scratch space, so a clone starts out empty.
#[derive(Debug, Default)]
pub(crate) struct ShrinkingBases {
    /// The shapes, largest first.
    shapes: Vec<Sides>,
    /// The nonempty sets, starting with those for the smallest shape. Each shape's sets are in
    /// orientation order.
    sets: Vec<BaseSet>,
    /// The number of sets that the current query uses.
    used: usize,
    touched: u64,
}

impl Clone for ShrinkingBases {
    fn clone(&self) -> ShrinkingBases {
        ShrinkingBases { touched: self.touched, ..ShrinkingBases::default() }
    }
}

impl ShrinkingBases {
    /// Finds the bases for a sequence of shapes ending in a single node. At least one node must be
    /// free.
    pub(crate) fn load(
        &mut self,
        free: &Occupancy,
        sequence: impl Iterator<Item = Sides>,
        turn: Turn,
    ) {
        let grid = *free.grid();
        self.shapes.clear();
        self.shapes.extend(sequence);
        self.used = 0;
        let single = self.next_set(grid);
        single.compute(free, [1; 3]);
        let mut smaller = 0..1;
        for index in (0..self.shapes.len().saturating_sub(1)).rev() {
            let first = self.used;
            for shape in oriented(self.shapes[index], turn).filter(|&shape| grid.fits(shape)) {
                self.add_grown(grid, shape, smaller.clone());
            }
            if self.used == first {
                return;
            }
            smaller = first..self.used;
        }
    }

    /// Adds a shape's set of bases if it is not empty. From `smaller`, takes a set whose shape is
    /// one node shorter along one axis, and grows a copy of that set along that axis.
    fn add_grown(&mut self, grid: Grid, shape: Sides, smaller: std::ops::Range<usize>) {
        let grown = smaller.into_iter().find_map(|index| {
            let less = self.sets[index].shape();
            let axis = (0..3).find(|&axis| less[axis] + 1 == shape[axis])?;
            (0..3)
                .all(|other| other == axis || less[other] == shape[other])
                .then_some((index, axis))
        });
        let Some((index, axis)) = grown else { return };
        self.next_set(grid);
        let (lower, upper) = self.sets.split_at_mut(self.used - 1);
        upper[0].take(&lower[index]);
        self.touched += upper[0].words().len() as u64;
        if !upper[0].grow(axis) {
            self.used -= 1;
        }
    }

    /// Returns an unused set, reusing memory from an earlier query if possible.
    fn next_set(&mut self, grid: Grid) -> &mut BaseSet {
        if self.sets.len() == self.used {
            self.sets.push(BaseSet::new(grid));
        }
        self.used += 1;
        &mut self.sets[self.used - 1]
    }

    /// Returns the nonempty sets in the order in which their shapes are tried: largest first, with
    /// each shape's orientations in order.
    pub(crate) fn sets(&mut self) -> impl Iterator<Item = &mut BaseSet> {
        let sets = &mut self.sets[..self.used];
        // Each shape's sets are in orientation order.
        sets.chunk_by_mut(|a, b| ascending(a.shape()) == ascending(b.shape())).rev().flatten()
    }

    /// Returns the number of words processed.
    pub(crate) fn words_touched(&self) -> u64 {
        self.touched
    }
}

fn oriented(shape: Sides, turn: Turn) -> impl Iterator<Item = Sides> {
    let count = if turn == Turn::All { 6 } else { 1 };
    orientations(shape).take(count)
}
