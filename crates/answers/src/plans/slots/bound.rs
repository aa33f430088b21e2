//! Upper bounds on the number of disjoint boxes, based on nodes that every box must contain.
//!
//! The bounds use a lattice: on each axis, every m-th node is taken, so adjacent lattice nodes are
//! never more than m apart. On that axis, a box with side s always spans at least ⌊s / m⌋ lattice
//! nodes. The box thus contains at least k lattice nodes, where k is the product of these numbers
//! over all axes. If the boxes together cover n lattice nodes, at most ⌊n / k⌋ boxes are disjoint.
//! This holds for each offset of the lattice, and the smallest bound is used.
//!
//! With m = 1, the bound is the number of covered nodes divided by the volume of a box. If the
//! spacing equals the sides of the box, each box contains one lattice node. For a cube of side s,
//! this gives s^3 bounds.

use pavior_mesh::{Cuboid, Grid, NodeId, Sides};

/// Returns the nodes that the boxes cover, in ascending order. Takes O(N + P V) time for P boxes
/// with V nodes each on a machine with N nodes.
pub(super) fn covered(grid: &Grid, places: &[Cuboid]) -> Vec<NodeId> {
    let mut is_covered = vec![false; grid.nodes() as usize];
    for node in places.iter().flat_map(|place| place.nodes(grid)) {
        is_covered[node.index()] = true;
    }
    (0..grid.nodes()).map(NodeId).filter(|node| is_covered[node.index()]).collect()
}

/// Returns an upper bound on the number of disjoint boxes with these sides that fit on `nodes`.
pub(super) fn at_most(grid: &Grid, sides: &[Sides], nodes: &[NodeId]) -> u32 {
    let Some(&first) = sides.first() else { return 0 };
    let least = least_side(first);
    let mut spacings = vec![[1; 3], std::array::from_fn(|axis| least.min(grid.side(axis)))];
    if sides.len() == 1 {
        spacings.push(first);
    }
    spacings.dedup();
    let bounds = spacings.into_iter().map(|spacing| by_lattice(grid, sides, nodes, spacing));
    bounds.min().unwrap_or(u32::MAX)
}

/// Returns the length of a box's shortest side, ignoring sides of length 1.
pub(super) fn least_side(sides: Sides) -> u16 {
    sides.iter().copied().filter(|&side| side > 1).min().unwrap_or(1)
}

/// Returns the least number of lattice nodes in any box, or `None` if a box may contain none.
pub(super) fn least_held(sides: &[Sides], spacing: Sides) -> Option<u32> {
    let held = |sides: &Sides| {
        let along = |axis: usize| u32::from(sides[axis] / spacing[axis]);
        (0..3).map(along).product()
    };
    sides.iter().map(held).min().filter(|&held| held > 0)
}

/// Returns the smallest bound given by any lattice with the given spacing.
fn by_lattice(grid: &Grid, sides: &[Sides], nodes: &[NodeId], spacing: Sides) -> u32 {
    let Some(held) = least_held(sides, spacing) else { return u32::MAX };
    let [a, b, c] = spacing.map(usize::from);
    let mut counts = vec![0u32; a * b * c];
    for &node in nodes {
        let [x, y, z] = grid.point(node).map(usize::from);
        counts[x % a + a * (y % b + b * (z % c))] += 1;
    }
    let valid = |offset: usize, axis: usize| {
        let over = grid.side(axis) % spacing[axis];
        !grid.wraps(axis) || over == 0 || offset < usize::from(over)
    };
    let usable = counts
        .iter()
        .enumerate()
        .filter(|&(at, _)| valid(at % a, 0) && valid(at / a % b, 1) && valid(at / (a * b), 2));
    usable.map(|(_, &count)| count / held).min().unwrap_or(u32::MAX)
}
