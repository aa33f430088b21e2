//! Sums of hops between the nodes in a set, which measure how compact the set is.
//!
//! The number of hops between two nodes is the sum of their distances along the axes. For each
//! coordinate on an axis, the set stores the sum of the distances from that coordinate to the set's
//! nodes. Finding the sum of hops from a node to the set then takes one lookup per axis:
//!
//! ```text
//!   a set of 2 nodes at x = 1 and x = 2:     x:       0  1  2  3
//!                                            sums:    3  1  1  3
//! ```
//!
//! Invariant: `known` covers the coordinates of all nodes in the set and the coordinates next to
//! them. Beyond that range, each sum is the previous sum plus one hop per node.
//!
//! Cost: O(1) per lookup, and O(sum of the bounding box's sides) per added node. On a ring, the
//! whole axis counts.

use std::ops::Range;

use pavior_mesh::{Coordinates, Grid, Sides};

/// A set of nodes, stored as sums along the axes.
#[derive(Clone, Debug)]
pub(crate) struct HopSums {
    axes: [Axis; 3],
    /// The number of leading axes in use. Any later axis has only a single coordinate.
    count: usize,
    nodes: u64,
    /// The sum of hops over all pairs of nodes.
    total: u64,
    /// Scratch space for the number of nodes at each coordinate on an axis. All zeros between
    /// queries.
    counts: Vec<u64>,
}

/// The number of sums that are updated together. The last chunk may extend past the known sums.
const CHUNK: usize = 8;

/// The sums along one axis. On a ring, all sums are known.
#[derive(Clone, Debug)]
struct Axis {
    side: usize,
    ring: bool,
    sums: Vec<u64>,
    known: Range<usize>,
    /// The number of hops between two coordinates, by their difference (from 1 - side to side - 1).
    hops: Vec<u64>,
}

impl HopSums {
    pub(crate) fn new(grid: Grid) -> HopSums {
        let mut hop_sums = HopSums {
            axes: std::array::from_fn(|axis| Axis::new(&grid, axis)),
            count: (1..4).rev().find(|&axes| grid.side(axes - 1) > 1).unwrap_or(1),
            nodes: 0,
            total: 0,
            counts: Vec::new(),
        };
        hop_sums.clear();
        hop_sums
    }

    /// Empties the set. Takes O(sum of the bounding box's sides) time, where the bounding box spans
    /// the whole of each axis that wraps.
    pub(crate) fn clear(&mut self) {
        self.axes.iter_mut().for_each(Axis::clear);
        (self.nodes, self.total) = (0, 0);
    }

    /// Returns the sum of hops from a node to all nodes in the set. The node must be in the set or
    /// adjacent to it. Returns 0 for an empty set. Takes O(1) time.
    #[expect(clippy::inline_always, reason = "a call would take longer than the sum")]
    #[inline(always)]
    pub(crate) fn of(&self, point: Coordinates) -> u64 {
        let along = |axis: usize| self.axes[axis].sums[usize::from(point[axis])];
        match self.count {
            1 => along(0),
            2 => along(0) + along(1),
            _ => along(0) + along(1) + along(2),
        }
    }

    /// Returns the sum of hops over all pairs of nodes in the set.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    pub(crate) fn nodes(&self) -> u64 {
        self.nodes
    }

    /// Adds a node. Takes O(sum of the bounding box's sides) time, where the bounding box spans the
    /// whole of each axis that wraps.
    pub(crate) fn add(&mut self, point: Coordinates) {
        for (axis, &at) in self.axes[..self.count].iter_mut().zip(&point) {
            axis.learn(usize::from(at), self.nodes);
        }
        self.total += self.of(point);
        self.nodes += 1;
        for (axis, &at) in self.axes[..self.count].iter_mut().zip(&point) {
            axis.change(usize::from(at), u64::wrapping_add);
        }
    }

    /// Replaces the set with the given nodes. Takes O(nodes) time, plus O(side of the bounding box)
    /// per distinct coordinate. On a ring, the bounding box spans the whole axis.
    pub(crate) fn load(&mut self, points: &(impl Iterator<Item = Coordinates> + Clone)) {
        self.clear();
        for (index, axis) in self.axes[..self.count].iter_mut().enumerate() {
            self.counts.resize(self.counts.len().max(axis.side), 0);
            let (mut first, mut last) = (axis.side, 0);
            for point in points.clone() {
                let at = usize::from(point[index]);
                self.counts[at] += 1;
                (first, last) = (first.min(at), last.max(at));
            }
            self.nodes = 0;
            for at in first..=last {
                let layer = std::mem::take(&mut self.counts[at]);
                if layer > 0 {
                    axis.learn(at, self.nodes);
                    self.total += layer * axis.sums[at];
                    axis.change(at, |sum, hops| sum.wrapping_add(layer.wrapping_mul(hops)));
                    self.nodes += layer;
                }
            }
        }
    }
}

impl Axis {
    fn new(grid: &Grid, axis: usize) -> Axis {
        let side = usize::from(grid.side(axis));
        let hops = (1..2 * side).map(|k| hops(grid, axis, k.abs_diff(side) as u64));
        let hops = hops.chain([0; CHUNK]).collect();
        Axis { side, ring: grid.wraps(axis), sums: vec![0; side + CHUNK], known: 0..0, hops }
    }

    fn clear(&mut self) {
        // The known sums have changed, and so have the other sums in the last chunk.
        let changed = self.known.start..(self.known.end + CHUNK).min(self.sums.len());
        self.sums[changed].fill(0);
        self.known = if self.ring { 0..self.side } else { 0..0 };
    }

    /// Computes the sums at a coordinate and at the coordinates adjacent to it.
    #[inline]
    fn learn(&mut self, at: usize, nodes: u64) {
        let needed = at.saturating_sub(1)..(at + 2).min(self.side);
        if self.known.is_empty() {
            self.known = needed.clone();
            self.sums[needed].fill(0);
            return;
        }
        while needed.start < self.known.start {
            self.known.start -= 1;
            self.sums[self.known.start] = self.sums[self.known.start + 1] + nodes;
        }
        while self.known.end < needed.end {
            self.sums[self.known.end] = self.sums[self.known.end - 1] + nodes;
            self.known.end += 1;
        }
    }

    #[inline]
    fn change(&mut self, at: usize, change: impl Fn(u64, u64) -> u64) {
        let (first, shift) = (self.known.start, self.side - 1 - at);
        let length = self.known.len().next_multiple_of(CHUNK);
        let (sums, _) = self.sums[first..first + length].as_chunks_mut::<CHUNK>();
        let (hops, _) = self.hops[first + shift..][..length].as_chunks::<CHUNK>();
        for (sums, hops) in sums.iter_mut().zip(hops) {
            *sums = std::array::from_fn(|index| change(sums[index], hops[index]));
        }
    }
}

/// Returns the number of hops between two coordinates on an axis, given their difference.
fn hops(grid: &Grid, axis: usize, apart: u64) -> u64 {
    if grid.wraps(axis) { apart.min(u64::from(grid.side(axis)) - apart) } else { apart }
}

/// Returns the sum of hops over all pairs of nodes in a box. Takes O(sum of the sides) time.
pub(crate) fn hops_in(grid: &Grid, sides: Sides) -> u64 {
    let nodes = pavior_mesh::volume(sides);
    let along = |axis: usize| {
        let (side, layer) = (u64::from(sides[axis]), nodes / u64::from(sides[axis]));
        let apart = |k: u64| (side - k) * hops(grid, axis, k);
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
                let mut hop_sums = HopSums::new(grid);
                for &point in &points {
                    hop_sums.add(point);
                }
                assert_eq!((hop_sums.total(), hops_in(&grid, sides)), (pairs, pairs), "{name}");
                hop_sums.load(&points.iter().copied());
                assert_eq!(hop_sums.total(), pairs, "{name}");
                for &from in &points {
                    let hops = points.iter().map(|&to| u64::from(grid.distance(from, to)));
                    assert_eq!(hop_sums.of(from), hops.sum::<u64>(), "{name}");
                }
            }
        }
    }

    #[test]
    fn nothing_is_left_of_a_set_that_was_cleared() {
        // Each node closer to the origin makes the last chunk extend farther past the known sums,
        // because chunks never shrink.
        let grid: Grid = "mesh:24x2".parse().unwrap();
        let mut hop_sums = HopSums::new(grid);
        (3..11).rev().for_each(|x| hop_sums.add([x, 0, 0]));
        hop_sums.clear();
        let zero = |node| hop_sums.of(grid.point(node)) == 0;
        assert!(Cuboid::whole(&grid).nodes(&grid).all(zero));
    }
}
