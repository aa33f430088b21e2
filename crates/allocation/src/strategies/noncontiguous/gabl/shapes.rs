//! GABL's shapes: the one that a sequence begins at, and how it shrinks.
//!
//! ```text
//!   3x2  ->  2x2  ->  1x2  ->  1x1      one node off a longest side each time; of equal sides,
//!                                       here, the first
//! ```
//!
//! Invariant: the last shape is the single node.
//!
//! Cost: O(1) a shape; O(a + b + c) shapes from a x b x c, and to find a near-cubic box.

use pavior_mesh::{Grid, Sides, volume};

/// The shapes of a machine's requests.
#[derive(Clone, Copy)]
pub(super) struct Shapes {
    grid: Grid,
    /// Whether the last of equally long sides shrinks.
    last_of_ties: bool,
}

impl Shapes {
    /// Shapes that shrink on the first or the last of equally long sides.
    pub(super) fn new(grid: Grid, last_of_ties: bool) -> Shapes {
        Shapes { grid, last_of_ties }
    }

    /// A shape, and those that it shrinks to.
    pub(super) fn from(self, shape: Sides) -> impl Iterator<Item = Sides> + Clone {
        std::iter::successors(Some(shape), move |&shape| self.shrunk(shape))
    }

    /// A shape without a node of its longest side; none of a single node.
    fn shrunk(self, mut shape: Sides) -> Option<Sides> {
        let longest = shape.into_iter().max().filter(|&side| side > 1)?;
        let is_longest = |axis: &usize| shape[*axis] == longest;
        let mut axes = 0..3;
        let axis = if self.last_of_ties { axes.rfind(is_longest) } else { axes.find(is_longest) };
        shape[axis?] -= 1;
        Some(shape)
    }

    /// A near-cubic box that fits the grid and has at least so many nodes.
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
