//! The free blocks at every level, computed from the free nodes, 64 nodes at a time.
//!
//! Each block is represented by one bit, at its base node. A block is free if all of its children
//! are, so a level's bits are the AND of shifted bits from the level below. A free block is maximal
//! if its parent is not free.
//!
//! Cost: O(L N/64) for L levels. Tracking each change instead would take one visit per changed
//! block.

use pavior_mesh::{Grid, NodeId, Occupancy, Sides};

use crate::strategies::shared::buddies::Root;

/// The base nodes of the blocks at each level except the lowest. Requires that all blocks at the
/// same level have the same shape.
#[derive(Debug)]
pub(super) struct BuddyLevels {
    above: Vec<Level>,
}

#[derive(Debug)]
struct Level {
    /// For each node, a bit that is set if the node is the base of a block at this level.
    bases: Box<[u64]>,
    /// For each halved axis, the difference between the base numbers of the first and second
    /// children.
    steps: Vec<usize>,
}

impl BuddyLevels {
    /// Creates the levels. Returns `None` if blocks at the same level have different shapes.
    pub(super) fn new(grid: &Grid, roots: &[Root]) -> Option<BuddyLevels> {
        let tallest = roots.iter().max_by_key(|root| root.sides_by_level.len())?;
        let alike = |root: &Root| tallest.sides_by_level.starts_with(&root.sides_by_level);
        if !roots.iter().all(alike) {
            return None;
        }
        let pairs = tallest.sides_by_level.windows(2);
        let above = pairs.enumerate().map(|(below, pair)| {
            let mut bases = vec![0; (grid.nodes() as usize).div_ceil(64)];
            let tall = roots.iter().filter(|root| root.sides_by_level.len() > below + 1);
            for root in tall {
                mark(grid, root, pair[1], &mut bases);
            }
            Level { bases: bases.into(), steps: steps(grid, pair[0], pair[1]) }
        });
        Some(BuddyLevels { above: above.collect() })
    }

    /// Passes the maximal free blocks at each level to `see`, from the lowest level up.
    pub(super) fn of(&self, free: &Occupancy, mut see: impl FnMut(usize, &[u64])) {
        let words = (free.grid().nodes() as usize).div_ceil(64);
        let word = |index: usize| free.window(NodeId(64 * index as u32), 64);
        let mut blocks: Vec<u64> = (0..words).map(word).collect();
        for (below, level) in self.above.iter().enumerate() {
            let mut parents = blocks.clone();
            for &step in &level.steps {
                and_ahead(&mut parents, step);
            }
            for (parent, base) in parents.iter_mut().zip(&level.bases) {
                *parent &= base;
            }
            let mut merged = parents.clone();
            for &step in &level.steps {
                or_behind(&mut merged, step);
            }
            for (block, merged) in blocks.iter_mut().zip(&merged) {
                *block &= !merged;
            }
            see(below, &blocks);
            blocks = parents;
        }
        see(self.above.len(), &blocks);
    }
}

/// Marks the bases of a root's blocks that have the given sides.
fn mark(grid: &Grid, root: &Root, sides: Sides, bases: &mut [u64]) {
    let whole = root.sides_by_level[root.sides_by_level.len() - 1];
    let along = |axis: usize| (0..whole[axis]).step_by(usize::from(sides[axis]));
    for z in along(2) {
        for y in along(1) {
            for x in along(0) {
                let [x0, y0, z0] = root.base;
                let node = grid.id([x0 + x, y0 + y, z0 + z]).index();
                bases[node / 64] |= 1 << (node % 64);
            }
        }
    }
}

/// Returns, for each halved axis, the difference between the base numbers of the first and second
/// children.
fn steps(grid: &Grid, child: Sides, own: Sides) -> Vec<usize> {
    let halved = (0..3).filter(|&axis| child[axis] != own[axis]);
    let second = |axis: usize| {
        let mut base = [0; 3];
        base[axis] = child[axis];
        grid.id(base).index()
    };
    halved.map(second).collect()
}

/// Clears each bit unless the bit `step` positions later is also set.
fn and_ahead(words: &mut [u64], step: usize) {
    let (skip, shift) = (step / 64, step % 64);
    for index in 0..words.len() {
        let at = |index: usize| words.get(index).copied().unwrap_or(0);
        let low = at(index + skip) >> shift;
        let high = if shift > 0 { at(index + skip + 1) << (64 - shift) } else { 0 };
        words[index] &= low | high;
    }
}

/// Sets each bit if the bit `step` positions before it is set.
fn or_behind(words: &mut [u64], step: usize) {
    let (skip, shift) = (step / 64, step % 64);
    for index in (skip..words.len()).rev() {
        let high = words[index - skip] << shift;
        let low =
            if shift > 0 && index > skip { words[index - skip - 1] >> (64 - shift) } else { 0 };
        words[index] |= low | high;
    }
}
