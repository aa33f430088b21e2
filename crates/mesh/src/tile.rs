//! Any set of nodes as boxes.

use crate::{Cuboid, Grid, NodeId};

/// The wanted nodes of a box as disjoint boxes: maximal runs along x, joined along y where the run
/// of the next row is the same. Boxes do not pass the end of an axis that wraps. A box that does not
/// lie on the grid has none.
///
/// ```
/// use pavior_mesh::{Cuboid, Grid, tile};
/// let grid = Grid::mesh(&[3, 3])?;
/// // # # .
/// // # # .      y upwards
/// // # # #
/// let wanted = |node: pavior_mesh::NodeId| grid.point(node)[0] < 2 || node.0 == 2;
/// let boxes = tile(&grid, &Cuboid::whole(&grid), wanted);
/// assert_eq!(boxes, [Cuboid::new([0, 0, 0], [3, 1, 1]), Cuboid::new([0, 1, 0], [2, 2, 1])]);
/// # Ok::<(), pavior_mesh::GridError>(())
/// ```
pub fn tile(grid: &Grid, within: &Cuboid, wanted: impl Fn(NodeId) -> bool) -> Vec<Cuboid> {
    let mut boxes: Vec<Cuboid> = Vec::new();
    if !within.lies_on(grid) {
        return boxes;
    }
    for piece in within.unwrapped(grid) {
        let [x, y, z] = piece.base;
        let [w, d, h] = piece.sides;
        for z in z..z + h {
            // The boxes that end with the row before, and so may grow.
            let mut open = boxes.len()..boxes.len();
            for y in y..y + d {
                let before = open.clone();
                let mut grown = boxes.len();
                let mut at = x;
                while at < x + w {
                    let length = run(grid, [at, y, z], x + w, &wanted);
                    if length == 0 {
                        at += 1;
                        continue;
                    }
                    let same = |other: &Cuboid| {
                        (other.base[0], other.sides[0]) == (at, length)
                            && other.base[1] + other.sides[1] == y
                    };
                    match boxes[before.clone()].iter().position(same) {
                        Some(index) => {
                            boxes[before.start + index].sides[1] += 1;
                            grown = grown.min(before.start + index);
                        }
                        None => boxes.push(Cuboid::new([at, y, z], [length, 1, 1])),
                    }
                    at += length;
                }
                open = grown..boxes.len();
            }
        }
    }
    boxes
}

/// How many wanted nodes follow one another along x from a point on, up to `end`.
fn run(grid: &Grid, from: [u16; 3], end: u16, wanted: &impl Fn(NodeId) -> bool) -> u16 {
    let [x, y, z] = from;
    (x..end).take_while(|&x| wanted(grid.id([x, y, z]))).count() as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_wanted_node_is_in_one_box_and_no_other() {
        let grid = Grid::torus(&[5, 4, 3]).expect("a grid");
        for seed in 0..200u64 {
            let wanted = |node: NodeId| (seed * 31 + u64::from(node.0) * (seed + 7)) % 5 < 3;
            let within = Cuboid::new([3, 2, 1], [4, 3, 2]);
            let mut tiled: Vec<NodeId> = tile(&grid, &within, wanted)
                .iter()
                .flat_map(|part| part.nodes(&grid).collect::<Vec<_>>())
                .collect();
            tiled.sort_unstable();
            let mut truth: Vec<NodeId> = within.nodes(&grid).filter(|&node| wanted(node)).collect();
            truth.sort_unstable();
            assert_eq!(tiled, truth);
        }
    }
}
