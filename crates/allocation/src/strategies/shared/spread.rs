//! Sums of hop distances between the nodes of a set: how compact it is.

use pavior_mesh::{Coordinates, Grid, Sides};

/// A set of nodes, with the sum of the distances to them from every coordinate of each axis.
#[derive(Clone, Debug)]
pub(in crate::strategies) struct Spread {
    grid: Grid,
    along: [Vec<u64>; 3],
    total: u64,
}

impl Spread {
    /// The empty set.
    pub(in crate::strategies) fn new(grid: Grid) -> Spread {
        let along = grid.sides().map(|side| vec![0; usize::from(side)]);
        Spread { grid, along, total: 0 }
    }

    /// Becomes the empty set. O(sum of the grid's sides), as are the changes below.
    pub(in crate::strategies) fn clear(&mut self) {
        self.along.iter_mut().for_each(|sums| sums.fill(0));
        self.total = 0;
    }

    /// The sum of the hops from a node to the nodes of the set. O(1).
    #[inline]
    pub(in crate::strategies) fn of(&self, point: Coordinates) -> u64 {
        (0..3).map(|axis| self.along[axis][usize::from(point[axis])]).sum()
    }

    /// The sum of the hops between all pairs of nodes of the set.
    pub(in crate::strategies) fn total(&self) -> u64 {
        self.total
    }

    /// Puts a node in.
    pub(in crate::strategies) fn add(&mut self, point: Coordinates) {
        self.total += self.of(point);
        self.change(point, |sum, hops| *sum += hops);
    }

    /// Takes a node out.
    pub(in crate::strategies) fn remove(&mut self, point: Coordinates) {
        self.change(point, |sum, hops| *sum -= hops);
        self.total -= self.of(point);
    }

    fn change(&mut self, point: Coordinates, change: impl Fn(&mut u64, u64)) {
        for axis in (0..3).filter(|&axis| self.grid.side(axis) > 1) {
            for (c, sum) in self.along[axis].iter_mut().enumerate() {
                change(sum, hops(&self.grid, axis, c as u64, u64::from(point[axis])));
            }
        }
    }
}

fn hops(grid: &Grid, axis: usize, a: u64, b: u64) -> u64 {
    let direct = a.abs_diff(b);
    if grid.wraps(axis) { direct.min(u64::from(grid.side(axis)) - direct) } else { direct }
}

/// The sum of the hops between all pairs of nodes of a box. O(sum of its sides).
pub(in crate::strategies) fn distance_in(grid: &Grid, sides: Sides) -> u64 {
    let nodes = pavior_mesh::volume(sides);
    let along = |axis: usize| {
        let (side, layer) = (u64::from(sides[axis]), nodes / u64::from(sides[axis]));
        let apart = |k: u64| (side - k) * hops(grid, axis, 0, k);
        layer * layer * (1..side).map(apart).sum::<u64>()
    };
    (0..3).map(along).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use pavior_mesh::Cuboid;

    #[test]
    fn sums_are_those_over_pairs() {
        for name in ["mesh:6x5", "torus:6x5", "grid:7wx3x4w"] {
            let grid: Grid = name.parse().unwrap();
            let all = [[3, 2, 1], [5, 3, 1], [6, 5, 1], [1, 1, 1], [7, 2, 3]];
            for sides in all.into_iter().filter(|&sides| grid.fits(sides)) {
                let at = Cuboid::new([0; 3], sides);
                let points: Vec<Coordinates> =
                    at.nodes(&grid).map(|node| grid.point(node)).collect();
                let mut pairs = 0;
                for (index, &a) in points.iter().enumerate() {
                    let hops = |&b: &Coordinates| u64::from(grid.distance(a, b));
                    pairs += points[..index].iter().map(hops).sum::<u64>();
                }
                let mut spread = Spread::new(grid);
                for &point in &points {
                    spread.add(point);
                }
                assert_eq!((spread.total(), distance_in(&grid, sides)), (pairs, pairs), "{name}");
                for &point in points.iter().rev() {
                    spread.remove(point);
                }
                assert_eq!(spread.total(), 0);
            }
        }
    }
}
