//! Two-Dimensional Buddy System (`2db`): squares of side 2^k, split in four and merged again.
//!
//! Grants the square of the least k with 2^k >= both sides, from the first free block of the
//! smallest size that holds it. Misses free boxes that are not aligned to their size, and rounds
//! up.
//!
//! ```text
//!   8x8, request 3x3 -> k = 2:     + - - - + - - - +
//!   the block 8 is split in four   |  NW   |  NE   |   all four are free lists of size 4;
//!   blocks of 4, the one in the    + - - - + - - - +   releasing the fourth merges them
//!   south-west is granted          | grant |  SE   |   into the block of 8 again
//!                                  + - - - + - - - +
//! ```
//!
//! Cost: O(log n) to find, O(log^2 n) to grant or release an aligned block on a mesh of side n (a
//! step a level, each in a list). Quoted O(log sqrt N) and O(N).
//!
//! Source: Li & Cheng, "A two-dimensional buddy system for dynamic resource allocation in a
//! partitionable mesh connected system", JPDC 12, 1991. Departures: k is rounded up; the NAS paper
//! prints a floor bracket, but its own example (3x3 gets 4x4) is the ceiling. Boxes that are no
//! blocks of the list (a failed node, a reservation) are taken out of the free blocks that they
//! meet by splitting those, and given back as aligned blocks that merge: the free lists always hold
//! the maximal free blocks. The order of a list is not stated: here it is that of the bases,
//! row-major (`free=fifo`, `free=lifo`: of their return). Turning a request changes nothing, since
//! both sides are rounded to one.

use pavior_kernel::{Options, Stream};
use pavior_mesh::{Cuboid, Grid, NodeId, Occupancy, Request};

use crate::claim::{BoxGroup, Claim, Grants, Question, Recognition};
use crate::contiguous::complete;
use crate::kind::{Entry, StrategyKind, Unsupported};
use crate::strategies::shared::free_set::{FREE, FreeOrder, FreeSet};
use crate::{Placement, Strategy, Work};

pub(crate) static ENTRY: Entry = Entry {
    name: "2db",
    title: "Two-Dimensional Buddy System",
    source: "Li & Cheng 1991",
    options: &[FREE],
    variants: &["", "free=fifo", "free=lifo"],
    does: StrategyKind::contiguous(|grid, options| {
        Box::new(BuddySystem::new(*grid, FreeOrder::of(options)))
    })
    .with_supports(supports)
    .with_claim(claim),
};

fn supports(grid: &Grid, _: &Options) -> Result<(), Unsupported> {
    let [w, d, h] = grid.sides();
    if w == d && h == 1 && w.is_power_of_two() && !grid.has_wrap() {
        Ok(())
    } else {
        Err(Unsupported("it divides a square mesh whose side is a power of two".into()))
    }
}

fn claim(options: &Options) -> Claim {
    Claim {
        family: |request, grid, _| {
            let block = level(request).map(|k| 1 << k).filter(|side| *side <= grid.side(0));
            block.map(|side| BoxGroup::cuboid([side, side, 1])).into_iter().collect()
        },
        grants: Grants::RoundsUp {
            most: |request, _, _| level(request).map_or(0, |k| 1 << (2 * k)),
        },
        recognition: Recognition::Partial(Question::Boxes),
        ..complete(options)
    }
}

/// The k of the smallest square of side 2^k that holds a request; none if it needs a third axis.
fn level(request: &Request) -> Option<usize> {
    let shape = request.shape?;
    let flat = shape.contains(&1);
    let longest = u32::from(*shape.iter().max().expect("three sides"));
    let k = longest.next_power_of_two().trailing_zeros() as usize;
    (flat && k < 16).then_some(k)
}

#[derive(Clone)]
struct BuddySystem {
    grid: Grid,
    /// By k: the bases of the maximal free blocks of side 2^k.
    blocks: Vec<FreeSet>,
    /// Levels looked at, and blocks visited for grants and releases.
    work: Work,
}

/// An aligned square of side 2^k.
#[derive(Clone, Copy)]
struct Block {
    k: usize,
    x: u16,
    y: u16,
}

impl Block {
    fn side(self) -> u16 {
        1 << self.k
    }

    fn cuboid(self) -> Cuboid {
        Cuboid::new([self.x, self.y, 0], [self.side(), self.side(), 1])
    }

    /// The four quarters: south-west, south-east, north-west, north-east.
    fn quarters(self) -> [Block; 4] {
        let half = self.side() / 2;
        let at = |x: u16, y: u16| Block { k: self.k - 1, x: self.x + x, y: self.y + y };
        [at(0, 0), at(half, 0), at(0, half), at(half, half)]
    }

    /// The block of the next size that this one is a quarter of.
    fn parent(self) -> Block {
        let mask = !(2 * self.side() - 1);
        Block { k: self.k + 1, x: self.x & mask, y: self.y & mask }
    }

    /// The number of its base on a machine.
    fn key(self, grid: &Grid) -> u32 {
        grid.id([self.x, self.y, 0]).0
    }
}

impl BuddySystem {
    fn new(grid: Grid, order: FreeOrder) -> BuddySystem {
        let top = grid.side(0).trailing_zeros() as usize;
        let mut blocks = vec![FreeSet::new(grid.nodes(), order); top + 1];
        blocks[top].insert(0);
        BuddySystem { grid, blocks, work: Work::default() }
    }

    fn whole(&self) -> Block {
        Block { k: self.blocks.len() - 1, x: 0, y: 0 }
    }

    /// Takes a free box out of the free blocks of `block`, splitting those that reach beyond it.
    fn take(&mut self, cuboid: &Cuboid, block: Block) {
        self.work.upkeep += 1;
        let own = block.cuboid();
        if !own.intersects(&self.grid, cuboid) {
            return;
        }
        let free = self.blocks[block.k].remove(block.key(&self.grid));
        if free && inside(&own, cuboid) {
            return;
        }
        if block.k > 0 {
            for quarter in block.quarters() {
                if free {
                    self.blocks[quarter.k].insert(quarter.key(&self.grid));
                }
                self.take(cuboid, quarter);
            }
        }
    }

    /// Gives the nodes of a box in `block` back, as aligned blocks.
    fn give(&mut self, cuboid: &Cuboid, block: Block) {
        self.work.upkeep += 1;
        let own = block.cuboid();
        if inside(&own, cuboid) {
            self.merge(block);
        } else if own.intersects(&self.grid, cuboid) {
            for quarter in block.quarters() {
                self.give(cuboid, quarter);
            }
        }
    }

    /// Enters a free block, or the largest one that it completes.
    fn merge(&mut self, block: Block) {
        self.blocks[block.k].insert(block.key(&self.grid));
        if block.k + 1 == self.blocks.len() {
            return;
        }
        let quarters = block.parent().quarters();
        if quarters.iter().all(|quarter| self.blocks[quarter.k].contains(quarter.key(&self.grid))) {
            for quarter in quarters {
                self.blocks[quarter.k].remove(quarter.key(&self.grid));
            }
            self.merge(block.parent());
        }
    }

    /// The maximal free blocks of an occupancy within `block`, entered into empty lists.
    fn enter(&mut self, free: &Occupancy, block: Block) {
        if free.is_free(&block.cuboid()) {
            self.blocks[block.k].insert(block.key(&self.grid));
        } else if block.k > 0 {
            block.quarters().into_iter().for_each(|quarter| self.enter(free, quarter));
        }
    }
}

/// Whether a box lies in another; neither wraps.
fn inside(inner: &Cuboid, outer: &Cuboid) -> bool {
    (0..3).all(|axis| {
        let end = |cuboid: &Cuboid| cuboid.base[axis] + cuboid.sides[axis];
        outer.base[axis] <= inner.base[axis] && end(inner) <= end(outer)
    })
}

impl Strategy for BuddySystem {
    fn find(&mut self, _: &Occupancy, request: &Request, _: &mut Stream) -> Option<Placement> {
        let k = level(request)?;
        // The block in the south-west of a block that is split stays at its base.
        let mut levels = self.blocks.iter().skip(k).inspect(|_| self.work.boxes += 1);
        let base = levels.find_map(|blocks| blocks.after(None))?;
        let base = self.grid.point(NodeId(base));
        Some(Placement::Whole(Cuboid::new(base, [1 << k, 1 << k, 1])))
    }

    fn granted(&mut self, placement: &Placement) {
        for part in placement.parts() {
            self.take(part, self.whole());
        }
    }

    fn released(&mut self, placement: &Placement) {
        for part in placement.parts() {
            self.give(part, self.whole());
        }
    }

    fn work(&self) -> Work {
        self.work
    }

    fn fork(&self) -> Box<dyn Strategy> {
        Box::new(self.clone())
    }

    fn validate(&self, free: &Occupancy) {
        let mut fresh = BuddySystem::new(self.grid, FreeOrder::Sorted);
        fresh.blocks[self.whole().k].remove(0);
        fresh.enter(free, self.whole());
        for (own, fresh) in self.blocks.iter().zip(&fresh.blocks) {
            let mut own: Vec<u32> = own.iter().collect();
            own.sort();
            let fresh: Vec<u32> = fresh.iter().collect();
            assert_eq!(own, fresh, "the free lists are not the maximal free blocks");
        }
    }
}
