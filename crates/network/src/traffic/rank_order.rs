//! The orders in which a job's nodes can be numbered.
//!
//! Except with `pattern`, the nodes of a single box are ranked by their offset from the box's base,
//! so that neighbors in the job's pattern are adjacent on the grid. The other orders, except
//! `snake` and `hilbert`, would give the same result. If a job has several parts, its nodes do not
//! form such a grid, and each order keeps different ranks close together:
//!
//! - `coordinates`: row-major over the whole allocation, as in the papers that specify an order.
//!   Neighbors along x remain neighbors. Other neighbors on the logical grid are separated where
//!   rows have gaps or start at a different x.
//! - `parts`: part by part, in the order granted. Ranks in the same part are close together. The
//!   order of the parts depends on the strategy.
//! - `snake`: row by row, with every other row of the job reversed. Consecutive ranks are as close
//!   as the rows allow, which suits rings and lines.
//! - `hilbert`: along the Hilbert curve through the machine. Ranks with close numbers are close on
//!   all axes, no matter where the parts are.
//! - `greedy`: each rank goes to an unused neighbor of the previous rank's node, or else to the
//!   nearest unused node. Steps are one hop long when possible, but the last ones can be long.
//! - `pattern`: the job's logical grid, mapped so that the messages in the job's pattern cross few
//!   links ([`PatternLayouts`](super::PatternLayouts)). This can also help in a single box.
//!   Patterns other than nearest-neighbor may need a different map. If the box is rotated or has
//!   different sides, the requested grid must be mapped onto it.
//!
//! Invariant: every order numbers each of the job's nodes, and no others.

use pavior_mesh::{Cuboid, Grid, NodeId, order};

use super::pattern_map::{Hops, Point};

/// The order in which a job's nodes are ranked. It applies if the job was granted several parts
/// (or, with `Pattern`, any number of parts).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum RankOrder {
    /// Row-major by coordinates over the whole allocation.
    #[default]
    Coordinates,
    /// Part by part, in the order granted.
    Parts,
    /// Row by row, with every other row of the job's nodes reversed.
    Snake,
    /// Along the Hilbert curve through the machine.
    Hilbert,
    /// Greedily, moving from each node to an unused neighbor if there is one.
    Greedy,
    /// Mapped so that the job's pattern needs few hops ([`PatternLayouts`](super::PatternLayouts)).
    Pattern,
}

impl RankOrder {
    /// All orders, with their names.
    pub const NAMED: [(&'static str, RankOrder); 6] = [
        ("coordinates", RankOrder::Coordinates),
        ("parts", RankOrder::Parts),
        ("snake", RankOrder::Snake),
        ("hilbert", RankOrder::Hilbert),
        ("greedy", RankOrder::Greedy),
        ("pattern", RankOrder::Pattern),
    ];

    /// Returns the orders that need no pattern and are fast to compute. `Greedy` is included only
    /// for up to 1,024 nodes.
    pub(super) fn quick(nodes: u32) -> impl Iterator<Item = RankOrder> {
        RankOrder::NAMED.into_iter().map(|(_, order)| order).filter(move |order| match order {
            RankOrder::Greedy => nodes <= 1 << 10,
            RankOrder::Pattern => false,
            _ => true,
        })
    }

    /// Returns the nodes of the parts in rank order. Takes O(n log n) time for n nodes, except for
    /// `Greedy`, which takes up to O(n^2).
    pub(super) fn nodes(self, grid: &Grid, parts: &[Cuboid]) -> Vec<NodeId> {
        let mut nodes: Vec<NodeId> = parts.iter().flat_map(|part| part.nodes(grid)).collect();
        match self {
            RankOrder::Parts => {}
            RankOrder::Coordinates | RankOrder::Pattern => nodes.sort_unstable(),
            RankOrder::Snake => snake(grid, &mut nodes),
            RankOrder::Hilbert => order::sort_hilbert(grid, &mut nodes),
            RankOrder::Greedy => greedy(grid, &mut nodes),
        }
        nodes
    }
}

/// Reverses every other row of nodes, and the order of rows in every other plane.
fn snake(grid: &Grid, nodes: &mut Vec<NodeId>) {
    nodes.sort_unstable();
    let at = |node: &NodeId| grid.point(*node);
    let mut rows: Vec<NodeId> = Vec::with_capacity(nodes.len());
    let mut count = 0;
    for (number, plane) in nodes.chunk_by(|a, b| at(a)[2] == at(b)[2]).enumerate() {
        let mut lines: Vec<&[NodeId]> = plane.chunk_by(|a, b| at(a)[1] == at(b)[1]).collect();
        if number % 2 == 1 {
            lines.reverse();
        }
        for line in lines {
            if count % 2 == 0 {
                rows.extend(line);
            } else {
                rows.extend(line.iter().rev());
            }
            count += 1;
        }
    }
    *nodes = rows;
}

/// Sorts the nodes so that the lowest node comes first, and each node is followed by its lowest
/// unused neighbor or, if it has none, by the nearest unused node.
fn greedy(grid: &Grid, nodes: &mut [NodeId]) {
    nodes.sort_unstable();
    let mut points: Vec<Point> = nodes.iter().map(|&node| Hops::point(grid.point(node))).collect();
    let hops = Hops::of(grid);
    for rank in 1..nodes.len() {
        let last = points[rank - 1];
        // The remaining nodes stay sorted, so ties always go to the lowest number.
        let (mut nearest, mut least) = (rank, u32::MAX);
        for (index, point) in (rank..).zip(&points[rank..]) {
            let hops = hops.between(&last, point);
            if hops < least {
                (nearest, least) = (index, hops);
                if hops == 1 {
                    break;
                }
            }
        }
        nodes[rank..=nearest].rotate_right(1);
        points[rank..=nearest].rotate_right(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranks(order: RankOrder) -> Vec<u32> {
        // # # . .   12 13 14 15   two parts: a column of three and a box of two by two
        // # # . #    8  9 10 11
        // . . . #    4  5  6  7
        // . . . #    0  1  2  3
        let grid = Grid::mesh(&[4, 4]).unwrap();
        let parts = [Cuboid::new([3, 0, 0], [1, 3, 1]), Cuboid::new([0, 2, 0], [2, 2, 1])];
        order.nodes(&grid, &parts).iter().map(|node| node.0).collect()
    }

    #[test]
    fn every_map_numbers_the_jobs_own_nodes() {
        assert_eq!(ranks(RankOrder::Coordinates), [3, 7, 8, 9, 11, 12, 13]);
        assert_eq!(ranks(RankOrder::Parts), [3, 7, 11, 8, 9, 12, 13]);
        assert_eq!(ranks(RankOrder::Snake), [3, 7, 8, 9, 11, 13, 12]);
        assert_eq!(ranks(RankOrder::Greedy), [3, 7, 11, 9, 8, 12, 13]);
        // Consecutive ranks must be neighbors, except for one jump between the two parts.
        let hilbert = ranks(RankOrder::Hilbert);
        let mut own = hilbert.clone();
        own.sort_unstable();
        assert_eq!(own, [3, 7, 8, 9, 11, 12, 13]);
        let grid = Grid::mesh(&[4, 4]).unwrap();
        let step =
            |pair: &[u32]| grid.distance(grid.point(NodeId(pair[0])), grid.point(NodeId(pair[1])));
        let long = |order: &[u32]| order.windows(2).filter(|pair| step(pair) > 1).count();
        assert_eq!((long(&hilbert), long(&ranks(RankOrder::Greedy))), (1, 1));
    }
}
