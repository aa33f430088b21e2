//! Paging's shuffled orders (Lo et al. 1997), which interleave the bits of the coordinates.
//!
//! ```text
//!   shuffled row-major   shuffled snake      quadrant snake        (y = 0 is the first line)
//!    0  1  4  5           0  1  4  5          0  1  4  5
//!    2  3  6  7           7  6  3  2          3  2  7  6
//!    8  9 12 13           8  9 12 13         12 13  8  9
//!   10 11 14 15          15 14 11 10         15 14 11 10
//! ```
//!
//! The literature contains a drawing of the first order (Z-order). It also mentions a "shuffled
//! snake-like" order but, as far as we know, does not define it; the other two orders and
//! [`hilbert`](fn@super::hilbert) are candidates. On a grid whose sides are not equal powers of
//! two, nodes are ordered by their index in the enclosing power-of-two square or cube.

use super::{by_key, interleave};
use crate::{Grid, NodeId};

/// Returns the nodes in Z-order, sorted by the interleaved bits of z, y and x.
///
/// ```
/// use pavior_mesh::{Grid, order};
/// let nodes: Vec<u32> =
///     order::shuffled_row_major(&Grid::mesh(&[3, 2])?).iter().map(|n| n.0).collect();
/// assert_eq!(nodes, [0, 1, 3, 4, 2, 5]);
/// # Ok::<(), pavior_mesh::GridError>(())
/// ```
pub fn shuffled_row_major(grid: &Grid) -> Vec<NodeId> {
    by_key(grid, |point, bits| interleave(point.map(u32::from), bits))
}

/// Returns the nodes sorted by snake index, with the bits of the index shuffled as in Z-order.
pub fn shuffled_snake(grid: &Grid) -> Vec<NodeId> {
    by_key(grid, |point, bits| {
        let last = (1u32 << bits) - 1;
        let [x, y, z] = point.map(u32::from);
        // The snake reverses y on odd planes, then x on rows whose resulting y is odd.
        let y = if z % 2 == 1 { last - y } else { y };
        let x = if y % 2 == 1 { last - x } else { x };
        interleave([x, y, z], bits)
    })
}

/// Returns the nodes quadrant by quadrant in snake order, with each quadrant ordered recursively.
pub fn quadrant_snake(grid: &Grid) -> Vec<NodeId> {
    by_key(grid, |point, bits| {
        let [x, y, z] = point.map(u32::from);
        interleave([x ^ y ^ z, y ^ z, z], bits)
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{is_permutation, jumps, matrix};
    use super::*;

    #[test]
    fn the_matrices_of_the_header() {
        let grid = Grid::mesh(&[4, 4]).unwrap();
        let order = shuffled_row_major(&grid);
        let expected = [[0, 1, 4, 5], [2, 3, 6, 7], [8, 9, 12, 13], [10, 11, 14, 15]];
        assert_eq!(
            (matrix(&grid, &order), jumps(&grid, &order)),
            (expected.map(Vec::from).into(), 7)
        );
        let order = shuffled_snake(&grid);
        let expected = [[0, 1, 4, 5], [7, 6, 3, 2], [8, 9, 12, 13], [15, 14, 11, 10]];
        assert_eq!(
            (matrix(&grid, &order), jumps(&grid, &order)),
            (expected.map(Vec::from).into(), 4)
        );
        let order = quadrant_snake(&grid);
        let expected = [[0, 1, 4, 5], [3, 2, 7, 6], [12, 13, 8, 9], [15, 14, 11, 10]];
        assert_eq!(
            (matrix(&grid, &order), jumps(&grid, &order)),
            (expected.map(Vec::from).into(), 2)
        );
    }

    #[test]
    fn a_cube_of_two_is_walked_as_the_snake_walks() {
        let grid = Grid::mesh(&[2, 2, 2]).unwrap();
        let snake = super::super::snake(&grid);
        assert_eq!(shuffled_snake(&grid), snake);
        assert_eq!(quadrant_snake(&grid), snake);
    }

    #[test]
    fn every_grid_is_visited_once() {
        for sides in [[1, 1, 1], [7, 1, 1], [5, 3, 1], [5, 4, 6], [300, 2, 1]] {
            let grid = Grid::mesh(&sides).unwrap();
            for order in [shuffled_row_major, shuffled_snake, quadrant_snake] {
                assert!(is_permutation(&grid, &order(&grid)), "{grid}");
            }
        }
    }
}
