//! Fast counting of hops between nodes on the same machine.

use pavior_mesh::{Coordinates, Grid};

/// Coordinates, padded to four axes for vectorization.
pub(in crate::traffic) type Point = [i32; 4];

/// A hop counter like [`Grid::distance`] that does not branch on each axis.
#[derive(Clone, Copy, Debug)]
pub(in crate::traffic) struct Hops {
    /// The length of each axis that wraps. For other axes, a number so large that going around is
    /// never shorter.
    rings: Point,
    /// True if any axis wraps.
    wraps: bool,
}

impl Hops {
    pub(in crate::traffic) fn of(grid: &Grid) -> Hops {
        let sides = grid.sides();
        let ring = |axis| if grid.wraps(axis) { sides[axis].into() } else { i32::MAX };
        Hops { rings: [ring(0), ring(1), ring(2), i32::MAX], wraps: grid.has_wrap() }
    }

    pub(in crate::traffic) fn point([x, y, z]: Coordinates) -> Point {
        [x.into(), y.into(), z.into(), 0]
    }

    #[inline]
    pub(in crate::traffic) fn between(self, a: &Point, b: &Point) -> u32 {
        self.along_axes(a, b).iter().sum::<i32>().unsigned_abs()
    }

    /// Returns the number of hops between two nodes along each axis.
    #[inline]
    pub(in crate::traffic) fn along_axes(self, a: &Point, b: &Point) -> Point {
        let mut hops = [0; 4];
        for axis in 0..4 {
            hops[axis] = (a[axis] - b[axis]).abs();
        }
        if self.wraps {
            for (direct, ring) in hops.iter_mut().zip(self.rings) {
                *direct = (*direct).min(ring - *direct);
            }
        }
        hops
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hops_are_the_grid_s_distances() {
        for machine in ["mesh:5x3x2", "torus:5x4x3", "torus:2x3", "mesh:65535", "torus:65535"] {
            let grid: Grid = machine.parse().unwrap();
            let hops = Hops::of(&grid);
            let step = (grid.nodes() / 60).max(1) as usize;
            let points = || {
                (0..grid.nodes()).step_by(step).map(|node| grid.point(pavior_mesh::NodeId(node)))
            };
            for a in points() {
                for b in points() {
                    let found = hops.between(&Hops::point(a), &Hops::point(b));
                    assert_eq!(found, grid.distance(a, b), "{machine} {a:?} {b:?}");
                }
            }
        }
    }
}
