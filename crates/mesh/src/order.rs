//! Orders of the nodes: row-major and snake.
//!
//! An order is the list of all nodes of a grid; the position of a node in it is its rank.

use crate::{Grid, NodeId};

/// Row-major: x fastest, then y, then z.
pub fn row_major(grid: &Grid) -> Vec<NodeId> {
    (0..grid.nodes()).map(NodeId).collect()
}

/// Snake-like (boustrophedon): consecutive nodes are always adjacent, because every second row runs
/// backwards, and every second plane runs through its rows backwards.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snake_visits_every_node_once_and_steps_to_neighbours() {
        for sides in [[1, 1, 1], [5, 1, 1], [4, 3, 1], [3, 3, 3], [4, 3, 2], [2, 4, 5]] {
            let grid = Grid::mesh(&sides).unwrap();
            let nodes = snake(&grid);
            for pair in nodes.windows(2) {
                assert_eq!(grid.distance(grid.point(pair[0]), grid.point(pair[1])), 1, "{grid}");
            }
            let mut sorted = nodes;
            sorted.sort();
            assert_eq!(sorted, row_major(&grid));
        }
    }
}
