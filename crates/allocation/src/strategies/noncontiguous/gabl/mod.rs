//! Greedy Available Busy List: the whole shape if it is free; otherwise pieces of a shrinking
//! shape, the largest first, until the count is reached.
//!
//! Succeeds whenever enough nodes are free. Every turn of the loop either grants a piece or shrinks
//! the shape, and a single node fits as long as one is free.
//!
//! ```text
//!   # a     2x2 for 4 nodes: none is free, so 1x2 (one off a longest side): a a.
//!   b a     Another 1x2, or 2x1: none (here the printed loop asks for ever).
//!   # c     So 1x1, twice: b and c.
//! ```
//!
//! The pieces come from one sequence of shapes. Each is one node shorter on its longest side than
//! the one before, so that they are near-square, and not "the largest free submesh" of the text.
//! `shape=largest` takes the largest free box within the shape each time.
//!
//! Requests: a shape whose volume is the count is first tried whole. One whose volume exceeds the
//! count is only the start of the sequence. Without a shape the sequence starts at a near-cubic
//! box, made by adding 1 to the shortest side of 1x1x1 that can still grow (ties: x, then y, then
//! z) until it holds the count.
//!
//! The engine finds the bases of all these shapes at once, one bit a base, from the single node up
//! to the first shape that is free nowhere: O(N/64) a shape. The order of the busy list chooses
//! among the bases. For B busy pieces that is O(B) a shape, or O(nodes beside the bases) where they
//! are few. In spaces and on rings each piece costs O(B) more, or O(nodes around it).
//!
//! Cost of `plain`: at most a + b + c shapes and one search a piece, each the search of the busy
//! list: O(B^2) (right border lines in a plane whose y does not wrap, right border planes
//! elsewhere). `shape=largest`: a search for each of up to a * b * c shapes.
//!
//! Source: Bani-Mohammad, Ould-Khaoua, Ababneh & Mackenzie, "An efficient processor allocation
//! strategy that maintains a high degree of contiguity among processors in 2D mesh connected
//! multicomputers", AICCSA 2007; Information Sciences 177(14), 2007. Departures: where no piece of
//! the current size is free, the printed step 7 goes back to step 5 with the same size, for ever (a
//! test shows it). Here the shape shrinks, which must be meant. The paper does not say whether
//! pieces turn; here they do, which gives the paper's numbers of blocks. Nor does it say which of
//! equal sides shrinks. Spaces and tori are the project's own, and the paper's future work.

mod busy_search;
mod engine;
mod plain;
mod shrinking_bases;

use pavior_kernel::{OptionSpec, Options, Stream, Values};
use pavior_mesh::{Cuboid, Grid, Occupancy, Request, Sides, volume};

use crate::kind::{Entry, StrategyKind};
use crate::strategies::shared::base_search::{ENGINE, is_plain};
use crate::strategies::shared::turning::Turn;
use crate::{Placement, Strategy, Work};
use busy_search::BusySearch;
use engine::Engine;

pub(crate) static ENTRY: Entry = Entry {
    name: "gabl",
    title: "Greedy Available Busy List",
    source: "Bani-Mohammad, Ould-Khaoua, Ababneh & Mackenzie 2007",
    options: &[TURN, TIE, SHAPE, ENGINE],
    variants: &["", "plain", "turn=none", "tie=last", "shape=largest", "plain:turn=parts"],
    does: StrategyKind::noncontiguous(build).with_turns(true),
};

const TURN: OptionSpec = OptionSpec {
    key: "turn",
    values: Values::OneOf(&["all", "none", "first", "parts"]),
    default: "all",
    meaning: "what is tried in every orientation: the first attempt, the pieces, both, or neither",
    bare: false,
};

const TIE: OptionSpec = OptionSpec {
    key: "tie",
    values: Values::OneOf(&["first", "last"]),
    default: "first",
    meaning: "which of equally long sides shrinks: the first of x, y, z, or the last",
    bare: false,
};

const SHAPE: OptionSpec = OptionSpec {
    key: "shape",
    values: Values::OneOf(&["chain", "largest"]),
    default: "chain",
    meaning: "pieces of one shrinking shape, or each time the largest free box within the shape",
    bare: false,
};

fn build(grid: &Grid, options: &Options) -> Box<dyn Strategy> {
    let turn = options.get("turn");
    let turns = |part: &str| if turn == "all" || turn == part { Turn::All } else { Turn::None };
    let engine = !is_plain(options) && options.get("shape") == "chain";
    Box::new(Greedy {
        grid: *grid,
        first: turns("first"),
        parts: turns("parts"),
        last_of_ties: options.get("tie") == "last",
        largest: options.get("shape") == "largest",
        busy: BusySearch::new(*grid),
        pieces: Vec::new(),
        shapes: Vec::new(),
        engine: engine.then(|| Engine::new(*grid)),
    })
}

#[derive(Clone)]
struct Greedy {
    grid: Grid,
    /// Whether the whole shape is turned, and whether pieces are.
    first: Turn,
    parts: Turn,
    last_of_ties: bool,
    largest: bool,
    busy: BusySearch,
    /// Scratch: the pieces found so far, which count as busy while the search runs.
    pieces: Vec<Cuboid>,
    shapes: Vec<Sides>,
    engine: Option<Engine>,
}

impl Greedy {
    /// One off the longest side.
    fn shrink(&self, shape: &mut Sides) {
        let longest = *shape.iter().max().expect("three sides");
        let is_longest = |axis: &usize| shape[*axis] == longest;
        let axis =
            if self.last_of_ties { (0..3).rfind(is_longest) } else { (0..3).find(is_longest) };
        shape[axis.expect("one is the longest")] -= 1;
    }

    /// A near-cubic box that fits the grid and holds a count.
    fn near_cubic(&self, nodes: u32) -> Sides {
        let mut shape: Sides = [1; 3];
        while volume(shape) < u64::from(nodes) {
            let axis = (0..3)
                .filter(|&axis| shape[axis] < self.grid.side(axis))
                .min_by_key(|&axis| shape[axis])
                .expect("the count does not exceed the machine's");
            shape[axis] += 1;
        }
        shape
    }
}

impl Strategy for Greedy {
    fn find(&mut self, free: &Occupancy, request: &Request, _: &mut Stream) -> Option<Placement> {
        if request.nodes > free.count() {
            return None;
        }
        let mut shape = request.shape.unwrap_or_else(|| self.near_cubic(request.nodes));
        if volume(shape) == u64::from(request.nodes) {
            if let Some(whole) = self.whole(free, shape) {
                return Some(Placement::Parts(vec![whole]));
            }
            if !self.largest {
                self.shrink(&mut shape);
            }
        }
        let by_engine = self.engine.is_some() && !self.searches_pay();
        if self.largest {
            self.take_largest(request.nodes, shape);
        } else if by_engine {
            self.take_by_engine(free, request.nodes, shape);
        } else {
            self.shrink_to_fit(request.nodes, shape);
        }
        let proposal = Placement::Parts(std::mem::take(&mut self.pieces));
        if !by_engine {
            // A proposal changes nothing: the pieces leave the busy list.
            self.busy.remove(&proposal);
        }
        Some(proposal)
    }

    fn granted(&mut self, placement: &Placement) {
        self.busy.add(placement);
        if let Some(engine) = &mut self.engine {
            engine.exact.granted(placement);
        }
    }

    fn released(&mut self, placement: &Placement) {
        self.busy.remove(placement);
        if let Some(engine) = &mut self.engine {
            engine.exact.released(placement);
        }
    }

    fn work(&self) -> Work {
        self.busy.work() + self.engine.as_ref().map(Engine::work).unwrap_or_default()
    }

    fn fork(&self) -> Box<dyn Strategy> {
        Box::new(self.clone())
    }

    fn validate(&self, free: &Occupancy) {
        self.busy.list().validate(free);
    }
}
