//! The region of bases to search.
//!
//! ```text
//!   z:  0 . . . g g g g . . . n-1     A region that extends past the end of a ring along z resumes
//!                                     at 0. The planes marked g are its gap.
//! ```
//!
//! Invariant: `first` and `last` are bases of the shape within the region.
//!
//! Cost: O(1).

use crate::{Coordinates, Cuboid, Grid, Sides};

/// The bases from `first` to `last`, inclusive, on each axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Region {
    pub(super) first: Coordinates,
    pub(super) last: Coordinates,
    /// The planes between `first` and `last` that are outside the region, given as the first such
    /// plane and the plane after the last such plane.
    pub(super) gap: [u16; 2],
}

impl Region {
    /// Returns the region that contains all canonical bases of a shape, or `None` if the shape does
    /// not fit.
    #[inline]
    pub(super) fn whole(grid: &Grid, shape: Sides) -> Option<Region> {
        let mut last = [0; 3];
        for axis in 0..3 {
            let n = grid.side(axis);
            let rest = n.checked_sub(shape[axis])?;
            last[axis] = if grid.wraps(axis) && rest > 0 { n - 1 } else { rest };
        }
        Some(Region { first: [0; 3], last, gap: [0; 2] })
    }

    /// Returns the region of all bases at which a shape overlaps a box. If these bases extend past
    /// the end of a ring along x or y, the region contains every base on that axis. Returns `None`
    /// if the shape does not fit.
    pub(super) fn meeting(grid: &Grid, shape: Sides, cuboid: &Cuboid) -> Option<Region> {
        let mut region = Region::whole(grid, shape)?;
        for axis in 0..3 {
            let (n, reach) = (u32::from(grid.side(axis)), u32::from(shape[axis]) - 1);
            let [base, sides] = [cuboid.base[axis], cuboid.sides[axis]].map(u32::from);
            let end = base + sides - 1;
            if !grid.wraps(axis) || (base >= reach && end < n) {
                region.first[axis] = base.saturating_sub(reach) as u16;
                region.last[axis] = region.last[axis].min(end as u16);
            } else if axis == 2 && u32::from(region.last[axis]) == n - 1 && sides + reach < n {
                // The region continues from `first` past the end of the ring to `last`.
                let first = if base >= reach { base - reach } else { base + n - reach };
                let last = if end < n { end } else { end - n };
                region.gap = [last as u16 + 1, first as u16];
            }
        }
        Some(region)
    }

    /// Finds the region's first plane at or after `from`, and the number of planes from there to
    /// the gap or the end. Returns `None` if `from` is after the last plane.
    #[inline(always)]
    pub(super) fn planes(&self, from: u16) -> Option<(u16, u16)> {
        let [end, again] = self.gap;
        let from = if (end..again).contains(&from) { again } else { from };
        let last = if from < end { end - 1 } else { self.last[2] };
        (from <= self.last[2]).then(|| (from, last - from + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scan;

    #[test]
    fn a_box_over_the_end_of_a_long_ring_has_its_region_there() {
        let grid = Grid::new(&[1, 1, 60_000], &[false, false, true]).unwrap();
        let cuboid = Cuboid::new([0, 0, 50_000], [1, 1, 20_000]);
        let region = Region::meeting(&grid, [1, 1, 1_000], &cuboid).unwrap();
        assert_eq!(region.planes(0), Some((0, 10_000)));
        assert_eq!(region.planes(10_000), Some((49_001, 10_999)));
        assert_eq!(region.planes(60_000), None);
    }

    #[test]
    fn every_base_that_meets_a_box_is_in_its_region() {
        let (mesh, ring) = ([false; 3], [true, false, true]);
        for (all, wraps) in [([5, 4, 3], mesh), ([5, 4, 3], ring), ([2, 2, 11], ring)] {
            let grid = Grid::new(&all, &wraps).unwrap();
            let some =
                [[1, 1, 1], [2, 3, 1], [5, 2, 3], [4, 4, 2], [2, 1, 9], [1, 2, 4], [1, 1, 10]];
            let fitting = some.into_iter().chain([all]).filter(|&shape| grid.fits(shape));
            for sides in fitting.clone() {
                for base in Scan::default().bases(grid, sides) {
                    let cuboid = Cuboid::new(base, sides);
                    for shape in fitting.clone() {
                        let region = Region::meeting(&grid, shape, &cuboid).unwrap();
                        let Region { first, last, .. } = region;
                        for base in Scan::default().bases(grid, shape) {
                            let inside =
                                (0..3).all(|axis| (first[axis]..=last[axis]).contains(&base[axis]));
                            let meets = Cuboid::new(base, shape).intersects(&grid, &cuboid);
                            assert!(inside || !meets, "{cuboid:?} {shape:?} {base:?}");
                            let (next, _) = region.planes(base[2]).unwrap_or((u16::MAX, 0));
                            assert!(next == base[2] || !meets, "{cuboid:?} {shape:?} {base:?}");
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
