//! Greedy Available Busy List: the whole shape if it is free; otherwise pieces of a shrinking
//! shape, the largest first, until the count is reached.
//!
//! Succeeds whenever enough nodes are free: every turn of the loop either grants a piece or shrinks
//! the shape, and a single node fits as long as one is free.
//!
//! ```text
//!   # a     2x2 for 4 nodes: none is free, so 1x2 (one off a longest side): a a.
//!   b a     Another 1x2, or 2x1: none (here the printed loop asks for ever).
//!   # c     So 1x1, twice: b and c.
//! ```
//!
//! The pieces come from one chain of shapes, each one node shorter on its longest side:
//! near-square, not "the largest free submesh" of the text. `shape=largest` really takes the
//! largest free box within the shape each time.
//!
//! Requests: a shape whose volume is the count is first tried whole. One whose volume exceeds the
//! count is only the start of the chain. Without a shape the chain starts at a near-cubic box, made
//! by adding 1 to the shortest side of 1x1x1 that can still grow (ties: x, then y, then z) until it
//! holds the count.
//!
//! The engine computes the bases of all these shapes at once, one bit a base, from the single node
//! up to the first that is free nowhere: O(N/64) a shape. Which base is taken is the busy list's
//! choice: O(B) for each shape that has bases, for B busy pieces, or O(nodes beside the bases)
//! where they are few; in spaces and on rings besides, for each piece, O(B) or O(nodes around it).
//!
//! Cost of `plain`: at most a + b + c shapes and one search a piece, each the search of the busy
//! list: O(B^2) (right border lines in a plane whose y does not wrap, right border planes
//! elsewhere). `shape=largest`: a search for each of up to a * b * c shapes.
//!
//! Source: Bani-Mohammad, Ould-Khaoua, Ababneh & Mackenzie, "An efficient processor allocation
//! strategy that maintains a high degree of contiguity among processors in 2D mesh connected
//! multicomputers", AICCSA 2007; Information Sciences 177(14), 2007. Departures: where no piece of
//! the current size is free, the printed step 7 goes back to step 5 with the same size, for ever (a
//! test shows it); here it shrinks, which must be meant. The paper says neither whether pieces turn
//! (here they do: that gives the paper's numbers of blocks) nor which of equal sides shrinks.
//! Spaces and tori are the project's own, and the paper's future work.

mod busy_search;
mod shrinking_bases;

use pavior_kernel::{OptionSpec, Options, Stream, Values};
use pavior_mesh::{BaseSet, Cuboid, Grid, Occupancy, Request, Scan, Sides, volume};

use crate::kind::{Entry, StrategyKind};
use crate::strategies::shared::base_search::{BaseSearch, ENGINE, is_plain};
use crate::strategies::shared::busy_list::{is_short, words};
use crate::strategies::shared::turning::Turn;
use crate::{Placement, Strategy, Work};
use busy_search::BusySearch;
use shrinking_bases::ShrinkingBases;

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
        engine: engine.then(|| Engine {
            exact: BaseSearch::engine(*grid),
            bases: BaseSet::new(*grid),
            chain: ShrinkingBases::default(),
        }),
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

/// What the engine has beside the busy list, whose order tells which of the bases is taken.
#[derive(Clone)]
struct Engine {
    /// Whether the whole shape is free.
    exact: BaseSearch,
    /// Where it is.
    bases: BaseSet,
    /// Where pieces are.
    chain: ShrinkingBases,
}

impl Greedy {
    /// A free box of a shape, turned or not.
    fn search(&mut self, shape: Sides, turn: Turn) -> Option<Cuboid> {
        let mut shapes = turn.shapes(self.grid, &Request::shape(shape));
        shapes.find_map(|shape| self.busy.first(shape))
    }

    /// Takes a piece of a shape, and says whether there was one.
    fn take_piece(&mut self, shape: Sides) -> bool {
        let Some(piece) = self.search(shape, self.parts) else { return false };
        self.busy.add(&Placement::Whole(piece));
        self.pieces.push(piece);
        true
    }

    /// The whole shape by the engine: the exact search remembers where it was refused.
    fn whole(&mut self, free: &Occupancy, shape: Sides) -> Option<Cuboid> {
        let short = is_short(&self.grid, self.busy.list().boxes().len());
        let Some(engine) = self.engine.as_mut().filter(|_| !short) else {
            return self.search(shape, self.first);
        };
        let (asked, shapes) = (self.first.name(shape), self.first.of_shape(shape));
        let found = engine.exact.first(free, asked, &shapes, Scan::default())?;
        engine.bases.compute(free, found.sides);
        self.busy.begin(&engine.bases);
        self.busy.next(&engine.bases)
    }

    /// The intended loop of the paper, over the bases of all its shapes. While one shape is asked
    /// for bases only vanish, and the boxes beside which there is none are passed once.
    fn take_from_chain(&mut self, free: &Occupancy, nodes: u32, mut shape: Sides) {
        let Some(mut engine) = self.engine.take() else { return };
        let mut left = u64::from(nodes);
        while volume(shape) > left {
            self.shrink(&mut shape);
        }
        let chain = std::iter::successors(Some(shape), |&shape| {
            let mut less = shape;
            (less != [1; 3]).then(|| {
                self.shrink(&mut less);
                less
            })
        });
        engine.chain.load(free, chain, self.parts);
        for bases in engine.chain.sets() {
            let size = volume(bases.shape());
            if size > left {
                continue;
            }
            self.pieces.iter().for_each(|piece| bases.cover(piece));
            self.busy.begin(bases);
            while size <= left {
                let Some(piece) = self.busy.next(bases) else { break };
                self.busy.propose(piece);
                bases.cover(&piece);
                self.pieces.push(piece);
                left -= size;
            }
        }
        self.busy.withdraw();
        assert_eq!(left, 0, "enough nodes are free, and the last shape is one node");
        self.engine = Some(engine);
    }

    /// Whether a search of the busy list for each shape, O(m^2) for m boxes and mostly in vain, is
    /// less work than the sets of all shapes: each takes as long as about 56 steps of a search, and
    /// as one for nine words.
    fn searches_pay(&self) -> bool {
        let boxes = self.busy.list().boxes().len();
        boxes * boxes <= words(&self.grid).div_ceil(9) + 56
    }

    /// The intended loop of the paper.
    fn shrink_to_fit(&mut self, nodes: u32, mut shape: Sides) {
        let mut left = u64::from(nodes);
        while left > 0 {
            if volume(shape) <= left && self.take_piece(shape) {
                left -= volume(shape);
            } else {
                assert_ne!(shape, [1; 3], "enough nodes are free, so one is");
                self.shrink(&mut shape);
            }
        }
    }

    /// One off the longest side.
    fn shrink(&self, shape: &mut Sides) {
        let longest = *shape.iter().max().expect("three sides");
        let is_longest = |axis: &usize| shape[*axis] == longest;
        let axis =
            if self.last_of_ties { (0..3).rfind(is_longest) } else { (0..3).find(is_longest) };
        shape[axis.expect("one is the longest")] -= 1;
    }

    /// The largest free box within the shape, again and again. What was not free, or was too large,
    /// stays so: one pass from the largest to the smallest is enough.
    fn take_largest(&mut self, nodes: u32, shape: Sides) {
        let mut left = u64::from(nodes);
        let mut shapes = std::mem::take(&mut self.shapes);
        shapes.clear();
        // The whole shape was the first attempt, if it has the right count.
        let open = |&s: &Sides| volume(s) <= left && !(s == shape && volume(s) == left);
        let most = shape.map(|side| u32::from(side).min(nodes) as u16);
        for a in 1..=most[0] {
            for b in 1..=most[1] {
                shapes.extend((1..=most[2]).map(|c| [a, b, c]).filter(open));
            }
        }
        shapes.sort_unstable_by_key(|&sides| std::cmp::Reverse((volume(sides), sides)));
        for &shape in &shapes {
            while volume(shape) <= left && self.take_piece(shape) {
                left -= volume(shape);
            }
        }
        assert_eq!(left, 0, "enough nodes are free, and the last shape is one node");
        self.shapes = shapes;
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
        let chained = self.engine.is_some() && !self.searches_pay();
        if self.largest {
            self.take_largest(request.nodes, shape);
        } else if chained {
            self.take_from_chain(free, request.nodes, shape);
        } else {
            self.shrink_to_fit(request.nodes, shape);
        }
        let proposal = Placement::Parts(std::mem::take(&mut self.pieces));
        if !chained {
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
        let words = |engine: &Engine| {
            let words = engine.bases.words_touched() + engine.chain.words_touched();
            engine.exact.work() + Work::of_words(words)
        };
        self.busy.work() + self.engine.as_ref().map(words).unwrap_or_default()
    }

    fn fork(&self) -> Box<dyn Strategy> {
        Box::new(self.clone())
    }

    fn validate(&self, free: &Occupancy) {
        self.busy.list().validate(free);
    }
}
