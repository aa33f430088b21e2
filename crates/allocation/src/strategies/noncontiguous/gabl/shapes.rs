//! GABL's shapes: the first shape in each sequence, and the rule for shrinking shapes.
//!
//! ```text
//!   3x2  ->  2x2  ->  1x2  ->  1x1      the longest side loses one node each time;
//!                                       if several are longest, here the first one
//! ```
//!
//! Invariant: the last shape is a single node.
//!
//! Cost: O(1) per shape, and O(a + b + c) for a sequence from a x b x c, or for a near-cubic box.

use pavior_mesh::{Grid, Sides, volume};

/// Generates the sequences of shapes to try for requests on a machine.
#[derive(Clone, Copy)]
pub(super) struct Shapes {
    grid: Grid,
    /// True if, among several longest sides, the last one shrinks rather than the first.
    last_of_ties: bool,
}

impl Shapes {
    /// Creates shapes for a grid. `last_of_ties` determines which of several longest sides shrinks.
    pub(super) fn new(grid: Grid, last_of_ties: bool) -> Shapes {
        Shapes { grid, last_of_ties }
    }

    /// Returns a shape, followed by the shapes that result from shrinking it.
    pub(super) fn from(self, shape: Sides) -> impl Iterator<Item = Sides> + Clone {
        std::iter::successors(Some(shape), move |&shape| self.shrunk(shape))
    }

    /// Removes one node from the longest side of a shape. Returns `None` for a single node.
    fn shrunk(self, mut shape: Sides) -> Option<Sides> {
        let longest = shape.into_iter().max().filter(|&side| side > 1)?;
        let is_longest = |axis: &usize| shape[*axis] == longest;
        let mut axes = 0..3;
        let axis = if self.last_of_ties { axes.rfind(is_longest) } else { axes.find(is_longest) };
        shape[axis?] -= 1;
        Some(shape)
    }

    /// Returns a near-cubic box that fits the grid and has at least `nodes` nodes.
    pub(super) fn near_cubic(self, nodes: u32) -> Sides {
        let mut shape: Sides = [1; 3];
        while volume(shape) < u64::from(nodes) {
            let axis = (0..3)
                .filter(|&axis| shape[axis] < self.grid.side(axis))
                .min_by_key(|&axis| shape[axis])
                .expect("the count does not exceed the machine's");
            shape[axis] += 1;
        }
        shape
    }
}
