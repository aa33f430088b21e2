//! Multiple Buddy Strategy: write the count in base R, where digit i is the number of blocks of
//! side 2^i to grant.
//!
//! The strategy succeeds if and only if enough nodes are free, because a missing block is split off
//! from a larger one or, failing that, replaced with R smaller ones. A request for n = R^i nodes
//! gets a single block (a square or a cube) if one is free, and pieces otherwise.
//!
//! ```text
//!   7 nodes = 13 in base 4        9x2 mesh: roots of side 2, and one column of single nodes
//!     b c . .                       +---+---+---+---+-+
//!     d . . .                       |   |   |   |   +-+
//!     a a . .     a: one 2x2        +---+---+---+---+-+   18 = 102 in base 4: there is no 4x4,
//!     a a . .     b c d: three 1x1                        so four 2x2 and two 1x1
//! ```
//!
//! Cost: O(n + L N/64) to find n of N nodes with L levels (one bit set per level), and O(affected
//! blocks x L) for a grant or a release.
//!
//! Source (for squares): Liu, Lo, Windisch & Nitzberg, Supercomputing '94; Lo, Windisch, Liu &
//! Nitzberg, TPDS 8(7), 1997. The initial blocks for any W x H match SST's scheduler element.
//!
//! Departures: with d axes longer than 1, the radix R is 2^d, so blocks are cubes in 3D and
//! segments in 1D. The initial partition of W x D x H consists of the largest cube of side 2^t that
//! fits, and of the slabs on its right, behind it and above it, which are divided in the same way.
//! Levels above the largest block exist but are empty. Blocks merge only with their siblings, even
//! if other adjacent blocks are free, and initial blocks never merge. Wraps are ignored. The papers
//! keep an ordered list of free blocks for each level but do not state the order. Here, each list
//! is in row-major order of the bases or, with `free=fifo` or `free=lifo`, in release order or its
//! reverse. The papers do not say how processors in several blocks are numbered. Here, `order`
//! determines which blocks come first.

use std::cmp::Reverse;
use std::sync::Arc;

use pavior_kernel::{OptionSpec, Options, Stream, Values};
use pavior_mesh::{Cuboid, Grid, Occupancy, Request, Sides};

use crate::kind::{BoxedStrategy, Entry, StrategyKind};
use crate::strategies::shared::buddies::{Buddies, Root};
use crate::strategies::shared::free_set::{FREE, FreeOrder};
use crate::strategy::MachineStrategy;
use crate::{Placement, Strategy, Work};

pub(crate) static ENTRY: Entry = Entry {
    name: "mbs",
    title: "Multiple Buddy Strategy",
    source: "Liu, Lo, Windisch & Nitzberg 1994; Lo, Windisch, Liu & Nitzberg 1997",
    options: &[FREE, ORDER],
    variants: &["", "free=fifo", "free=lifo:order=small"],
    does: StrategyKind::noncontiguous(build),
};

/// The `order` option for strategies that grant pieces of several sizes.
pub(super) const ORDER: OptionSpec = OptionSpec {
    key: "order",
    values: Values::OneOf(&["large", "small"]),
    default: "large",
    meaning: "the pieces to rank first; matters only if ranks are assigned part by part",
    bare: false,
};

/// Orders a job's pieces as the options specify. `parts` must be sorted by size, largest first.
#[inline]
pub(super) fn numbered(parts: Vec<Cuboid>, smallest_first: bool) -> Vec<Cuboid> {
    if smallest_first { turned_round(&parts) } else { parts }
}

/// Sorts pieces by size, smallest first. Pieces of equal size keep their order.
fn turned_round(parts: &[Cuboid]) -> Vec<Cuboid> {
    debug_assert!(parts.is_sorted_by_key(|part| Reverse(part.volume())));
    let of_a_size = parts.chunk_by(|one, next| one.volume() == next.volume());
    of_a_size.rev().flatten().copied().collect()
}

pub(super) fn smallest_first(options: &Options) -> bool {
    options.get("order") == "small"
}

fn build(grid: &Grid, options: &Options) -> BoxedStrategy {
    let long = (0..3).filter(|&axis| grid.side(axis) > 1).count().max(1);
    let order = FreeOrder::of(options);
    MultipleBuddies::boxed(Buddies::new(*grid, 1 << long, initial_blocks(grid), order), options)
}

/// Returns the blocks that have no parent.
fn initial_blocks(grid: &Grid) -> Vec<Root> {
    let is_long = |axis: usize| grid.side(axis) > 1;
    let cube =
        |side: u16| -> Sides { std::array::from_fn(|axis| if is_long(axis) { side } else { 1 }) };
    let longest = (0..3).map(|axis| grid.side(axis)).max().expect("three sides").ilog2();
    let sides_by_top: Vec<Arc<[Sides]>> =
        (0..=longest).map(|top| (0..=top).map(|level| cube(1 << level)).collect()).collect();
    let mut roots = Vec::new();
    // Use a stack instead of recursion, since a thin machine may have as many blocks as columns.
    let mut left = vec![Cuboid::whole(grid)];
    while let Some(cuboid) = left.pop() {
        let sides = (0..3).filter(|&axis| is_long(axis)).map(|axis| cuboid.sides[axis]);
        let level = sides.min().unwrap_or(1).ilog2();
        let corner = cube(1 << level);
        roots
            .push(Root { base: cuboid.base, sides_by_level: sides_by_top[level as usize].clone() });
        let mut rest = cuboid;
        for (axis, &cut) in corner.iter().enumerate() {
            if rest.sides[axis] > cut {
                let mut slab = rest;
                slab.base[axis] += cut;
                slab.sides[axis] -= cut;
                left.push(slab);
                rest.sides[axis] = cut;
            }
        }
    }
    roots
}

/// The multiple buddy strategy, for any division of the machine into buddy blocks.
#[derive(Clone)]
pub(super) struct MultipleBuddies {
    buddies: Buddies,
    smallest_first: bool,
}

impl MultipleBuddies {
    pub(super) fn boxed(buddies: Buddies, options: &Options) -> BoxedStrategy {
        Box::new(MultipleBuddies { buddies, smallest_first: smallest_first(options) })
    }
}

impl Strategy for MultipleBuddies {
    fn find(&mut self, free: &Occupancy, request: &Request, _: &mut Stream) -> Option<Placement> {
        let enough = request.nodes <= free.count();
        enough.then(|| {
            Placement::Parts(numbered(self.buddies.find(request.nodes), self.smallest_first))
        })
    }

    fn granted(&mut self, placement: &Placement) {
        self.buddies.take_out(placement);
    }

    fn released(&mut self, placement: &Placement) {
        self.buddies.put_back(placement);
    }

    fn work(&self) -> Work {
        self.buddies.work()
    }

    fn fork(&self) -> Box<dyn Strategy> {
        Box::new(self.clone())
    }

    fn validate(&self, free: &Occupancy) {
        self.buddies.validate(free);
    }
}

impl MachineStrategy for MultipleBuddies {
    fn reset(&mut self, free: &Occupancy) -> bool {
        self.buddies.reset(free)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cuboids(grid: &Grid) -> Vec<Cuboid> {
        let root = |root: &Root| Cuboid::new(root.base, *root.sides_by_level.last().unwrap());
        let mut cuboids: Vec<Cuboid> = initial_blocks(grid).iter().map(root).collect();
        cuboids.sort_by_key(|cuboid| grid.id(cuboid.base));
        cuboids
    }

    #[test]
    fn the_initial_blocks_partition_any_machine() {
        for sides in
            [[2, 9, 1], [13, 7, 1], [5, 4, 6], [7, 1, 1], [1, 3, 5], [1, 1, 1], [16, 16, 1]]
        {
            let grid = Grid::mesh(&sides).unwrap();
            let mut free = Occupancy::all_free(grid);
            for cuboid in cuboids(&grid) {
                free.take(&cuboid).unwrap();
            }
            assert_eq!(free.count(), 0, "{grid}");
        }
        let squares = cuboids(&Grid::mesh(&[5, 3]).unwrap());
        let sides: Vec<u16> = squares.iter().map(|square| square.sides[0]).collect();
        assert_eq!(sides, [2, 2, 1, 1, 1, 1, 1, 1, 1]);
        assert_eq!(cuboids(&Grid::mesh(&[16, 16]).unwrap()).len(), 1);
        assert_eq!(cuboids(&Grid::mesh(&[65535, 2]).unwrap()).len(), 32767 + 2);
    }
}
