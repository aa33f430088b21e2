//! Stack-Based Allocation: subtract what each busy box covers from the area of all bases, keeping
//! the pieces on a stack; a piece that outlives every box is made of bases.
//!
//! Misses nothing: subtracting loses no base, and every piece is either looked at to the end or
//! never needed. Both orientations are tried.
//!
//! ```text
//!   1 3 3 4      the area of all bases without a coverage C leaves four pieces, taken
//!   1 C C 4      in this order: left of it (full height), below, above, and right of
//!   1 2 2 4      it, so that bases on the lower left come first
//! ```
//!
//! Cost: O(B) for each piece that reaches the top of the stack, for B busy boxes. O(B^2) is quoted;
//! the number of pieces is small in practice, but a hostile arrangement makes O(B^2) of them in a
//! plane, so the worst case lies above that. Granting is O(1), releasing O(B).
//!
//! Source: Yoo & Das, "A fast and efficient processor allocation scheme for mesh-connected
//! multicomputers", IEEE Transactions on Computers 51(1), 2002 (other papers cite it as a volume of
//! TPDS, which it is not). The loop is a reconstruction from published summaries; so is the order in
//! which pieces are taken, and that they are disjoint. Spaces and tori are ours: there a coverage is
//! up to eight boxes, cut where a ring is passed at 0.

use pavior_kernel::{Options, Stream};
use pavior_mesh::{Cuboid, Grid, Occupancy, Request, Scan, Sides};

use super::super::shared::busy_list::BusyList;
use super::super::shared::coverage::{AxisRange, covered};
use super::super::shared::turning::{TURN_ON, Turn, box_family};
use crate::claim::{Claim, Grants, Recognition};
use crate::kind::{ANY_GRID, BuildStrategy, Entry, StrategyKind};
use crate::{Placement, Strategy, Work};

pub(in crate::strategies) static ENTRY: Entry = Entry {
    name: "sba",
    title: "Stack-Based Allocation",
    source: "Yoo & Das 2002",
    options: &[TURN_ON],
    variants: &[""],
    does: StrategyKind {
        contiguous: true,
        turns: true,
        supports: ANY_GRID,
        claim,
        build: BuildStrategy::Function(build),
    },
};

fn claim(_: &Options) -> Claim {
    Claim {
        family: box_family,
        scan: Scan::default(),
        grants: Grants::Exact,
        recognition: Recognition::Complete,
    }
}

fn build(grid: &Grid, options: &Options) -> Box<dyn Strategy> {
    Box::new(StackBased {
        grid: *grid,
        turn: Turn::of(options),
        busy: BusyList::default(),
        coverages: Vec::new(),
        stack: Vec::new(),
        tested: 0,
    })
}

/// A box of bases.
type Area = [AxisRange; 3];

#[derive(Clone)]
struct StackBased {
    grid: Grid,
    turn: Turn,
    busy: BusyList,
    /// Scratch: what the busy boxes cover of the shape at hand.
    coverages: Vec<Area>,
    /// Scratch: areas, each with the number of coverages that it is known to be free of.
    stack: Vec<(Area, usize)>,
    /// Coverages computed, areas taken from the stack, and coverages held against them.
    tested: u64,
}

impl StackBased {
    /// The lowest base of the first area that no busy box covers.
    fn first(&mut self, shape: Sides) -> Option<Cuboid> {
        self.list_coverages(shape);
        let starts =
            |axis: usize| AxisRange { low: 0, high: self.grid.starts(axis, shape[axis]) - 1 };
        self.stack.clear();
        self.stack.push((std::array::from_fn(starts), 0));
        while let Some((area, checked)) = self.stack.pop() {
            let rest = &self.coverages[checked..];
            let hit = rest.iter().position(|covered| meets(&area, covered));
            self.tested += 1 + hit.map_or(rest.len(), |index| index + 1) as u64;
            let Some(hit) = hit else {
                return Some(Cuboid::new(area.map(|span| span.low), shape));
            };
            push_pieces(area, &self.coverages[checked + hit], checked + hit + 1, &mut self.stack);
        }
        None
    }

    fn list_coverages(&mut self, shape: Sides) {
        self.coverages.clear();
        self.tested += self.busy.boxes().len() as u64;
        for held in self.busy.boxes() {
            let [xs, ys, zs] =
                std::array::from_fn(|axis| covered(&self.grid, axis, held, shape[axis]));
            for z in zs.into_iter().flatten() {
                for y in ys.into_iter().flatten() {
                    self.coverages.extend(xs.into_iter().flatten().map(|x| [x, y, z]));
                }
            }
        }
    }
}

fn meets(area: &Area, other: &Area) -> bool {
    (0..3).all(|axis| area[axis].low <= other[axis].high && other[axis].low <= area[axis].high)
}

/// Pushes what is left of an area without a coverage that it meets, as disjoint pieces: the ends on
/// x at full depth and height, those on y at full height, those on z in the middle; the last first.
fn push_pieces(area: Area, hole: &Area, checked: usize, stack: &mut Vec<(Area, usize)>) {
    let (mut below, mut above) = ([None; 3], [None; 3]);
    let mut middle = area;
    for axis in 0..3 {
        let (span, cut) = (area[axis], hole[axis]);
        if span.low < cut.low {
            let mut piece = middle;
            piece[axis].high = cut.low - 1;
            below[axis] = Some(piece);
        }
        if cut.high < span.high {
            let mut piece = middle;
            piece[axis].low = cut.high + 1;
            above[axis] = Some(piece);
        }
        middle[axis] = AxisRange { low: span.low.max(cut.low), high: span.high.min(cut.high) };
    }
    // Popped in the order left, below in y, below in z, above in z, above in y, right.
    let pieces = above.into_iter().chain(below.into_iter().rev()).flatten();
    stack.extend(pieces.map(|piece| (piece, checked)));
}

impl Strategy for StackBased {
    fn find(&mut self, _: &Occupancy, request: &Request, _: &mut Stream) -> Option<Placement> {
        let mut shapes = self.turn.shapes(self.grid, request);
        shapes.find_map(|shape| self.first(shape)).map(Placement::Whole)
    }

    fn granted(&mut self, placement: &Placement) {
        self.busy.add(placement);
    }

    fn released(&mut self, placement: &Placement) {
        self.busy.remove(placement);
    }

    fn work(&self) -> Work {
        Work::of_boxes(self.tested) + self.busy.work()
    }

    fn fork(&self) -> Box<dyn Strategy> {
        Box::new(self.clone())
    }

    fn validate(&self, free: &Occupancy) {
        self.busy.validate(free);
    }
}
