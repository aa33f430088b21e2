//! The contact score of a placement: how much of its surface touches busy nodes or the border.
//!
//! The sum over the nodes of the placement and over both directions of every axis longer than 1: 1
//! if the neighbour there is busy, or lies beyond an axis that does not wrap; 0 if it is free or
//! belongs to the placement. Neighbours are cyclic on rings, so a closed ring has no faces, a side
//! of n - 1 counts the one node of the gap from both ends, and a ring of 2 counts its other node
//! twice. In 2D meshes this is the optimality index of the MFA paper and the boundary value of ADJ.
//!
//! ```text
//!   # # . .      a 2x2 placement P at the left border:
//!   P P . .      2 from the border, 2 from the busy nodes above,
//!   P P # .      1 from the one at its right, 0 from below: 5 of at most 8
//!   . . . .
//! ```

use pavior_mesh::{Cuboid, Grid, Occupancy};

/// The contact score of a free box: O(surface).
pub(in crate::strategies) fn contact(free: &Occupancy, cuboid: &Cuboid) -> i64 {
    let grid = free.grid();
    (0..3)
        .flat_map(|axis| faces(grid, cuboid, axis).map(|face| score(free, cuboid, axis, face)))
        .sum()
}

/// The two one-node layers just outside of a box on an axis.
#[derive(Clone, Copy)]
enum Face {
    /// There is no outside: an axis of one node, or a closed ring.
    None,
    /// Beyond the end of an axis that does not wrap.
    Border,
    /// The layer at this coordinate.
    Layer(u16),
}

fn faces(grid: &Grid, cuboid: &Cuboid, axis: usize) -> [Face; 2] {
    let (n, base, side) = (grid.side(axis), cuboid.base[axis], cuboid.sides[axis]);
    if n == 1 || (grid.wraps(axis) && side == n) {
        return [Face::None; 2];
    }
    let end = u32::from(base) + u32::from(side);
    let low = match base {
        0 if grid.wraps(axis) => Face::Layer(n - 1),
        0 => Face::Border,
        _ => Face::Layer(base - 1),
    };
    let high = if grid.wraps(axis) || end < u32::from(n) {
        Face::Layer((end % u32::from(n)) as u16)
    } else {
        Face::Border
    };
    [low, high]
}

fn score(free: &Occupancy, cuboid: &Cuboid, axis: usize, face: Face) -> i64 {
    let mut layer = *cuboid;
    layer.sides[axis] = 1;
    match face {
        Face::None => 0,
        Face::Border => i64::from(layer.volume()),
        Face::Layer(at) => {
            layer.base[axis] = at;
            layer.nodes(free.grid()).filter(|&node| !free.is_node_free(node)).count() as i64
        }
    }
}

/// The highest contact score that a shape can have on a grid.
pub(in crate::strategies) fn most_contact(grid: &Grid, sides: [u16; 3]) -> i64 {
    let volume = pavior_mesh::volume(sides) as i64;
    (0..3)
        .filter(|&axis| {
            let n = grid.side(axis);
            n > 1 && !(grid.wraps(axis) && sides[axis] == n)
        })
        .map(|axis| 2 * volume / i64::from(sides[axis]))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use pavior_mesh::{NodeId, Scan};

    /// The definition, node by node.
    fn defined(free: &Occupancy, cuboid: &Cuboid) -> i64 {
        let grid = free.grid();
        let mut sum = 0;
        for node in cuboid.nodes(grid) {
            let point = grid.point(node);
            for axis in (0..3).filter(|&axis| grid.side(axis) > 1) {
                let n = i32::from(grid.side(axis));
                for step in [-1, 1] {
                    let at = i32::from(point[axis]) + step;
                    if !grid.wraps(axis) && !(0..n).contains(&at) {
                        sum += 1;
                        continue;
                    }
                    let mut next = point;
                    next[axis] = at.rem_euclid(n) as u16;
                    let outside = !cuboid.contains(grid, next);
                    sum += i64::from(outside && !free.is_node_free(grid.id(next)));
                }
            }
        }
        sum
    }

    #[test]
    fn faces_count_as_the_definition_does() {
        for name in ["mesh:4x3", "torus:4x3", "grid:2wx3", "mesh:1x4", "torus:2x2x3", "mesh:3x2x2"]
        {
            let grid: Grid = name.parse().unwrap();
            for seed in 0..40u64 {
                let mut free = Occupancy::all_free(grid);
                for node in 0..grid.nodes() {
                    // A cheap hash: every third node or so is busy.
                    if (u64::from(node) + 3).wrapping_mul(2 * seed + 7) % 11 < 4 {
                        free.take_node(NodeId(node));
                    }
                }
                for a in 1..=grid.side(0) {
                    for b in 1..=grid.side(1) {
                        for c in 1..=grid.side(2) {
                            for base in Scan::default().bases(grid, [a, b, c]) {
                                let cuboid = Cuboid::new(base, [a, b, c]);
                                let (given, truth) =
                                    (contact(&free, &cuboid), defined(&free, &cuboid));
                                assert_eq!(given, truth, "{name} {cuboid:?}");
                                assert!(given <= most_contact(&grid, cuboid.sides));
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn the_drawing_above_scores_5() {
        let grid = Grid::mesh(&[4, 4]).unwrap();
        let drawn = "##..\n....\n..#.\n....\n";
        let free = pavior_mesh::picture::parse(grid, drawn).unwrap();
        let placement = Cuboid::new([0, 1, 0], [2, 2, 1]);
        assert_eq!(contact(&free, &placement), 5);
        assert_eq!(most_contact(&grid, placement.sides), 8);
    }
}
