//! Two-Dimensional Buddy System (`2db`): grant squares with side 2^k, splitting blocks into four
//! and merging them again.
//!
//! The strategy uses the smallest k for which neither side exceeds 2^k, and takes the square from
//! the first free block of the smallest sufficient size. It rounds requests up and misses any free
//! box that is not aligned to its size.
//!
//! ```text
//!   8x8, request 3x3 -> k = 2:     + - - - + - - - +
//!   the 8x8 block is split into    |  NW   |  NE   |   the other three are now free;
//!   four 4x4 blocks, of which      + - - - + - - - +   when the grant ends, all four merge
//!   the south-west is granted      | grant |  SE   |   back into the 8x8 block
//!                                  + - - - + - - - +
//! ```
//!
//! Cost on a mesh of side n: O(log n) to find a block, and O(log^2 n) to grant or release an
//! aligned block (one step per level, each on a sorted list). Sources state O(log sqrt N) and O(N).
//!
//! Source: Li & Cheng, "A two-dimensional buddy system for dynamic resource allocation in a
//! partitionable mesh connected system", JPDC 12, 1991. Departures: k is rounded up. The NAS paper
//! prints a floor bracket, but its own example (3x3 gets 4x4) rounds up. A box that is not a block
//! (a failed node or a reservation) splits the free blocks that it overlaps. They merge again when
//! the box is released, so the lists always contain the maximal free blocks. The papers do not say
//! how a list is ordered. Here, it is sorted by base in row-major order or, with `free=fifo` or
//! `free=lifo`, by release time. Rotating a request has no effect, because both sides are rounded
//! to the same length.

use pavior_kernel::{Options, Stream};
use pavior_mesh::{Cuboid, Grid, Occupancy, Request};

use crate::claim::{BoxGroup, Claim, Grants, Question, Recognition};
use crate::contiguous::complete;
use crate::kind::{BoxedStrategy, Entry, StrategyKind, Unsupported};
use crate::strategies::shared::buddies::{Buddies, Root};
use crate::strategies::shared::free_set::{FREE, FreeOrder};
use crate::strategy::MachineStrategy;
use crate::{Placement, Strategy, Work};

pub(crate) static ENTRY: Entry = Entry {
    name: "2db",
    title: "Two-Dimensional Buddy System",
    source: "Li & Cheng 1991",
    options: &[FREE],
    variants: &["", "free=fifo", "free=lifo"],
    does: StrategyKind::contiguous(build).with_supports(supports).with_claim(claim),
};

fn supports(grid: &Grid, _: &Options) -> Result<(), Unsupported> {
    let [w, d, h] = grid.sides();
    if w == d && h == 1 && w.is_power_of_two() && !grid.has_wrap() {
        Ok(())
    } else {
        Err(Unsupported("it requires a square mesh whose side is a power of two".into()))
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

fn build(grid: &Grid, options: &Options) -> BoxedStrategy {
    let squares = (0..=grid.side(0).ilog2()).map(|k| [1 << k, 1 << k, 1]).collect();
    let root = Root { base: [0; 3], sides_by_level: squares };
    let blocks = Buddies::new(*grid, 4, vec![root], FreeOrder::of(options));
    Box::new(BuddySystem { blocks })
}

/// Returns the smallest k for which a square with side 2^k can contain a request, or `None` if the
/// request needs a third axis.
fn level(request: &Request) -> Option<usize> {
    let shape = request.shape?;
    let flat = shape.contains(&1);
    let longest = u32::from(*shape.iter().max().expect("three sides"));
    let k = longest.next_power_of_two().trailing_zeros() as usize;
    (flat && k < 16).then_some(k)
}

/// A buddy system whose only root is the whole machine and whose blocks split into four.
#[derive(Clone)]
struct BuddySystem {
    blocks: Buddies,
}

impl Strategy for BuddySystem {
    fn find(&mut self, _: &Occupancy, request: &Request, _: &mut Stream) -> Option<Placement> {
        let k = level(request)?;
        // The south-west child of a split block has the same base as the block.
        let base = self.blocks.first_from(k)?;
        Some(Placement::Whole(Cuboid::new(base, [1 << k, 1 << k, 1])))
    }

    fn granted(&mut self, placement: &Placement) {
        self.blocks.take_out(placement);
    }

    fn released(&mut self, placement: &Placement) {
        self.blocks.put_back(placement);
    }

    fn work(&self) -> Work {
        self.blocks.work()
    }

    fn fork(&self) -> Box<dyn Strategy> {
        Box::new(self.clone())
    }

    fn validate(&self, free: &Occupancy) {
        self.blocks.validate(free);
    }
}

impl MachineStrategy for BuddySystem {}
