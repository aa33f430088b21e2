//! Greedy Available Busy List: grant the whole shape if it is free. Otherwise, grant pieces of a
//! shrinking shape, largest first, until the count is reached.
//!
//! The strategy succeeds whenever enough nodes are free: each iteration either takes a piece or
//! shrinks the shape, and the last shape is a single node, which always fits.
//!
//! ```text
//!   # a     4 nodes as 2x2: none is free, so 1x2 (one side is shortened): a a.
//!   b a     No other 1x2 or 2x1 is free (here, the printed loop never ends),
//!   # c     so 1x1 twice: b and c.
//! ```
//!
//! The pieces come from a single sequence of shapes. The next shape is obtained by shortening the
//! longest side by one node, which keeps the shapes near-square. The paper's text, however,
//! mentions "the largest free submesh"; with `shape=largest`, each piece is the largest free box
//! that fits within the shape.
//!
//! Requests: a shape with exactly the requested number of nodes is first tried whole. A shape with
//! more nodes only serves as the start of the sequence. For a request without a shape, the sequence
//! starts at a near-cubic box. To find it, 1x1x1 is grown one node at a time along the shortest
//! side that can still grow (ties go to x, then y, then z) until it has enough nodes.
//!
//! Cost: for B busy pieces and an a x b x c request on N nodes, the engine takes O(N/64) per shape
//! to compute the set of all bases, with one bit per base. It stops at the first shape without a
//! base. It then chooses among the bases in busy-list order, which takes O(B) per shape, or O(nodes
//! next to the bases) if there are few bases. In 3D and on tori, each piece takes another O(B), or
//! O(nodes around the piece).
//!
//! Cost of `plain`: at most a + b + c shapes, and one O(B^2) search per piece. The search follows
//! right border lines in 2D if y does not wrap, and right border planes otherwise. With
//! `shape=largest`, up to a * b * c shapes are searched for.
//!
//! Source: Bani-Mohammad, Ould-Khaoua, Ababneh & Mackenzie, "An efficient processor allocation
//! strategy that maintains a high degree of contiguity among processors in 2D mesh connected
//! multicomputers", AICCSA 2007; Information Sciences 177(14), 2007.
//!
//! Departures: if no piece of the current size is free, the printed step 7 returns to step 5 with
//! the same size and loops forever (a test shows this). Here, the shape shrinks, as the authors
//! must have intended. The paper does not say whether pieces are rotated; here they are, which
//! reproduces the paper's block counts. It also does not say which of two equal sides shrinks.
//! Support for 3D and tori, which the paper mentions as future work, is our addition.

mod busy_search;
mod engine;
mod plain;
mod shapes;
mod shrinking_bases;

use pavior_kernel::{OptionSpec, Options, Stream, Values};
use pavior_mesh::{Cuboid, Grid, Occupancy, Request, Sides, volume};

use crate::kind::{BoxedStrategy, Entry, StrategyKind};
use crate::strategies::shared::base_search::{ENGINE, is_plain};
use crate::strategies::shared::busy_list::is_short;
use crate::strategies::shared::turning::Turn;
use crate::strategy::MachineStrategy;
use crate::{Placement, Strategy, Work};
use busy_search::BusySearch;
use engine::Engine;
use shapes::Shapes;

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
    meaning: "the steps that try every orientation: first attempt, pieces, both, or neither",
    bare: false,
};

const TIE: OptionSpec = OptionSpec {
    key: "tie",
    values: Values::OneOf(&["first", "last"]),
    default: "first",
    meaning: "the side to shrink if several are equally long: the first or the last in the order \
        x, y, z",
    bare: false,
};

const SHAPE: OptionSpec = OptionSpec {
    key: "shape",
    values: Values::OneOf(&["chain", "largest"]),
    default: "chain",
    meaning: "the next piece: a box of the shrinking shape, or the largest free box that fits \
              within the shape",
    bare: false,
};

fn build(grid: &Grid, options: &Options) -> BoxedStrategy {
    let turn = options.get("turn");
    let turns = |part: &str| if turn == "all" || turn == part { Turn::All } else { Turn::None };
    let largest = options.get("shape") == "largest";
    Box::new(Greedy {
        shapes: Shapes::new(*grid, options.get("tie") == "last"),
        turn_whole: turns("first"),
        turn_pieces: turns("parts"),
        largest,
        busy: BusySearch::new(*grid),
        engine: (!is_plain(options) && !largest).then(|| Engine::new(*grid)),
    })
}

#[derive(Clone)]
struct Greedy {
    shapes: Shapes,
    /// The orientations in which to try the whole shape.
    turn_whole: Turn,
    /// The orientations in which pieces are tried.
    turn_pieces: Turn,
    /// True if each piece is one of the largest free boxes.
    largest: bool,
    busy: BusySearch,
    /// The engine, or `None` with `plain` or `shape=largest`. Even with an engine, the plain search
    /// is used for a short busy list, because the plain search is then faster.
    engine: Option<Engine>,
}

impl Greedy {
    /// Finds a free box of the whole shape.
    fn find_whole(&mut self, free: &Occupancy, shape: Sides) -> Option<Cuboid> {
        let is_short = is_short(free.grid(), self.busy.list().boxes().len());
        match &mut self.engine {
            Some(engine) if !is_short => {
                engine.find_whole(&mut self.busy, free, shape, self.turn_whole)
            }
            _ => plain::first(&mut self.busy, free.grid(), shape, self.turn_whole),
        }
    }
}

impl Strategy for Greedy {
    fn find(&mut self, free: &Occupancy, request: &Request, _: &mut Stream) -> Option<Placement> {
        let nodes = request.nodes;
        if nodes > free.count() {
            return None;
        }
        let shape = request.shape.unwrap_or_else(|| self.shapes.near_cubic(nodes));
        let is_exact = volume(shape) == u64::from(nodes);
        if is_exact && let Some(whole) = self.find_whole(free, shape) {
            return Some(Placement::Parts(vec![whole]));
        }
        // Both sequences begin with the whole shape; skip it if it has already been tried.
        let skipped = usize::from(is_exact);
        let Greedy { shapes, turn_pieces: turn, busy, engine, .. } = self;
        Some(if self.largest {
            let largest = plain::largest_first(shape, nodes);
            plain::pieces(busy, free.grid(), nodes, largest.into_iter().skip(skipped), *turn)
        } else {
            let smaller = shapes.from(shape).skip(skipped);
            match engine.as_mut().filter(|_| !engine::plain_pays(free.grid(), busy)) {
                Some(engine) => engine.pieces(busy, free, nodes, smaller, *turn),
                None => plain::pieces(busy, free.grid(), nodes, smaller, *turn),
            }
        })
    }

    fn granted(&mut self, placement: &Placement) {
        self.busy.add(placement);
        if let Some(engine) = &mut self.engine {
            engine.granted(placement);
        }
    }

    fn released(&mut self, placement: &Placement) {
        self.busy.remove(placement);
        if let Some(engine) = &mut self.engine {
            engine.released(placement);
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

impl MachineStrategy for Greedy {}
