//! Geometric bisection: the logical grid is cut in the middle of its longest axis, and the nodes
//! are divided into sets of matching sizes. Each part is cut again until it has only one rank.
//!
//! ```text
//!   grid 4x2:   0 1 | 2 3      the nodes in order of x:   n n n n | n n n n
//!               4 5 | 6 7
//! ```
//!
//! Nodes are ordered along the machine axis that corresponds to the axis being cut. On a ring,
//! coordinates start at the end of the longest gap between the job's nodes.
//!
//! Cost: O(n log n) for each of the six possible assignments of logical axes to machine axes.

use std::cmp::Ordering;
use std::ops::Range;

use pavior_mesh::{Coordinates, Grid, NodeId};

use super::AXIS_ORDERS;
use crate::footprint::Arc;

/// The cuts through a logical grid, which do not depend on the nodes.
#[derive(Debug)]
pub(super) struct Cuts {
    /// The ranks, ordered so that every cut splits a contiguous range.
    ranks: Vec<u32>,
    /// The cuts in preorder, with the cuts in the lower part before those in the upper part.
    cuts: Vec<Cut>,
}

/// A cut across one axis of the logical grid.
#[derive(Clone, Copy, Debug)]
struct Cut {
    axis: usize,
    /// The number of ranks below the cut.
    below: usize,
}

impl Cuts {
    /// Computes the cuts through a grid, given each rank's position.
    pub(super) fn of(mut places: Vec<(Coordinates, u32)>) -> Cuts {
        let mut cuts = Vec::with_capacity(places.len());
        cut(&mut places, &mut cuts);
        Cuts { ranks: places.into_iter().map(|(_, rank)| rank).collect(), cuts }
    }

    /// Computes one map for each of the six assignments of logical axes to machine axes.
    pub(super) fn bisections(
        &self,
        grid: &Grid,
        nodes: &[NodeId],
    ) -> impl Iterator<Item = Vec<NodeId>> {
        let points: Vec<Coordinates> = nodes.iter().map(|&node| grid.point(node)).collect();
        let arcs = [0, 1, 2].map(|axis| Arc::around(grid, axis, &points));
        let places: Vec<Coordinates> = points
            .iter()
            .map(|point| [0, 1, 2].map(|axis| arcs[axis].place(point[axis])))
            .collect();
        let nodes = nodes.to_vec();
        AXIS_ORDERS.iter().map(move |turn| {
            let mut placed: Vec<Placed> =
                (0..).zip(&places).map(|(index, &at)| Placed::of(at, turn, index)).collect();
            bisect(&mut placed, &mut self.cuts.iter());
            let mut map = vec![NodeId(0); placed.len()];
            for (&rank, placed) in self.ranks.iter().zip(&placed) {
                map[rank as usize] = nodes[placed.index as usize];
            }
            map
        })
    }
}

/// A node's position, with machine axes in the order of the corresponding logical axes.
#[derive(Clone, Copy)]
struct Placed {
    /// The coordinates, with 16 bits per axis and the first axis in the highest bits.
    place: u64,
    /// The node's index.
    index: u32,
}

impl Placed {
    fn of(at: Coordinates, turn: &[usize; 3], index: u32) -> Placed {
        let place = turn.iter().fold(0, |place, &axis| place << 16 | u64::from(at[axis]));
        Placed { place, index }
    }

    /// Returns the position as a unique key, with `axis` most significant and the other axes
    /// following cyclically.
    fn from(self, axis: usize) -> u64 {
        let bits = 16 * axis as u32;
        (self.place << bits | self.place >> (48 - bits)) & ((1 << 48) - 1)
    }
}

/// Sorts the ranks so that every cut splits a contiguous range, and records the cuts.
fn cut(ranks: &mut [(Coordinates, u32)], cuts: &mut Vec<Cut>) {
    if ranks.len() < 2 {
        return;
    }
    let range = |axis: usize| {
        let along = ranks.iter().map(|(at, _)| at[axis]);
        (along.clone().min().unwrap_or(0), along.max().unwrap_or(0))
    };
    // If several axes are equally long, choose the first one.
    let longest = (0..3).rev().max_by_key(|&axis| range(axis).1 - range(axis).0);
    let axis = longest.expect("there are three axes");
    let (low, high) = range(axis);
    let middle = low + (high - low + 1).div_ceil(2);
    let (low, high): (Vec<_>, Vec<_>) = ranks.iter().partition(|(at, _)| at[axis] < middle);
    let below = low.len();
    ranks[..below].copy_from_slice(&low);
    ranks[below..].copy_from_slice(&high);
    cuts.push(Cut { axis, below });
    let (low, high) = ranks.split_at_mut(below);
    cut(low, cuts);
    cut(high, cuts);
}

/// Sorts the nodes so that, for each cut, as many nodes as ranks are below it.
fn bisect<'c>(nodes: &mut [Placed], cuts: &mut impl Iterator<Item = &'c Cut>) {
    if nodes.len() < 2 {
        return;
    }
    let Cut { axis, below } = *cuts.next().expect("there is a cut between any two ranks");
    part(nodes, below, axis);
    let (low, high) = nodes.split_at_mut(below);
    bisect(low, cuts);
    bisect(high, cuts);
}

/// The size below which a set of nodes is partitioned only by comparing positions.
const FEW: usize = 64;

/// Moves the `below` lowest nodes to the front, comparing positions along `axis` first. The order
/// within each part is arbitrary.
///
/// Cost: O(nodes + range of coordinates).
fn part(nodes: &mut [Placed], below: usize, axis: usize) {
    let mut tied = 0..nodes.len();
    if nodes.len() >= FEW {
        tied = part_by_coordinate(nodes, below, axis);
    }
    let below = below - tied.start;
    let tied = &mut nodes[tied];
    if below > 0 {
        tied.select_nth_unstable_by_key(below, |placed| placed.from(axis));
    }
}

/// Partitions nodes around the coordinate of the node that would be at index `below` after sorting.
/// Returns the range of nodes that have this coordinate.
fn part_by_coordinate(nodes: &mut [Placed], below: usize, axis: usize) -> Range<usize> {
    let shift = 32 - 16 * axis as u32;
    let coordinate = |placed: &Placed| usize::from((placed.place >> shift) as u16);
    let mut counts = Vec::new();
    for placed in &*nodes {
        let at = coordinate(placed);
        if at >= counts.len() {
            counts.resize(at + 1, 0);
        }
        counts[at] += 1;
    }
    let (mut middle, mut before) = (0, 0);
    while before + counts[middle] <= below {
        before += counts[middle];
        middle += 1;
    }
    // Invariant: `..low` is less than `middle`, `low..index` is equal, and `high..` is greater.
    let (mut low, mut index, mut high) = (0, 0, nodes.len());
    while index < high {
        match coordinate(&nodes[index]).cmp(&middle) {
            Ordering::Less => {
                nodes.swap(low, index);
                (low, index) = (low + 1, index + 1);
            }
            Ordering::Equal => index += 1,
            Ordering::Greater => {
                high -= 1;
                nodes.swap(index, high);
            }
        }
    }
    low..high
}
