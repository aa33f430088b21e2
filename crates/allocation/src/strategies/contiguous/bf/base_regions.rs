//! Bases and their neighboring bases, for Best Fit's `base` and `area` rules.

use pavior_mesh::{Coordinates, Grid, NodeId, Scan, Sides};

/// Returns the canonical bases adjacent to a shape's canonical base, in both directions along each
/// axis. A neighbor beyond an end is `None`. On an axis with only one node, or a ring that the
/// shape fills, a base has no neighbors.
pub(crate) fn neighbours(
    grid: &Grid,
    base: Coordinates,
    shape: Sides,
) -> impl Iterator<Item = Option<Coordinates>> + use<> {
    let grid = *grid;
    (0..3).flat_map(move |axis| {
        let (n, starts) = (grid.side(axis), grid.starts(axis, shape[axis]));
        let closed = n == 1 || (grid.wraps(axis) && shape[axis] == n);
        let ring = grid.wraps(axis);
        let (at, last) = (base[axis], starts - 1);
        let below = if at > 0 { Some(at - 1) } else { ring.then_some(last) };
        let above = if at < last { Some(at + 1) } else { ring.then_some(0) };
        let moved = move |to: Option<u16>| {
            to.map(|to| {
                let mut point = base;
                point[axis] = to;
                point
            })
        };
        [below, above].map(moved).into_iter().filter(move |_| !closed)
    })
}

/// Counts a base's neighboring positions that are beyond an end or are not bases.
pub(crate) fn closed_neighbours(
    grid: &Grid,
    base: Coordinates,
    shape: Sides,
    is_base: impl Fn(Coordinates) -> bool,
) -> i64 {
    neighbours(grid, base, shape).filter(|at| at.is_none_or(|at| !is_base(at))).count() as i64
}

/// Returns the number of bases connected to a base, including the base itself. A slow but simple
/// method that only the oracle uses.
pub(crate) fn region(
    grid: &Grid,
    base: Coordinates,
    shape: Sides,
    is_base: impl Fn(Coordinates) -> bool,
) -> u32 {
    let (mut seen, mut open, mut count) = (vec![false; grid.nodes() as usize], vec![base], 1);
    seen[grid.id(base).index()] = true;
    while let Some(at) = open.pop() {
        for next in neighbours(grid, at, shape).flatten() {
            let index = grid.id(next).index();
            if !std::mem::replace(&mut seen[index], true) && is_base(next) {
                open.push(next);
                count += 1;
            }
        }
    }
    count
}

/// The connected regions of a shape's bases, labeled in one O(N) pass.
#[derive(Clone, Debug, Default)]
pub(crate) struct Regions {
    /// For each node, the size of its region, or 0 if the node is not a base.
    sizes: Vec<u32>,
    members: Vec<Coordinates>,
}

impl Regions {
    pub(crate) fn label(
        &mut self,
        grid: &Grid,
        shape: Sides,
        is_base: impl Fn(Coordinates) -> bool,
    ) {
        self.sizes.clear();
        self.sizes.resize(grid.nodes() as usize, 0);
        for seed in Scan::default().bases(*grid, shape) {
            if self.size(grid.id(seed)) == 0 && is_base(seed) {
                self.flood(grid, seed, shape, &is_base);
            }
        }
    }

    fn flood(
        &mut self,
        grid: &Grid,
        seed: Coordinates,
        shape: Sides,
        is_base: impl Fn(Coordinates) -> bool,
    ) {
        self.members.clear();
        self.members.push(seed);
        self.sizes[grid.id(seed).index()] = u32::MAX;
        let mut next = 0;
        while let Some(&at) = self.members.get(next) {
            next += 1;
            for beside in neighbours(grid, at, shape).flatten() {
                let size = &mut self.sizes[grid.id(beside).index()];
                if *size == 0 && is_base(beside) {
                    *size = u32::MAX;
                    self.members.push(beside);
                }
            }
        }
        for member in &self.members {
            self.sizes[grid.id(*member).index()] = self.members.len() as u32;
        }
    }

    /// Returns the size of a base's region.
    pub(crate) fn size(&self, base: NodeId) -> u32 {
        self.sizes[base.index()]
    }
}
