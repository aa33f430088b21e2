//! Converts nodes to boxes, for strategies that choose nodes one by one. The boxes are maximal runs
//! along x.
//!
//! Cost: O(nodes).

use pavior_mesh::{Cuboid, Grid, NodeId};

use crate::Placement;

/// Returns the maximal runs along x in a row-major sequence of nodes. No run crosses the end of a
/// row, even if x wraps, so the runs are in the same order as the nodes.
pub(crate) fn runs(grid: &Grid, nodes: impl Iterator<Item = NodeId>) -> Placement {
    let mut parts: Vec<Cuboid> = Vec::new();
    let mut after = None;
    for node in nodes {
        let point = grid.point(node);
        match parts.last_mut() {
            Some(run) if after == Some(node) && point[0] > 0 => run.sides[0] += 1,
            _ => parts.push(Cuboid::node(point)),
        }
        after = Some(NodeId(node.0 + 1));
    }
    Placement::Parts(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_end_at_gaps_and_with_their_row() {
        let grid = Grid::torus(&[4, 3]).unwrap();
        let placement = runs(&grid, [0, 2, 3, 4, 5, 7, 8, 9, 10, 11].into_iter().map(NodeId));
        let run = |x, y, length| Cuboid::new([x, y, 0], [length, 1, 1]);
        let expected = [run(0, 0, 1), run(2, 0, 2), run(0, 1, 2), run(3, 1, 1), run(0, 2, 4)];
        assert_eq!(placement.parts(), expected);
    }
}
