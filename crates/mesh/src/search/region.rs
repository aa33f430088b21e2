//! Boxes of bases: where a search looks.

use crate::{Cuboid, Grid, Point, Sides};

/// The bases from one to another, both included, axis by axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Region {
    pub(super) first: Point,
    pub(super) last: Point,
}

impl Region {
    /// Every canonical base of a shape; none if it does not fit the grid.
    #[inline]
    pub(super) fn whole(grid: &Grid, shape: Sides) -> Option<Region> {
        let mut last = [0; 3];
        for axis in 0..3 {
            let n = grid.side(axis);
            let rest = n.checked_sub(shape[axis])?;
            last[axis] = if grid.wraps(axis) && rest > 0 { n - 1 } else { rest };
        }
        Some(Region { first: [0; 3], last })
    }

    /// The bases at which a shape meets a box. Where they would pass the end of an axis that wraps,
    /// every base of that axis. None if the shape does not fit.
    pub(super) fn meeting(grid: &Grid, shape: Sides, cuboid: &Cuboid) -> Option<Region> {
        let mut region = Region::whole(grid, shape)?;
        for axis in 0..3 {
            let (base, end) = (cuboid.base[axis], cuboid.base[axis] + (cuboid.sides[axis] - 1));
            let reach = shape[axis] - 1;
            if grid.wraps(axis) && (base < reach || end >= grid.side(axis)) {
                continue;
            }
            region.first[axis] = base.saturating_sub(reach);
            region.last[axis] = region.last[axis].min(end);
        }
        Some(region)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scan;

    #[test]
    fn every_base_that_meets_a_box_is_in_its_region() {
        for wraps in [[false, false, false], [true, false, true]] {
            let grid = Grid::new(&[5, 4, 3], &wraps).unwrap();
            for sides in [[1, 1, 1], [2, 3, 1], [5, 2, 3], [4, 4, 2]] {
                for base in Scan::default().bases(grid, sides) {
                    let cuboid = Cuboid::new(base, sides);
                    for shape in [[1, 1, 1], [3, 2, 2], [5, 1, 3], [5, 4, 3]] {
                        let Region { first, last } =
                            Region::meeting(&grid, shape, &cuboid).unwrap();
                        for base in Scan::default().bases(grid, shape) {
                            let inside =
                                (0..3).all(|axis| (first[axis]..=last[axis]).contains(&base[axis]));
                            let meets = Cuboid::new(base, shape).intersects(&grid, &cuboid);
                            assert!(inside || !meets, "{cuboid:?} {shape:?} {base:?}");
                            let bounded = (0..3).any(|axis| {
                                !grid.wraps(axis)
                                    && !(first[axis]..=last[axis]).contains(&base[axis])
                            });
                            assert!(!(bounded && meets));
                        }
                    }
                }
            }
        }
    }
}
