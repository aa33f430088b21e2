//! The box around a center, and the shells of nodes around that box. All of MC's searches use them.
//!
//! ```text
//!   2 2 2 2 2 2      box 0 for a 2x1 shape; each shell is one node wide
//!   2 1 1 1 1 2
//!   2 1 0 0 1 2
//!   2 1 1 1 1 2
//! ```
//!
//! Invariant: the box grown by k shells contains the shells 0 to k, clipped to the grid. A side
//! that would overlap itself on a ring becomes the whole ring.
//!
//! Cost: O(1).

use pavior_mesh::{Coordinates, Cuboid, Grid, Sides};

/// The nodes that a center offers, described by their shells, and the cost of these nodes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Offer {
    /// The sum of the offered nodes' shell numbers.
    pub(super) cost: u64,
    /// The number of the last shell from which the center takes nodes.
    pub(super) last: u32,
    /// The number of free nodes in the shells before the last one. All of these nodes are taken.
    pub(super) free_inside: u32,
}

/// Returns the cost of a center with no busy nodes around it. No center can be cheaper.
pub(super) fn least_cost(grid: &Grid, shape: Sides, nodes: u32) -> u64 {
    let within = |shells: u64| -> u64 {
        let side = |axis: usize| {
            let n = u64::from(grid.side(axis));
            (u64::from(shape[axis]).min(n) + 2 * shells).min(n)
        };
        (0..3).map(side).product()
    };
    let short = |shells| u64::from(nodes).saturating_sub(within(shells));
    (0..=u64::from(u16::MAX)).map(short).take_while(|&short| short > 0).sum()
}

/// The box around a center.
#[derive(Clone, Copy, Debug)]
pub(super) struct Core {
    pub(super) grid: Grid,
    pub(super) centre: Coordinates,
    pub(super) sides: Sides,
}

impl Core {
    /// Creates the box for a shape. A side longer than its axis counts as the whole axis.
    pub(super) fn new(grid: Grid, centre: Coordinates, shape: Sides) -> Core {
        let sides = std::array::from_fn(|axis| shape[axis].min(grid.side(axis)));
        Core { grid, centre, sides }
    }

    /// Returns the lowest coordinate of the box, which may be outside the grid.
    pub(super) fn low(&self, axis: usize) -> i32 {
        i32::from(self.centre[axis]) - i32::from((self.sides[axis] - 1) / 2)
    }

    /// Returns the box grown by a number of shells, clipped to the grid.
    pub(super) fn grown(&self, shells: u32) -> Cuboid {
        let mut cuboid = Cuboid::whole(&self.grid);
        for axis in 0..3 {
            let n = i32::from(self.grid.side(axis));
            let low = self.low(axis) - shells as i32;
            let end = self.low(axis) + i32::from(self.sides[axis]) + shells as i32;
            if !self.grid.wraps(axis) {
                cuboid.base[axis] = low.max(0) as u16;
                cuboid.sides[axis] = (end.min(n) - low.max(0)) as u16;
            } else if end - low < n {
                cuboid.base[axis] = low.rem_euclid(n) as u16;
                cuboid.sides[axis] = (end - low) as u16;
            }
        }
        cuboid
    }

    /// Returns the number of the shell that contains a node. The box itself is shell 0.
    pub(super) fn shell(&self, point: Coordinates) -> u32 {
        let distance = |axis: usize| {
            let (n, side) = (i32::from(self.grid.side(axis)), i32::from(self.sides[axis]));
            let offset = i32::from(point[axis]) - self.low(axis);
            if !self.grid.wraps(axis) {
                return (-offset).max(offset - side + 1).max(0);
            }
            let offset = offset.rem_euclid(n);
            if offset < side { 0 } else { (offset - side + 1).min(n - offset) }
        };
        (0..3).map(distance).max().expect("three axes") as u32
    }
}
