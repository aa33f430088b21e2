//! Adaptive Non-Contiguous Allocation: try the whole shape, then its halves, then their halves, and
//! so on. All pieces at a level are granted together.
//!
//! The strategy refuses some requests even though enough nodes are free, because halving stops
//! before a side would shrink to 1, and because all pieces at a level are about the same size. It
//! never refuses a request while a box with the requested shape is free.
//!
//! ```text
//!   4x4 requested:   # a a a a #     level 0, 4x4: no
//!                    # a a a a #     level 1, two 2x4, which fit when rotated: a and b
//!                    # # # # # #
//!                    b b b b # #
//!                    b b b b # #
//! ```
//!
//! Cost: up to 2^L First Fit searches at level L, each O(N) with `plain`. An a x b x c shape has at
//! most log2(a) + log2(b) + log2(c) levels.
//!
//! Source: Chang & Mohapatra, "An integrated processor management scheme for the mesh-connected
//! multicomputer systems", ICPP 1997, and "Performance improvement of allocation schemes for
//! mesh-connected computers", JPDC 52(1), 1998. The full text was not available.
//!
//! Our choices: the longest side is halved (the first one if several are longest), and an odd side
//! is split into its ceiling and floor halves. Larger pieces are placed first, each by First Fit.
//! They are rotated if necessary; `turn=none` keeps their orientations. A level is not tried if
//! halving would reduce a longer side to 1. A count without a shape is treated as the most compact
//! box of exactly that many nodes. Pieces are numbered in placement order, largest first (or, with
//! `order=small`, largest last). Support for 3D and wraps is our addition.

use pavior_kernel::Options;
use pavior_mesh::{Cuboid, Grid, Occupancy, RefusalKey, Request, Scan, Sides, volume};

use super::mbs::{ORDER, numbered, smallest_first};
use crate::claim::{BoxGroup, Claim, Question, Recognition};
use crate::contiguous::complete;
use crate::kind::{BoxedStrategy, Entry, StrategyKind};
use crate::strategies::shared::base_search::{BaseSearch, SEARCH};
use crate::strategies::shared::factor_shapes::most_compact;
use crate::strategies::shared::ranked_shapes::sort_shapes;
use crate::strategies::shared::search_strategy::{SearchRule, SearchStrategy};
use crate::strategies::shared::turning::{TURN_ON, Turn};
use crate::{Placement, Work};

pub(crate) static ENTRY: Entry = Entry {
    name: "anca",
    title: "Adaptive Non-Contiguous Allocation",
    source: "Chang & Mohapatra 1998",
    options: &[SEARCH, TURN_ON, ORDER],
    variants: &["", "plain", "turn=none", "order=small"],
    does: StrategyKind::noncontiguous(build).with_turns(true).with_claim(claim),
};

fn claim(options: &Options) -> Claim {
    Claim {
        family: |request, grid, _| whole(request, grid).map(BoxGroup::cuboid).into_iter().collect(),
        recognition: Recognition::Partial(Question::Count),
        ..complete(options)
    }
}

fn build(grid: &Grid, options: &Options) -> BoxedStrategy {
    let rule = Anca {
        grid: *grid,
        turn: Turn::of(options),
        smallest_first: smallest_first(options),
        left: Occupancy::all_free(*grid),
        frames: Vec::new(),
        parts: Vec::new(),
        work: Work::default(),
    };
    SearchStrategy::boxed(BaseSearch::of(*grid, options, Scan::default()), rule)
}

/// Returns the shape to grant, whether as one box or in pieces.
fn whole(request: &Request, grid: &Grid) -> Option<Sides> {
    request.shape.or_else(|| most_compact(request.nodes, grid))
}

#[derive(Clone)]
struct Anca {
    grid: Grid,
    turn: Turn,
    smallest_first: bool,
    /// Scratch space for the nodes that are still free after placing the pieces so far.
    left: Occupancy,
    /// Scratch space for the pieces at a level, largest first.
    frames: Vec<Sides>,
    /// Scratch space for the placements of the pieces.
    parts: Vec<Cuboid>,
    /// The number of frames tried, and the number of words copied to track the remaining nodes.
    work: Work,
}

impl Anca {
    /// Places all pieces at the current level. Returns false if any of them does not fit.
    fn place(&mut self, search: &mut BaseSearch, free: &Occupancy) -> bool {
        self.left.copy_from(free);
        self.work.words += u64::from(self.grid.nodes().div_ceil(64));
        self.parts.clear();
        for &frame in &self.frames {
            self.work.boxes += 1;
            // The first frame is searched for in the machine's actual state, and the other frames
            // in a hypothetical one.
            let asked =
                if self.parts.is_empty() { self.turn.name(frame) } else { RefusalKey::Once };
            let shapes = self.turn.of_shape(frame);
            search.load(&self.left);
            let placed = search.first(&self.left, asked, &shapes, Scan::default());
            let Some(part) = placed else { break };
            self.left.take(&part).expect("the search found it free");
            self.parts.push(part);
            search.granted(&Placement::Whole(part));
        }
        for &part in &self.parts {
            search.given_up(part);
        }
        self.parts.len() == self.frames.len()
    }

    /// Halves the pieces for the next level. Returns false if this was the last level.
    fn halve(&mut self) -> bool {
        let longest = |frame: &Sides| *frame.iter().max().expect("three sides");
        if self.frames.iter().any(|frame| longest(frame) < 4) {
            return false;
        }
        for index in 0..self.frames.len() {
            let frame = self.frames[index];
            let axis = frame.iter().position(|&side| side == longest(&frame));
            let axis = axis.expect("one side is the longest");
            let (mut large, mut small) = (frame, frame);
            small[axis] /= 2;
            large[axis] -= small[axis];
            self.frames[index] = large;
            self.frames.push(small);
        }
        sort_shapes(&mut self.frames, &|frame| u64::MAX - volume(frame));
        true
    }
}

impl SearchRule for Anca {
    fn find(
        &mut self,
        search: &mut BaseSearch,
        free: &Occupancy,
        request: &Request,
    ) -> Option<Placement> {
        let shape = whole(request, &self.grid)?;
        if volume(shape) > u64::from(free.count()) {
            return None;
        }
        self.frames.clear();
        self.frames.push(shape);
        while !self.place(search, free) {
            if !self.halve() {
                return None;
            }
        }
        Some(Placement::Parts(numbered(self.parts.clone(), self.smallest_first)))
    }

    fn work(&self) -> Work {
        self.work
    }
}
