//! The costs of a shape's placements. Each box with a cost (a *place*) adds its cost to all
//! placements that overlap it.
//!
//! The bases of the placements that overlap a place form a box. The table stores differences: each
//! place changes only the corners of its box of bases. One pass per axis then turns the differences
//! into costs.
//!
//! ```text
//!   bases of placements:         0 1 2 3 4 5       cost 7 for 1 to 3
//!   differences:                 . + . . - .       +7 at 1, -7 at 4
//! ```
//!
//! On a ring, a box that crosses 0 is split in two, and the second part begins at 0.
//!
//! Cost: O(sum of the sides) per shape; at most 27 cells per place (usually 4 in two dimensions and
//! 8 in three); O(N) for the passes; O(1) per placement.

use pavior_mesh::{BaseSet, Coordinates, Cuboid, Grid, Sides};

use crate::strategies::shared::bit_set::ones;
use crate::strategies::shared::coverage::covered;

#[derive(Clone, Debug)]
pub(crate) struct MeetingCosts {
    grid: Grid,
    /// The shape of the placements.
    placed: Sides,
    /// For each node, a difference or, once [`MeetingCosts::sum`] has been called, a cost.
    cells: Vec<i64>,
    /// Scratch space, indexed by axis and by a place's base on that axis.
    steps: [Vec<Steps>; 3],
}

/// The coordinates on an axis at which placements start and stop overlapping a place.
#[derive(Clone, Copy, Debug, Default)]
struct Steps {
    count: usize,
    /// Each coordinate's cell offset from coordinate 0, and whether the overlap stops there.
    all: [(usize, bool); 3],
}

impl MeetingCosts {
    pub(crate) fn new(grid: Grid) -> MeetingCosts {
        MeetingCosts { grid, placed: [1; 3], cells: Vec::new(), steps: Default::default() }
    }

    /// Starts a table for the placements of a shape that fits the grid. All costs start at 0.
    pub(crate) fn begin(&mut self, placed: Sides) {
        self.placed = placed;
        self.cells.clear();
        self.cells.resize(self.grid.nodes() as usize, 0);
    }

    /// Adds, at each base in a set, a place with the set's shape and the given cost.
    pub(crate) fn add(&mut self, places: &BaseSet, cost: i64) {
        let mut stride = 1;
        for axis in 0..3 {
            let steps = &mut self.steps[axis];
            steps.clear();
            for start in 0..self.grid.starts(axis, places.shape()[axis]) {
                let (mut base, side) = ([0; 3], places.shape());
                base[axis] = start;
                let at = Cuboid::new(base, side);
                steps.push(Steps::new(&self.grid, axis, &at, self.placed[axis], stride));
            }
            stride *= usize::from(self.grid.side(axis));
        }
        for (index, &word) in places.words().iter().enumerate() {
            for bit in ones(word) {
                self.add_place(places.point(index, bit), cost);
            }
        }
    }

    fn add_place(&mut self, base: Coordinates, cost: i64) {
        let [xs, ys, zs]: [&Steps; 3] =
            std::array::from_fn(|axis| &self.steps[axis][usize::from(base[axis])]);
        for &(plane, of_plane) in zs.all() {
            for &(row, of_row) in ys.all() {
                for &(column, of_column) in xs.all() {
                    let cost = if of_plane ^ of_row ^ of_column { -cost } else { cost };
                    self.cells[plane + row + column] += cost;
                }
            }
        }
    }

    /// Turns the differences into costs. Call this after adding the last place.
    pub(crate) fn sum(&mut self) {
        let [w, d, h] = self.grid.sides().map(usize::from);
        for row in self.cells.chunks_exact_mut(w) {
            let mut sum = 0;
            for cell in row {
                sum += *cell;
                *cell = sum;
            }
        }
        for plane in self.cells.chunks_exact_mut(w * d) {
            sum_lines(plane, w);
        }
        if h > 1 {
            sum_lines(&mut self.cells, w * d);
        }
    }

    /// Returns the cost of the placement at a base.
    pub(crate) fn of(&self, [x, y, z]: Coordinates) -> i64 {
        let [w, d, _] = self.grid.sides().map(usize::from);
        self.cells[usize::from(x) + w * (usize::from(y) + d * usize::from(z))]
    }
}

/// Adds each line to the next, so that each line ends up as the sum of all lines up to it.
fn sum_lines(cells: &mut [i64], length: usize) {
    for at in (length..cells.len()).step_by(length) {
        let (before, line) = cells[at - length..at + length].split_at_mut(length);
        line.iter_mut().zip(before).for_each(|(cell, before)| *cell += *before);
    }
}

impl Steps {
    fn new(grid: &Grid, axis: usize, place: &Cuboid, side: u16, stride: usize) -> Steps {
        let mut steps = Steps::default();
        for span in covered(grid, axis, place, side).into_iter().flatten() {
            steps.add(usize::from(span.low) * stride, false);
            if span.high + 1 < grid.side(axis) {
                steps.add(usize::from(span.high + 1) * stride, true);
            }
        }
        steps
    }

    fn add(&mut self, offset: usize, ceases: bool) {
        self.all[self.count] = (offset, ceases);
        self.count += 1;
    }

    fn all(&self) -> &[(usize, bool)] {
        &self.all[..self.count]
    }
}
