//! Merges parts that together form a single box.

use pavior::boxes::volume;
use pavior::{Cuboid, Grid, NodeId};

/// Merges parts that together form a single box, such as stacked layers or the two halves of a box
/// that wraps around. All other parts are returned unchanged. The parts must be disjoint.
pub(crate) fn joined(grid: &Grid, parts: &[Cuboid]) -> Vec<Cuboid> {
    let nodes: u64 = parts.iter().map(|part| u64::from(part.volume())).sum();
    let runs = [0, 1, 2].map(|axis| run(grid, parts, axis));
    let whole = Cuboid::new(runs.map(|(base, _)| base), runs.map(|(_, side)| side));
    let inside = |node: NodeId| whole.contains(grid, grid.point(node));
    let is_whole = !parts.is_empty()
        && whole.lies_on(grid)
        && volume(whole.sides) == nodes
        && parts.iter().flat_map(|part| part.nodes(grid)).all(inside);
    if is_whole { vec![whole] } else { parts.to_vec() }
}

/// Returns the start of the first occupied run on an axis, and the number of occupied coordinates.
/// If there are several runs, the parts do not match any box with this start and length.
fn run(grid: &Grid, parts: &[Cuboid], axis: usize) -> (u16, u16) {
    let side = usize::from(grid.side(axis));
    let mut taken = vec![false; side];
    for part in parts {
        for step in 0..part.sides[axis] {
            let at = usize::from(part.base[axis]) + usize::from(step);
            taken[at % side] = true;
        }
    }
    let length = taken.iter().filter(|&&taken| taken).count();
    let begins = |&at: &usize| taken[at] && !taken[(at + side - 1) % side];
    ((0..side).find(begins).unwrap_or(0) as u16, length as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_that_form_a_box_are_joined() {
        let grid: Grid = "torus:8x8x4".parse().unwrap();
        let at = |base, sides| Cuboid::new(base, sides);
        let layers: Vec<Cuboid> = (0..3).map(|z| at([1, 2, z], [4, 3, 1])).collect();
        assert_eq!(joined(&grid, &layers), [at([1, 2, 0], [4, 3, 3])]);
        let past = [at([0, 0, 0], [2, 4, 4]), at([6, 0, 0], [2, 4, 4])];
        assert_eq!(joined(&grid, &past), [at([6, 0, 0], [4, 4, 4])]);
        let apart = [at([0, 0, 0], [1, 1, 1]), at([2, 0, 0], [1, 1, 1])];
        assert_eq!(joined(&grid, &apart), apart);
        let bent = [at([0, 0, 0], [2, 1, 1]), at([0, 1, 0], [1, 1, 1])];
        assert_eq!(joined(&grid, &bent), bent);
        let mesh: Grid = "mesh:8x8x4".parse().unwrap();
        assert_eq!(joined(&mesh, &past), past);
        assert_eq!(joined(&grid, &[at([0, 0, 0], [8, 8, 4])]), [at([0, 0, 0], [8, 8, 4])]);
        assert!(joined(&grid, &[]).is_empty());
        let ring: Grid = "torus:65535".parse().unwrap();
        let halves = [at([65_000, 0, 0], [600, 1, 1]), at([65, 0, 0], [1, 1, 1])];
        assert_eq!(joined(&ring, &halves), [at([65_000, 0, 0], [601, 1, 1])]);
    }
}
