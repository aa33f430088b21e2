//! Partitions of arbitrary sets of nodes into boxes.

use crate::{Cuboid, Grid, NodeId};

/// Partitions the wanted nodes in a box into disjoint boxes. Each box starts as a maximal run along
/// x and grows along y while the next row has the same run. The boxes do not wrap. If `within` is
/// outside the grid, the result is empty.
///
/// ```
/// # mod pavior { pub use pavior_mesh as boxes; pub use pavior_mesh::*; }
/// use pavior::boxes::tile;
/// use pavior::{Cuboid, Grid};
/// let grid = Grid::mesh(&[3, 3])?;
/// // # # .
/// // # # .      y upwards
/// // # # #
/// let wanted = |node: pavior::NodeId| grid.point(node)[0] < 2 || node.0 == 2;
/// let boxes = tile(&grid, &Cuboid::whole(&grid), wanted);
/// assert_eq!(boxes, [Cuboid::new([0, 0, 0], [3, 1, 1]), Cuboid::new([0, 1, 0], [2, 2, 1])]);
/// # Ok::<(), pavior::GridError>(())
/// ```
pub fn tile(grid: &Grid, within: &Cuboid, wanted: impl Fn(NodeId) -> bool) -> Vec<Cuboid> {
    tile_rows(grid, within, |from, length| {
        let bit = |ahead: u32| u64::from(wanted(NodeId(from.0 + ahead))) << ahead;
        (0..u32::from(length)).map(bit).fold(0, std::ops::BitOr::bitor)
    })
}

/// Partitions nodes like [`tile`], but queries up to 64 nodes at a time. `wanted` is called with a
/// node and a length, and must return one bit per node along x, starting with that node in the
/// lowest bit. A bit is set if its node is wanted. [`Occupancy::window`](crate::Occupancy::window)
/// returns free nodes in this form. Takes O(rows of the box) plus O(boxes) time.
pub fn tile_rows(grid: &Grid, within: &Cuboid, wanted: impl Fn(NodeId, u16) -> u64) -> Vec<Cuboid> {
    let mut boxes: Vec<Cuboid> = Vec::new();
    if !within.lies_on(grid) {
        return boxes;
    }
    for piece in within.unwrapped(grid) {
        let [x, y, z] = piece.base;
        let [w, d, h] = piece.sides;
        for z in z..z + h {
            // Boxes that end at the previous row can grow into this one.
            let mut open = boxes.len()..boxes.len();
            for y in y..y + d {
                let before = open.clone();
                let mut grown = boxes.len();
                let row = Row { from: grid.id([0, y, z]), end: x + w };
                let mut at = x;
                while let Some((first, length)) = row.run(at, &wanted) {
                    let same = |other: &Cuboid| {
                        (other.base[0], other.sides[0]) == (first, length)
                            && other.base[1] + other.sides[1] == y
                    };
                    match boxes[before.clone()].iter().position(same) {
                        Some(index) => {
                            boxes[before.start + index].sides[1] += 1;
                            grown = grown.min(before.start + index);
                        }
                        None => boxes.push(Cuboid::new([first, y, z], [length, 1, 1])),
                    }
                    at = first + length;
                }
                open = grown..boxes.len();
            }
        }
    }
    boxes
}

/// The nodes in a row, from node `from` up to, but not including, column `end`.
struct Row {
    from: NodeId,
    end: u16,
}

impl Row {
    /// Finds the first run of wanted nodes at or after a column. Returns the run's first column and
    /// its length.
    fn run(&self, mut at: u16, wanted: &impl Fn(NodeId, u16) -> u64) -> Option<(u16, u16)> {
        let window = |at: u16| wanted(NodeId(self.from.0 + u32::from(at)), (self.end - at).min(64));
        while at < self.end {
            let ahead = window(at).trailing_zeros() as u16;
            at = at.saturating_add(ahead).min(self.end);
            if ahead == 64 {
                continue;
            }
            let mut end = at;
            while end < self.end {
                let ones = window(end).trailing_ones() as u16;
                end += ones;
                if ones < 64 {
                    break;
                }
            }
            return Some((at, end - at));
        }
        None
    }
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

    #[test]
    fn runs_go_on_from_word_to_word() {
        let grid = Grid::mesh(&[300, 2]).expect("a grid");
        let runs = [(0, 64), (65, 63), (130, 150), (299, 1)];
        let wanted = |node: NodeId| {
            let x = grid.point(node)[0];
            runs.iter().any(|&(first, length)| (first..first + length).contains(&x))
        };
        let truth = runs.map(|(first, length)| Cuboid::new([first, 0, 0], [length, 2, 1]));
        assert_eq!(tile(&grid, &Cuboid::whole(&grid), wanted), truth);
    }
}
