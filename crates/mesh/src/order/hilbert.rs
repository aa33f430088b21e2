//! The Hilbert curve.
//!
//! ```text
//!   4x4    15 12 11 10     every quarter is a smaller curve, rotated so that
//!          14 13  8  9     it ends next to the start of the following one
//!           1  2  7  6
//!           0  3  4  5
//! ```
//!
//! Nodes are sorted by their position on the curve through the enclosing power-of-two square or
//! cube. A node's position is computed from its coordinates alone (Skilling, "Programming the
//! Hilbert curve", AIP Conference Proceedings 707, 2004), and positions outside the grid are never
//! visited. Like any other grid, a 65535x2 grid therefore costs O(N log N), rather than as much as
//! a 65536x65536 square. On a power-of-two square or cube, every step leads to a neighbor. On other
//! grids, the curve jumps where it leaves the grid.

use super::{interleave, row_major, sort_by_key};
use crate::{Grid, NodeId};

/// Returns the nodes along a Hilbert curve, starting at node 0. If only one axis is longer than 1,
/// the nodes follow that axis.
///
/// ```
/// use pavior_mesh::{Grid, order};
/// let nodes: Vec<u32> = order::hilbert(&Grid::mesh(&[4, 2])?).iter().map(|n| n.0).collect();
/// assert_eq!(nodes, [0, 4, 5, 1, 2, 3, 7, 6]);
/// # Ok::<(), pavior_mesh::GridError>(())
/// ```
pub fn hilbert(grid: &Grid) -> Vec<NodeId> {
    let mut nodes = row_major(grid);
    sort_hilbert(grid, &mut nodes);
    nodes
}

/// Sorts a subset of a grid's nodes into [`hilbert`] order without visiting the other nodes. Takes
/// O(n log n) time for n nodes.
///
/// ```
/// use pavior_mesh::{Grid, NodeId, order};
/// let mut nodes = [NodeId(1), NodeId(4), NodeId(5), NodeId(6)];
/// order::sort_hilbert(&Grid::mesh(&[4, 2])?, &mut nodes);
/// assert_eq!(nodes, [NodeId(4), NodeId(5), NodeId(1), NodeId(6)]);
/// # Ok::<(), pavior_mesh::GridError>(())
/// ```
pub fn sort_hilbert(grid: &Grid, nodes: &mut [NodeId]) {
    let long: Vec<usize> = (0..3).rev().filter(|&axis| grid.side(axis) > 1).collect();
    if long.len() < 2 {
        return nodes.sort_unstable();
    }
    sort_by_key(grid, nodes, |point, bits| {
        let mut transposed = [0; 3];
        for (slot, &axis) in long.iter().enumerate() {
            transposed[slot] = u32::from(point[axis]);
        }
        transpose(&mut transposed[..long.len()], bits);
        transposed.reverse();
        interleave(transposed, bits)
    });
}

/// Computes Skilling's transposed index, in which the index bits are distributed over the axes in
/// turn, starting with axis 0.
fn transpose(axes: &mut [u32], bits: u32) {
    for bit in (1..bits).rev() {
        // Undo the rotation and reflection of the quadrant selected by the higher bits.
        let (mask, low) = (1 << bit, (1 << bit) - 1);
        for axis in 0..axes.len() {
            if axes[axis] & mask != 0 {
                axes[0] ^= low;
            } else {
                let swapped = (axes[0] ^ axes[axis]) & low;
                axes[0] ^= swapped;
                axes[axis] ^= swapped;
            }
        }
    }
    for axis in 1..axes.len() {
        axes[axis] ^= axes[axis - 1];
    }
    let last = axes[axes.len() - 1];
    let flips =
        (1..bits).filter(|bit| last >> bit & 1 == 1).fold(0, |all, bit| all ^ ((1 << bit) - 1));
    for axis in axes {
        *axis ^= flips;
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{is_permutation, jumps, matrix};
    use super::*;

    #[test]
    fn on_powers_of_two_every_step_leads_to_a_neighbour() {
        for t in 0..=6 {
            let grid = Grid::mesh(&[1 << t, 1 << t]).unwrap();
            assert_eq!(jumps(&grid, &hilbert(&grid)), 0, "{grid}");
        }
        for t in 0..=4 {
            let grid = Grid::mesh(&[1 << t, 1 << t, 1 << t]).unwrap();
            assert_eq!(jumps(&grid, &hilbert(&grid)), 0, "{grid}");
        }
        let upright = Grid::mesh(&[8, 1, 8]).unwrap();
        assert_eq!(jumps(&upright, &hilbert(&upright)), 0);
    }

    #[test]
    fn the_matrix_of_the_header() {
        let grid = Grid::mesh(&[4, 4]).unwrap();
        let expected = [[0, 3, 4, 5], [1, 2, 7, 6], [14, 13, 8, 9], [15, 12, 11, 10]];
        assert_eq!(matrix(&grid, &hilbert(&grid)), expected);
    }

    #[test]
    fn every_grid_is_visited_once() {
        for sides in [[1, 1, 1], [7, 1, 1], [1, 5, 1], [5, 3, 1], [13, 7, 1], [5, 4, 6], [3, 1, 9]]
        {
            let grid = Grid::mesh(&sides).unwrap();
            assert!(is_permutation(&grid, &hilbert(&grid)), "{grid}");
        }
        let long = Grid::mesh(&[65535, 2]).unwrap();
        let order = hilbert(&long);
        assert!(is_permutation(&long, &order));
        // The curve must visit all of a 2x2 square before leaving it.
        let squares = order.chunks(4).take(100);
        assert!(squares.into_iter().all(|four| {
            four.iter().all(|&node| long.point(node)[0] / 2 == long.point(four[0])[0] / 2)
        }));
    }
}
