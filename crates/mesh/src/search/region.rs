//! Boxes of bases: where a search looks.

use crate::{Cuboid, Grid, Point, Sides};

/// The bases from one to another, both included, axis by axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Region {
    pub(super) first: Point,
    pub(super) last: Point,
    /// Planes in between that are not meant, from one up to another: a region that passes the end
    /// of a ring begins again at 0.
    pub(super) gap: [u16; 2],
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
        Some(Region { first: [0; 3], last, gap: [0; 2] })
    }

    /// The bases at which a shape meets a box. Where they pass the end of an axis that wraps, every
    /// base of that axis, but along z. None if the shape does not fit.
    pub(super) fn meeting(grid: &Grid, shape: Sides, cuboid: &Cuboid) -> Option<Region> {
        let mut region = Region::whole(grid, shape)?;
        for axis in 0..3 {
            let (n, base, reach) = (grid.side(axis), cuboid.base[axis], shape[axis] - 1);
            let end = base + (cuboid.sides[axis] - 1);
            if !grid.wraps(axis) || (base >= reach && end < n) {
                region.first[axis] = base.saturating_sub(reach);
                region.last[axis] = region.last[axis].min(end);
            } else if axis == 2 && region.last[axis] == n - 1 {
                // From `first` over the end to `last`, if any plane is left out.
                let first = if base >= reach { base - reach } else { base + (n - reach) };
                let last = if end < n { end } else { end - n };
                if u32::from(cuboid.sides[axis]) + u32::from(reach) < u32::from(n) {
                    region.gap = [last + 1, first];
                }
            }
        }
        Some(region)
    }

    /// From a plane on: the next one that is meant, and how many are from there on before any that
    /// is not. None behind the last.
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
