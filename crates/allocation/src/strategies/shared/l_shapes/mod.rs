//! L-shapes for LSSA and NAS. A rectangle is cut in two, and the parts are joined along equal
//! sides.
//!
//! ```text
//!   even a: 4x3, k = 1         odd a: 5x3, k = -1            m = ceil(a/2) + k = 2
//!   # # o o      o o           # # o o o        o o          n = floor(a/2) - k = 3
//!   # # x x  ->  # #           # # x x x   ->   o o          o: the n x m cut from the
//!   # # x x      # # x x       # # . . .        o o             right part (n wide), rotated and
//!                # # x x       (m x 3, n x 3)   # #             put on the left one (m wide)
//!                # # x x                        # #  x x x
//! ```
//!
//! The parts are `a/2 x (b+k)` next to `a/2 x (b-k)` for even a, and `m x (b+n)` next to `n x
//! (b-m)` for odd a. In both cases, the parts have a * b nodes in total. `k = b` gives a fold, and
//! `k = 0` gives the rectangle or its rotation.
//!
//! Source: the NAS paper's nucleus formulas, whose rounding brackets are missing in print.
//! Ceiling, floor, ceiling is the only combination that preserves the area.

mod plain;
pub(crate) mod search;

use pavior_mesh::{Coordinates, Cuboid, Grid, Sides};

use crate::claim::BoxGroup;

/// The two parts of an L-shape, the taller part first. Bases are relative to the bounding box's
/// corner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct LShape {
    pub(crate) parts: [Cuboid; 2],
}

impl LShape {
    /// Creates an L from two adjacent parts whose bottoms are aligned.
    fn new([w1, h1]: [u16; 2], [w2, h2]: [u16; 2]) -> LShape {
        let tall = Cuboid::new([0, 0, 0], [w1, h1, 1]);
        LShape { parts: [tall, Cuboid::new([w1, 0, 0], [w2, h2, 1])] }
    }

    fn bounding(self) -> Sides {
        let end = |axis: usize, part: &Cuboid| part.base[axis] + part.sides[axis];
        std::array::from_fn(|axis| self.parts.iter().map(|part| end(axis, part)).max().unwrap_or(1))
    }

    /// Mirrors the shape along an axis.
    fn mirrored(mut self, axis: usize) -> LShape {
        let side = self.bounding()[axis];
        for part in &mut self.parts {
            part.base[axis] = side - part.base[axis] - part.sides[axis];
        }
        self
    }

    /// Swaps the shape's x and y axes.
    fn transposed(mut self) -> LShape {
        for part in &mut self.parts {
            part.base.swap(0, 1);
            part.sides.swap(0, 1);
        }
        self
    }

    /// Returns the shape itself, its mirror images in x, in y and in both, and the transposes of
    /// these four.
    fn symmetries(self) -> [LShape; 8] {
        let both = self.mirrored(0).mirrored(1);
        let four = [self, self.mirrored(0), self.mirrored(1), both];
        let turned = four.map(LShape::transposed);
        std::array::from_fn(|index| if index < 4 { four[index] } else { turned[index - 4] })
    }

    /// Returns the parts at a base on a grid that does not wrap.
    fn at(self, base: Coordinates) -> [Cuboid; 2] {
        self.parts.map(|mut part| {
            part.base[0] += base[0];
            part.base[1] += base[1];
            part
        })
    }

    pub(crate) fn shape(self) -> BoxGroup {
        BoxGroup { parts: self.parts.to_vec() }
    }
}

/// Returns the values of k for a x b in Seo and Kim's schedule: 1, 1 + s, .. with s = max(1, b/4).
/// For odd a with b = ceil(a/2), the only value is -1, because no other value gives an L.
pub(crate) fn schedule(a: u16, b: u16) -> impl Iterator<Item = i32> {
    let (a, b) = (i32::from(a), i32::from(b));
    let (first, last) = if a % 2 == 0 {
        (1, b - 1)
    } else if b == (a + 1) / 2 {
        (-1, -1)
    } else {
        (1, (b - 1 - (a + 1) / 2).min(a / 2 - 1))
    };
    (first..=last).step_by((b / 4).max(1) as usize)
}

/// Cuts a x b into the L for the given k. Returns `None` if there is no such L.
fn cut(a: u16, b: u16, k: i32) -> Option<LShape> {
    let (a, b) = (i32::from(a), i32::from(b));
    let (tall, short) = if a % 2 == 0 {
        ([a / 2, b + k], [a / 2, b - k])
    } else {
        let (m, n) = ((a + 1) / 2 + k, a / 2 - k);
        ([m, b + n], [n, b - m])
    };
    let sides = |sides: [i32; 2]| {
        let side = |side: i32| u16::try_from(side).ok().filter(|&side| side > 0);
        Some([side(sides[0])?, side(sides[1])?])
    };
    Some(LShape::new(sides(tall)?, sides(short)?))
}

/// Replaces the contents of `l_shapes` with the distinct L-shapes of a x b that fit the grid: those
/// of S(a,b), then those of S(b,a), with k ascending and each L in its eight symmetries. Without
/// rotation, includes only the Ls of S(a,b) in the four symmetries that keep them upright.
pub(crate) fn l_shapes_into(
    [a, b, c]: Sides,
    grid: &Grid,
    turned: bool,
    l_shapes: &mut Vec<LShape>,
) {
    l_shapes.clear();
    if c != 1 {
        return;
    }
    // No L is created twice. Ls with different k have different heights, and the widths add up to
    // a, so the Ls of S(a,b) and S(b,a) differ unless a = b. The symmetries of an L all differ,
    // because its parts have different heights.
    let rectangles = if turned && a != b { 2 } else { 1 };
    let symmetries = if turned { 8 } else { 4 };
    for (a, b) in [(a, b), (b, a)].into_iter().take(rectangles) {
        for l_shape in schedule(a, b).filter_map(|k| cut(a, b, k)) {
            let all = l_shape.symmetries().into_iter().take(symmetries);
            l_shapes.extend(all.filter(|seen| grid.fits(seen.bounding())));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn area(l_shape: LShape) -> u32 {
        l_shape.parts.iter().map(Cuboid::volume).sum()
    }

    #[test]
    fn the_example_of_nas() {
        let ks: Vec<i32> = schedule(5, 3).collect();
        assert_eq!(ks, [-1]);
        let l_shape = cut(5, 3, -1).unwrap();
        assert_eq!(l_shape.parts.map(|part| part.sides), [[2, 6, 1], [3, 1, 1]]);
    }

    #[test]
    fn the_eight_symmetries() {
        // For 4x3 and k = 1, the L is 2x4 next to 2x2. Each symmetry maps the nodes' coordinates.
        let l_shape = cut(4, 3, 1).unwrap();
        let nodes = |l_shape: LShape| -> Vec<[u16; 2]> {
            let all = l_shape.parts.iter().flat_map(|part| part.nodes(&grid()));
            let mut all: Vec<[u16; 2]> =
                all.map(|node| grid().point(node)).map(|[x, y, _]| [x, y]).collect();
            all.sort_unstable();
            all
        };
        let maps: [fn([u16; 2]) -> [u16; 2]; 8] = [
            |[x, y]| [x, y],
            |[x, y]| [3 - x, y],
            |[x, y]| [x, 3 - y],
            |[x, y]| [3 - x, 3 - y],
            |[x, y]| [y, x],
            |[x, y]| [y, 3 - x],
            |[x, y]| [3 - y, x],
            |[x, y]| [3 - y, 3 - x],
        ];
        for (seen, map) in l_shape.symmetries().into_iter().zip(maps) {
            let mut expected: Vec<[u16; 2]> = nodes(l_shape).into_iter().map(map).collect();
            expected.sort_unstable();
            assert_eq!(nodes(seen), expected);
        }
        let mut l_shapes = Vec::new();
        l_shapes_into([4, 3, 1], &grid(), false, &mut l_shapes);
        assert_eq!(l_shapes[..4], l_shape.symmetries()[..4]);
    }

    #[test]
    fn every_l_keeps_the_area_and_joins_equal_sides() {
        for (a, b) in (1..=16).flat_map(|a| (1..=16).map(move |b| (a, b))) {
            for k in -3..=16 {
                let Some(l_shape) = cut(a, b, k) else { continue };
                assert_eq!(area(l_shape), u32::from(a) * u32::from(b), "{a}x{b}, k = {k}");
                for seen in l_shape.symmetries() {
                    assert_eq!(area(seen), area(l_shape));
                    assert!(!seen.parts[0].intersects(&grid(), &seen.parts[1]));
                }
            }
        }
    }

    fn grid() -> Grid {
        Grid::mesh(&[64, 64]).unwrap()
    }

    #[test]
    fn no_l_is_listed_twice() {
        let mut l_shapes = Vec::new();
        for (a, b) in (1..=24).flat_map(|a| (1..=24).map(move |b| (a, b))) {
            for turned in [false, true] {
                l_shapes_into([a, b, 1], &grid(), turned, &mut l_shapes);
                let both = if turned { vec![(a, b), (b, a)] } else { vec![(a, b)] };
                let mut expected: Vec<LShape> = Vec::new();
                for (a, b) in both {
                    for l_shape in schedule(a, b).filter_map(|k| cut(a, b, k)) {
                        for seen in
                            l_shape.symmetries().into_iter().take(if turned { 8 } else { 4 })
                        {
                            if grid().fits(seen.bounding()) && !expected.contains(&seen) {
                                expected.push(seen);
                            }
                        }
                    }
                }
                assert_eq!(l_shapes, expected, "{a}x{b}");
            }
        }
    }

    #[test]
    fn further_values_of_the_special_case_are_no_ls() {
        // NAS tries all k < 4 here. k = 0 gives the rotated rectangle, and any greater k would give
        // a negative height.
        for k in 0..4 {
            assert_eq!(cut(5, 3, k), None);
        }
    }

    #[test]
    fn how_many_requests_have_an_l() {
        let longer = |a: u16, b: u16| if a >= b { (a, b) } else { (b, a) };
        let (mut odd, mut even) = (0, 0);
        for (a, b) in (1..=16).flat_map(|a| (1..=16).map(move |b| longer(a, b))) {
            let any = schedule(a, b).any(|k| cut(a, b, k).is_some());
            *(if a % 2 == 0 { &mut even } else { &mut odd }) += u32::from(any);
        }
        assert_eq!((odd, even), (50, 120));
        assert!(schedule(5, 5).any(|k| cut(5, 5, k).is_some()));
    }
}
