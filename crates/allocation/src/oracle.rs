//! The oracle: a slow, simple search that is independent of every strategy.
//!
//! The oracle tries every base in scan order with [`Occupancy::is_free`] and uses no other code. No
//! strategy may use the oracle.

use pavior_mesh::{Cuboid, Grid, NodeId, Occupancy, Scan};

use crate::claim::{BoxGroup, Over};

/// Returns the canonical placements of a shape on a grid, in scan order.
pub fn placements(
    grid: Grid,
    shape: &BoxGroup,
    scan: Scan,
) -> impl Iterator<Item = Vec<Cuboid>> + '_ {
    scan.bases(grid, shape.bounding()).map(move |base| shape.at(&grid, base))
}

/// Finds the first shape with a free placement, and returns its first free placement in scan order.
///
/// Cost: O(bases x nodes in the shape) per shape.
pub fn first(free: &Occupancy, family: &[BoxGroup], scan: Scan) -> Option<Vec<Cuboid>> {
    family
        .iter()
        .find_map(|shape| placements(*free.grid(), shape, scan).find(|parts| all_free(free, parts)))
}

/// Finds the free placement with the best score, either among the placements of the first shape
/// that fits or among those of all shapes. Ties go to the first placement.
pub fn best(
    free: &Occupancy,
    family: &[BoxGroup],
    scan: Scan,
    over: Over,
    score: fn(&Occupancy, &Cuboid) -> i64,
) -> Option<(i64, Cuboid)> {
    let mut best: Option<(i64, Cuboid)> = None;
    for shape in family {
        for parts in placements(*free.grid(), shape, scan) {
            if all_free(free, &parts) {
                let value = score(free, &parts[0]);
                if best.is_none_or(|(most, _)| value > most) {
                    best = Some((value, parts[0]));
                }
            }
        }
        if over == Over::FirstShape && best.is_some() {
            return best;
        }
    }
    best
}

/// Returns the size of the largest connected set of free nodes. Takes O(F^2) time for F free nodes.
pub fn largest_connected(free: &Occupancy) -> u32 {
    let mut left: Vec<NodeId> = free.iter().collect();
    let mut largest = 0;
    while !left.is_empty() {
        largest = largest.max(cut_out(free.grid(), &mut left));
    }
    largest
}

/// Returns true if all nodes in these boxes are connected by links. Takes O(n^2) time for n nodes.
pub fn is_connected(grid: &Grid, parts: &[Cuboid]) -> bool {
    let mut left: Vec<NodeId> = parts.iter().flat_map(|part| part.nodes(grid)).collect();
    cut_out(grid, &mut left);
    left.is_empty()
}

/// Removes the last node of a list and every node connected to it. Returns the number of nodes
/// removed. Links join nodes that are one hop apart.
fn cut_out(grid: &Grid, left: &mut Vec<NodeId>) -> u32 {
    let mut open: Vec<NodeId> = left.pop().into_iter().collect();
    let mut count = 0;
    while let Some(node) = open.pop() {
        count += 1;
        let at = grid.point(node);
        let beside = |other: &NodeId| grid.distance(at, grid.point(*other)) == 1;
        open.extend(left.iter().copied().filter(beside));
        left.retain(|other| !beside(other));
    }
    count
}

fn all_free(free: &Occupancy, parts: &[Cuboid]) -> bool {
    parts.iter().all(|part| free.is_free(part))
}
