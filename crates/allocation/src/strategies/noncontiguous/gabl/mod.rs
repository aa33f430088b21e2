//! Greedy Available Busy List: the whole shape if it is free; otherwise pieces of a shrinking
//! shape, the largest first, until the count is reached.
//!
//! Misses nothing: it succeeds whenever enough nodes are free. Each turn of the loop takes a piece
//! or shrinks the shape. The last shape is a single node, and that fits.
//!
//! ```text
//!   # a     2x2 for 4 nodes: none is free, so 1x2 (one off a longest side): a a.
//!   b a     Another 1x2, or 2x1: none (here the printed loop asks for ever).
//!   # c     So 1x1, twice: b and c.
//! ```
//!
//! The pieces come from one sequence of shapes. The longest side of each is one node shorter than
//! in the shape before, which makes them near-square. The text of the paper speaks of "the largest
//! free submesh" instead. With `shape=largest` each piece is the largest free box within the shape.
//!
//! Requests: a shape with exactly as many nodes as asked for is first tried whole. A shape with
//! more nodes only begins the sequence. A request without a shape begins it at a near-cubic box.
//! That box grows from 1x1x1, one node at a time on the shortest side that still can (ties: x, y,
//! z), until it has enough nodes.
//!
//! Cost: for B busy pieces and a request a x b x c on N nodes, the engine takes O(N/64) a shape for
//! a set of all bases, one bit each. It stops at the first shape without a base. The order of the
//! busy list then chooses among the bases: O(B) a shape, or O(nodes beside the bases) where they
//! are few. In spaces and on rings a piece costs another O(B), or O(nodes around it).
//!
//! Cost of `plain`: at most a + b + c shapes, and one search of O(B^2) a piece. It goes along right
//! border lines in a plane whose y does not wrap, else along right border planes. With
//! `shape=largest` up to a * b * c shapes are searched for.
//!
//! Source: Bani-Mohammad, Ould-Khaoua, Ababneh & Mackenzie, "An efficient processor allocation
//! strategy that maintains a high degree of contiguity among processors in 2D mesh connected
//! multicomputers", AICCSA 2007; Information Sciences 177(14), 2007.
//!
//! Departures: where no piece of the current size is free, the printed step 7 goes back to step 5
//! with the same size, for ever (a test shows it). Here the shape shrinks, which must be meant. The
//! paper does not say whether pieces turn. Here they do, which gives the paper's numbers of blocks.
//! Nor does it say which of equal sides shrinks. Spaces and tori are the project's own, and the
//! paper's future work.

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

/// GABL. The files `plain` and `engine` hold the two ways to take pieces.
#[derive(Clone)]
struct Greedy {
    grid: Grid,
    /// Whether the whole shape is turned.
    first: Turn,
    /// Whether pieces are turned.
    parts: Turn,
    /// Whether the last of equally long sides shrinks.
    last_of_ties: bool,
    /// Whether pieces are the largest free boxes.
    largest: bool,
    busy: BusySearch,
    /// The pieces found so far. They count as busy while the search runs.
    pieces: Vec<Cuboid>,
    /// Scratch memory of [`Greedy::take_largest`].
    shapes: Vec<Sides>,
    /// None with `plain` and with `shape=largest`.
    engine: Option<Engine>,
}

impl Greedy {
    /// Shortens the longest side by one node.
    fn shrink(&self, shape: &mut Sides) {
        let longest = *shape.iter().max().expect("three sides");
        let is_longest = |axis: &usize| shape[*axis] == longest;
        let axis =
            if self.last_of_ties { (0..3).rfind(is_longest) } else { (0..3).find(is_longest) };
        shape[axis.expect("one is the longest")] -= 1;
    }

    /// A near-cubic box that fits the grid and has at least so many nodes.
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
