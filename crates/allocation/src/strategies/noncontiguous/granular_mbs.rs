//! Granular MBS: a multiple buddy strategy whose blocks are halved along one axis at a time.
//!
//! The strategy succeeds if and only if enough nodes are free. There are blocks of 2, 8, 32, ...
//! nodes in addition to blocks of 4, 16, 64, ..., so a request gets fewer pieces than from
//! [`mbs`](super::mbs).
//!
//! ```text
//!   7x3 mesh: starting with single nodes, neighbors are joined along x, y, z, x, and so on.
//!     +---------+-----+---+     The final blocks are given by the binary
//!     +---------+-----+---+     digits of the sides: 7 = 4 + 2 + 1, 3 = 2 + 1.
//!     | 4x2     | 2x2 |1x2|     4x2 splits into 2x2 and 2x2, 2x2 into 2x1 and 2x1.
//!     |         |     |   |
//!     +---------+-----+---+
//! ```
//!
//! Cost: the same as [`mbs`](super::mbs), but with about d times as many levels.
//!
//! Source: the allocator of the same name in SST's scheduler element. SST starts from single nodes
//! and joins equal blocks along x, y and z in turn until nothing changes. It joins larger blocks
//! first, in the order z, y, x.
//!
//! Departures: the result of SST's rounds is known in advance, so it is computed directly. On each
//! axis, a node's block doubles in every round until the block's buddy would be outside the
//! machine, so blocks are products of dyadic intervals. (A test simulates SST's rounds and compares
//! the results.) The request is divided as in MBS with R = 2. SST takes the largest existing volume
//! that does not exceed the remaining count, which gives the same result. Wraps are ignored. The
//! options are the same as for [`mbs`](super::mbs).

use std::sync::Arc;

use pavior_kernel::Options;
use pavior_mesh::{Grid, Sides};

use super::mbs::{MultipleBuddies, ORDER};
use crate::kind::{BoxedStrategy, Entry, StrategyKind};
use crate::strategies::shared::buddies::{Buddies, Root};
use crate::strategies::shared::free_set::{FREE, FreeOrder};

pub(crate) static ENTRY: Entry = Entry {
    name: "granular-mbs",
    title: "Granular Multiple Buddy Strategy",
    source: "Structural Simulation Toolkit (SST), scheduler element",
    options: &[FREE, ORDER],
    variants: &["", "free=fifo", "free=lifo:order=small"],
    does: StrategyKind::noncontiguous(build),
};

fn build(grid: &Grid, options: &Options) -> BoxedStrategy {
    let order = FreeOrder::of(options);
    MultipleBuddies::boxed(Buddies::new(*grid, 2, final_blocks(grid), order), options)
}

/// Returns the final blocks: those that cannot be joined any further.
fn final_blocks(grid: &Grid) -> Vec<Root> {
    let [xs, ys, zs] = grid.sides().map(intervals);
    let mut roots = Vec::new();
    for &(z, k) in &zs {
        for &(y, j) in &ys {
            for &(x, i) in &xs {
                roots.push(Root { base: [x, y, z], sides_by_level: sides_by_level([i, j, k]) });
            }
        }
    }
    roots
}

/// Splits a side into intervals of powers of two, largest first, as `(start, log2 of the length)`.
fn intervals(side: u16) -> Vec<(u16, u32)> {
    let digits = (0..16).rev().filter(|digit| side >> digit & 1 == 1);
    digits.map(|digit| (side & !((2 << digit) - 1) as u16, digit)).collect()
}

/// Returns the sides of a block at each level, from a single node up to the given powers of two.
fn sides_by_level(powers: [u32; 3]) -> Arc<[Sides]> {
    let mut sides = [1; 3];
    let mut sides_by_level = vec![sides];
    for round in 1..=powers.into_iter().max().expect("three powers") {
        for axis in (0..3).filter(|&axis| round <= powers[axis]) {
            sides[axis] *= 2;
            sides_by_level.push(sides);
        }
    }
    sides_by_level.into()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use pavior_mesh::{Cuboid, volume};

    /// Simulates SST's rounds. Returns all blocks that exist at any point, and the final blocks.
    fn played(grid: &Grid) -> (BTreeSet<Cuboid>, BTreeSet<Cuboid>) {
        let key = |c: &Cuboid| [c.base[2], c.base[1], c.base[0]];
        let mut blocks: Vec<Cuboid> =
            Cuboid::whole(grid).nodes(grid).map(|node| Cuboid::node(grid.point(node))).collect();
        let mut ever: BTreeSet<Cuboid> = blocks.iter().copied().collect();
        loop {
            let before = blocks.len();
            for axis in 0..3 {
                let mut ranks: Vec<u64> = blocks.iter().map(|c| volume(c.sides)).collect();
                ranks.sort();
                ranks.dedup();
                for rank in ranks.into_iter().rev() {
                    let mut same: Vec<Cuboid> =
                        blocks.iter().copied().filter(|c| volume(c.sides) == rank).collect();
                    same.sort_by_key(key);
                    for block in same {
                        let mut buddy = block;
                        buddy.base[axis] += block.sides[axis];
                        // Neither block may already have been joined in this round.
                        if blocks.contains(&block) && blocks.contains(&buddy) {
                            blocks.retain(|other| *other != block && *other != buddy);
                            let mut joined = block;
                            joined.sides[axis] *= 2;
                            blocks.push(joined);
                            ever.insert(joined);
                        }
                    }
                }
            }
            if blocks.len() == before {
                return (ever, blocks.into_iter().collect());
            }
        }
    }

    /// Collects a block and all of its descendants.
    fn descendants(cuboid: Cuboid, sides_by_level: &[Sides], found: &mut BTreeSet<Cuboid>) {
        found.insert(cuboid);
        let Some(&sides) =
            sides_by_level.len().checked_sub(2).and_then(|level| sides_by_level.get(level))
        else {
            return;
        };
        let axis = (0..3).find(|&axis| sides[axis] != cuboid.sides[axis]).unwrap();
        let mut base = cuboid.base;
        for _ in 0..2 {
            descendants(
                Cuboid::new(base, sides),
                &sides_by_level[..sides_by_level.len() - 1],
                found,
            );
            base[axis] += sides[axis];
        }
    }

    #[test]
    fn the_blocks_are_those_of_the_rounds_of_joining() {
        for sides in [[7, 3, 1], [8, 8, 1], [5, 4, 6], [3, 3, 3], [13, 2, 1], [1, 6, 5], [9, 1, 1]]
        {
            let grid = Grid::mesh(&sides).unwrap();
            let (mut roots, mut blocks) = (BTreeSet::new(), BTreeSet::new());
            for Root { base, sides_by_level } in final_blocks(&grid) {
                let root = Cuboid::new(base, *sides_by_level.last().unwrap());
                roots.insert(root);
                descendants(root, &sides_by_level, &mut blocks);
            }
            assert_eq!((blocks, roots), played(&grid), "{grid}");
        }
    }

    #[test]
    fn intervals_are_the_binary_digits() {
        assert_eq!(intervals(7), [(0, 2), (4, 1), (6, 0)]);
        assert_eq!(intervals(8), [(0, 3)]);
        assert_eq!(intervals(65535).len(), 16);
        assert_eq!(intervals(32768), [(0, 15)]);
    }
}
