//! A placement's contact: the number of its nodes' faces that touch busy nodes or the border.
//!
//! ```text
//!   . # . .      P touches # above it, and the border on its left:
//!   P P . .      contact 2 of at most 6
//!   . . . .
//! ```
//!
//! Cost: O(surface).
//!
//! Source: in 2D, this is the optimality index from the MFA paper.

use pavior_mesh::{Cuboid, Grid, Occupancy, Sides, volume};

/// Returns the number of pairs (node in the placement, direction) for which the neighbor in that
/// direction is busy or lies beyond the end of an axis that does not wrap. An axis longer than 1
/// has two directions.
///
/// On a ring, neighbors wrap around. With a side of n - 1, the node in the gap counts for both
/// faces. On a ring of 2, the other node counts twice. A closed ring has no faces.
pub(crate) fn contact(free: &Occupancy, cuboid: &Cuboid) -> i64 {
    let grid = free.grid();
    let touching = |slab: Option<Cuboid>, area: i64| match slab {
        Some(slab) => slab.nodes(grid).filter(|&node| !free.is_node_free(node)).count() as i64,
        None => area,
    };
    faces(grid, cuboid).map(|(slab, area)| touching(slab, area)).sum()
}

/// Returns the area of each of a placement's faces, and the slab of nodes just beyond the face
/// (`None` if the face is on the machine's border).
pub(crate) fn faces(
    grid: &Grid,
    cuboid: &Cuboid,
) -> impl Iterator<Item = (Option<Cuboid>, i64)> + use<> {
    let (grid, cuboid) = (*grid, *cuboid);
    (0..3).filter(move |&axis| has_faces(&grid, axis, cuboid.sides[axis])).flat_map(move |axis| {
        let area = i64::from(cuboid.volume()) / i64::from(cuboid.sides[axis]);
        [0, 1].map(|side| (slab(&grid, &cuboid, axis, side), area))
    })
}

/// Returns the slab of nodes just beyond a placement's face on the low side (0) or high side (1) of
/// an axis. Returns `None` if the face is on the border.
#[inline]
pub(crate) fn slab(grid: &Grid, at: &Cuboid, axis: usize, side: usize) -> Option<Cuboid> {
    let n = u32::from(grid.side(axis));
    let low = u32::from(at.base[axis]);
    let end = low + u32::from(at.sides[axis]);
    let beyond = match side {
        0 if low > 0 => low - 1,
        0 if grid.wraps(axis) => n - 1,
        1 if end < n => end,
        1 if grid.wraps(axis) => end - n,
        _ => return None,
    };
    let mut slab = *at;
    (slab.base[axis], slab.sides[axis]) = (beyond as u16, 1);
    Some(slab)
}

/// Returns the highest contact that a shape can have on a grid.
pub(crate) fn most_contact(grid: &Grid, shape: Sides) -> i64 {
    let area = |axis: usize| 2 * volume(shape) as i64 / i64::from(shape[axis]);
    (0..3).filter(|&axis| has_faces(grid, axis, shape[axis])).map(area).sum()
}

/// Returns true if a box with the given side has faces on an axis. It has none if the axis has only
/// one node or is a ring that the side closes.
fn has_faces(grid: &Grid, axis: usize, side: u16) -> bool {
    let n = grid.side(axis);
    n > 1 && !(grid.wraps(axis) && side == n)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(grid: &str, busy: &[[u16; 3]], base: [u16; 3], sides: [u16; 3]) -> i64 {
        let mut free = Occupancy::all_free(grid.parse().unwrap());
        for &node in busy {
            free.take(&Cuboid::node(node)).unwrap();
        }
        contact(&free, &Cuboid::new(base, sides))
    }

    #[test]
    fn borders_and_busy_nodes_count_alike() {
        assert_eq!(score("mesh:4x4", &[], [0, 0, 0], [2, 1, 1]), 3);
        assert_eq!(score("mesh:4x4", &[], [1, 1, 0], [2, 2, 1]), 0);
        assert_eq!(score("mesh:4x4", &[[2, 0, 0]], [0, 0, 0], [2, 1, 1]), 4);
        assert_eq!(score("mesh:4x4", &[], [0, 0, 0], [4, 4, 1]), 16);
        assert_eq!(score("mesh:4x4x4", &[], [0, 0, 0], [1, 1, 1]), 3);
        assert_eq!(score("mesh:5", &[], [0, 0, 0], [5, 1, 1]), 2);
    }

    /// Counts the contact one pair at a time, directly from the definition.
    fn by_pairs(free: &Occupancy, cuboid: &Cuboid) -> i64 {
        let grid = free.grid();
        let closed = |axis: usize| grid.wraps(axis) && cuboid.sides[axis] == grid.side(axis);
        let mut pairs = 0;
        for point in cuboid.nodes(grid).map(|node| grid.point(node)) {
            for axis in (0..3).filter(|&axis| grid.side(axis) > 1 && !closed(axis)) {
                let n = i32::from(grid.side(axis));
                for step in [-1, 1] {
                    let at = i32::from(point[axis]) + step;
                    let mut beside = point;
                    beside[axis] = at.rem_euclid(n) as u16;
                    let off = !grid.wraps(axis) && (at < 0 || at == n);
                    pairs += i64::from(off || !free.is_node_free(grid.id(beside)));
                }
            }
        }
        pairs
    }

    #[test]
    fn faces_and_prefix_sums_count_the_pairs() {
        let mut dice = pavior_kernel::Stream::new(1, 0, "contact");
        for name in ["mesh:5x4", "torus:5x4", "grid:2wx3x4w", "mesh:3x3x3", "torus:7", "mesh:1x6"] {
            let grid: Grid = name.parse().unwrap();
            for _ in 0..200 {
                let sides = grid.sides().map(|n| dice.between(1, n.into()) as u16);
                let start = |axis| grid.starts(axis, sides[axis]);
                let starts: [u16; 3] = std::array::from_fn(start);
                let cuboid = Cuboid::new(starts.map(|n| dice.below(n.into()) as u16), sides);
                let mut free = Occupancy::all_free(grid);
                for node in (0..grid.nodes()).map(pavior_mesh::NodeId) {
                    if !cuboid.contains(&grid, grid.point(node)) && dice.below(3) == 0 {
                        free.take_node(node);
                    }
                }
                let mut sums = super::super::prefix_sums::PrefixSums::new(grid);
                sums.load(&free);
                let pairs = by_pairs(&free, &cuboid);
                assert_eq!(contact(&free, &cuboid), pairs, "{name} {cuboid:?}");
                assert_eq!(sums.contact(&cuboid), pairs, "{name} {cuboid:?}");
                assert!(pairs <= most_contact(&grid, sides));
            }
        }
    }

    #[test]
    fn rings_count_the_gap_from_both_sides() {
        assert_eq!(score("torus:5", &[[4, 0, 0]], [0, 0, 0], [4, 1, 1]), 2);
        assert_eq!(score("torus:2x3", &[[1, 0, 0]], [0, 0, 0], [1, 1, 1]), 2);
        assert_eq!(score("torus:5", &[], [0, 0, 0], [5, 1, 1]), 0);
        assert_eq!(score("torus:5", &[[1, 0, 0]], [4, 0, 0], [2, 1, 1]), 1);
    }

    #[test]
    fn the_highest_score_is_all_faces() {
        let most = |grid: &str, shape| most_contact(&grid.parse().unwrap(), shape);
        assert_eq!(most("mesh:8x8", [3, 2, 1]), 10);
        assert_eq!(most("torus:3x8", [3, 2, 1]), 6);
        assert_eq!(most("mesh:8x8x8", [3, 2, 1]), 22);
    }
}
