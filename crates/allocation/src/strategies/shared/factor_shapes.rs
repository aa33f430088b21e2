//! Every box of exactly n nodes: the shapes of ASFF, MIP and NAS.

use pavior_mesh::{Grid, Sides};

/// The boxes of exactly `nodes` nodes that fit the grid unturned, compact ones first: by the
/// difference between the longest and the shortest side (axes of the grid that are longer than 1
/// only), then wider before taller (lexicographically greater sides first). In 2D this is ASFF's
/// order: 12 on 6x6 gives (4,3), (3,4), (6,2), (2,6).
pub(in crate::strategies) fn factor_shapes(nodes: u32, grid: &Grid) -> Vec<Sides> {
    let mut shapes = Vec::new();
    factor_shapes_into(nodes, grid, &mut shapes);
    shapes
}

/// As [`factor_shapes`], in place of what `shapes` holds.
pub(in crate::strategies) fn factor_shapes_into(nodes: u32, grid: &Grid, shapes: &mut Vec<Sides>) {
    let [w, d, h] = grid.sides().map(u32::from);
    shapes.clear();
    for a in (1..=w.min(nodes)).filter(|a| nodes % a == 0) {
        let rest = nodes / a;
        for b in (1..=d.min(rest)).filter(|b| rest % b == 0) {
            if rest / b <= h {
                shapes.push([a as u16, b as u16, (rest / b) as u16]);
            }
        }
    }
    let spread = |shape: &Sides| {
        let sides = (0..3).filter(|&axis| grid.side(axis) > 1).map(|axis| shape[axis]);
        sides.clone().max().unwrap_or(1) - sides.min().unwrap_or(1)
    };
    shapes.sort_unstable_by(|a, b| spread(a).cmp(&spread(b)).then_with(|| b.cmp(a)));
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
        let cube = Grid::mesh(&[4, 4, 4]).unwrap();
        assert_eq!(factor_shapes(8, &cube)[0], [2, 2, 2]);
        assert_eq!(factor_shapes(8, &cube).len(), 7);
    }
}
