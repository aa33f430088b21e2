//! All boxes of exactly n nodes, most compact first. ASFF, MIP and NAS use these boxes as shapes.
//!
//! Cost: O(sides tried along x and y), plus O(k log k) to sort k shapes.

use std::cmp::Reverse;

use pavior_mesh::{Grid, Sides};

use super::ranked_shapes::sort_shapes;

/// Returns the boxes of exactly `nodes` nodes that fit the grid without rotation, most compact
/// first: those whose longest and shortest sides differ least, counting only axes on which the grid
/// is longer than 1. Among equally compact boxes, lexicographically greater sides come first, so
/// that wider boxes precede taller ones. In 2D, this is ASFF's order: for 12 nodes on 6x6, it is
/// (4,3), (3,4), (6,2), (2,6).
pub(crate) fn factor_shapes(nodes: u32, grid: &Grid) -> Vec<Sides> {
    let mut shapes = Vec::new();
    factor_shapes_into(nodes, grid, &mut shapes);
    shapes
}

/// Replaces the contents of `shapes` with the result of [`factor_shapes`].
pub(crate) fn factor_shapes_into(nodes: u32, grid: &Grid, shapes: &mut Vec<Sides>) {
    shapes.clear();
    shapes.extend(boxes(nodes, grid.sides()));
    sort_shapes(shapes, &|shape| spread(shape, grid).into());
}

/// Returns the first shape from [`factor_shapes`] without allocating memory.
pub(crate) fn most_compact(nodes: u32, grid: &Grid) -> Option<Sides> {
    boxes(nodes, grid.sides()).min_by_key(|&shape| (spread(shape, grid), Reverse(shape)))
}

/// Returns the boxes of `nodes` nodes that fit within the given sides, in ascending order.
pub(crate) fn boxes(nodes: u32, within: Sides) -> impl Iterator<Item = Sides> + use<> {
    let [w, d, h] = within.map(u32::from);
    // The divisors d of n for which d is at most `most` and n / d is at most `room`.
    let divisors = |n: u32, most: u32, room: u32| {
        (n.div_ceil(room).max(1)..=most.min(n)).filter(move |a| n % a == 0)
    };
    divisors(nodes, w, d * h).flat_map(move |a| {
        let rest = nodes / a;
        divisors(rest, d, h).map(move |b| [a, b, rest / b].map(|side| side as u16))
    })
}

/// Returns the longest side minus the shortest. A smaller result means a more compact shape.
fn spread(shape: Sides, grid: &Grid) -> u16 {
    let sides = (0..3).filter(|&axis| grid.side(axis) > 1).map(|axis| shape[axis]);
    sides.clone().max().unwrap_or(1) - sides.min().unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_asff() {
        let grid = Grid::mesh(&[6, 6]).unwrap();
        assert_eq!(factor_shapes(12, &grid), [[4, 3, 1], [3, 4, 1], [6, 2, 1], [2, 6, 1]]);
        assert_eq!(factor_shapes(25, &grid), [[5, 5, 1]]);
        assert!(factor_shapes(7, &grid).is_empty());
        for nodes in 1..=37 {
            let first = factor_shapes(nodes, &grid).first().copied();
            assert_eq!(most_compact(nodes, &grid), first);
        }
        let cube = Grid::mesh(&[4, 4, 4]).unwrap();
        assert_eq!(factor_shapes(8, &cube)[0], [2, 2, 2]);
        assert_eq!(factor_shapes(8, &cube).len(), 7);
    }
}
