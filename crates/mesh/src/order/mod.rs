//! Node orders: row-major, snake, Hilbert, and the shuffled orders used by Paging.
//!
//! An order is a list of all nodes in a grid. A node's rank is its position in the list. Orders
//! ignore wrapping.

mod hilbert;
mod shuffled;

use crate::{Coordinates, Grid, NodeId};

pub use hilbert::{hilbert, sort_hilbert};
pub use shuffled::{quadrant_snake, shuffled_row_major, shuffled_snake};

/// Returns the nodes in row-major order, with x varying fastest, then y, then z.
pub fn row_major(grid: &Grid) -> Vec<NodeId> {
    (0..grid.nodes()).map(NodeId).collect()
}

/// Returns the nodes in snake (boustrophedon) order. Every second row runs backward, and every
/// second plane has its rows in reverse order, so consecutive nodes are always adjacent.
///
/// ```
/// use pavior_mesh::{Grid, order};
/// let nodes: Vec<u32> = order::snake(&Grid::mesh(&[3, 2])?).iter().map(|n| n.0).collect();
/// assert_eq!(nodes, [0, 1, 2, 5, 4, 3]);
/// # Ok::<(), pavior_mesh::GridError>(())
/// ```
pub fn snake(grid: &Grid) -> Vec<NodeId> {
    let [w, d, h] = grid.sides();
    let mut nodes = Vec::with_capacity(grid.nodes() as usize);
    let mut row = 0u32;
    for z in 0..h {
        for j in 0..d {
            let y = if z % 2 == 0 { j } else { d - 1 - j };
            for i in 0..w {
                let x = if row % 2 == 0 { i } else { w - 1 - i };
                nodes.push(grid.id([x, y, z]));
            }
            row += 1;
        }
    }
    nodes
}

/// Returns the nodes sorted by ascending key (see [`sort_by_key`]).
fn by_key(grid: &Grid, key: impl Fn(Coordinates, u32) -> u64) -> Vec<NodeId> {
    let mut nodes = row_major(grid);
    sort_by_key(grid, &mut nodes, key);
    nodes
}

/// Sorts nodes by ascending key. The key is a function of the coordinates and of the number of bits
/// per coordinate (`enclosing_bits`). Points outside the grid leave no gaps in the sorted order.
fn sort_by_key(grid: &Grid, nodes: &mut [NodeId], key: impl Fn(Coordinates, u32) -> u64) {
    let bits = enclosing_bits(grid);
    nodes.sort_by_cached_key(|&node| (key(grid.point(node), bits), node));
}

/// Returns the number of bits per coordinate (at most 16) in the smallest power-of-two square or
/// cube that contains the grid.
fn enclosing_bits(grid: &Grid) -> u32 {
    let longest = *grid.sides().iter().max().expect("three sides");
    u32::from(longest).next_power_of_two().ilog2()
}

/// Interleaves the bits of the coordinates. The last axis is the most significant in each group.
fn interleave(point: [u32; 3], bits: u32) -> u64 {
    let group = |bit: u32| point.iter().rev().fold(0, |digit, c| digit << 1 | (c >> bit & 1));
    (0..bits).rev().fold(0, |key, bit| key << 3 | u64::from(group(bit)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns an order's index matrix as printed in the literature, with y = 0 in the top row.
    pub(super) fn matrix(grid: &Grid, order: &[NodeId]) -> Vec<Vec<usize>> {
        let mut rows = vec![vec![0; usize::from(grid.side(0))]; usize::from(grid.side(1))];
        for (rank, &node) in order.iter().enumerate() {
            let [x, y, _] = grid.point(node).map(usize::from);
            rows[y][x] = rank;
        }
        rows
    }

    pub(super) fn is_permutation(grid: &Grid, order: &[NodeId]) -> bool {
        let mut sorted = order.to_vec();
        sorted.sort();
        sorted == row_major(grid)
    }

    /// Counts the steps in an order that do not lead to a neighbor.
    pub(super) fn jumps(grid: &Grid, order: &[NodeId]) -> usize {
        let far = |pair: &&[NodeId]| grid.distance(grid.point(pair[0]), grid.point(pair[1])) != 1;
        order.windows(2).filter(far).count()
    }

    #[test]
    fn a_snake_visits_every_node_once_and_steps_to_neighbours() {
        for sides in [[1, 1, 1], [5, 1, 1], [4, 3, 1], [3, 3, 3], [4, 3, 2], [2, 4, 5]] {
            let grid = Grid::mesh(&sides).unwrap();
            let nodes = snake(&grid);
            assert_eq!(jumps(&grid, &nodes), 0, "{grid}");
            assert!(is_permutation(&grid, &nodes), "{grid}");
        }
    }
}
