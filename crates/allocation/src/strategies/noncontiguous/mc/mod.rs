//! Minimizing Contention: try every free node as the center of a box with the requested shape, and
//! take nodes from that box and the shells around it. The center with the cheapest nodes wins.
//!
//! The strategy succeeds if and only if enough nodes are free. If a box with the requested shape is
//! free, such a box is granted, because it costs 0.
//!
//! ```text
//!   request 3x1, centered on c: a node costs the number of its shell
//!       2 2 2 2 2 2 2
//!       2 1 1 1 1 1 2     n nodes are taken shell by shell, the last
//!       2 1 0 c 0 1 2     shell's in row-major order
//!       2 1 1 1 1 1 2
//!       2 2 2 2 2 2 2
//! ```
//!
//! The box may extend beyond the mesh border. On a ring, a shell can meet itself on the far side.
//! An even side has one more node above the center than below. A side longer than its axis counts
//! as the whole axis. Ties for the lowest cost go to the first center in row-major order. Without a
//! shape, the box is a single node, as in [`mc1x1`].
//!
//! The engine counts the shells of eight neighboring centers at once. It drops any center that
//! cannot be the cheapest, and stops at the first center with a cost of 0. It then takes the nodes
//! row by row from the last shell's box. The engine uses 16-bit numbers. If the number of free
//! nodes or the lowest cost does not fit, the plain search finds the center.
//!
//! Cost: O(N) for prefix sums, then O(N r / 8) for r shells per center or, on a line or ring, O(log
//! N) per center. `plain` takes O(1) per shell and center (O(F r) in total for F free centers) and
//! visits all free nodes to select the ones to take.
//!
//! Source: Mache, Lo & Windisch, "Minimizing message-passing contention in fragmentation-free
//! processor allocation", PDCS 1997. The rule is known only from a later description (Bender et al.
//! 2005).
//!
//! Departures: the rounding of even sides, the order within the last shell, and the support for 3D
//! and wraps are our own.

mod line_shells;
pub(crate) mod mc1x1;
mod plain;
mod shell_costs;
mod shells;
mod taken;

use pavior_kernel::{Options, Stream};
use pavior_mesh::{Grid, Occupancy, Request, Sides};

use crate::kind::{BoxedStrategy, Entry, StrategyKind};
use crate::strategies::shared::base_search::{ENGINE, is_plain};
use crate::strategy::MachineStrategy;
use crate::{Placement, Strategy, Work};
use line_shells::LineShells;
use plain::PlainSearch;
use shell_costs::ShellCosts;
use shells::{Core, Offer, least_cost};
use taken::taken;

pub(crate) static ENTRY: Entry = Entry {
    name: "mc",
    title: "Minimizing Contention",
    source: "Mache, Lo & Windisch 1997",
    options: &[ENGINE],
    variants: &["", "plain"],
    does: StrategyKind::noncontiguous(build),
};

fn build(grid: &Grid, options: &Options) -> BoxedStrategy {
    build_around(grid, options, Around::Shape)
}

/// The shape that the shells surround.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Around {
    /// A box of the requested shape, or a single node if no shape was requested.
    Shape,
    Node,
}

fn build_around(grid: &Grid, options: &Options, around: Around) -> BoxedStrategy {
    let engine = (!is_plain(options)).then(|| Engine::new(*grid));
    Box::new(MinimisingContention { around, engine, plain: PlainSearch::new(*grid) })
}

#[derive(Clone)]
struct MinimisingContention {
    around: Around,
    engine: Option<Engine>,
    /// The plain search, used if there is no engine or if the engine's numbers could overflow.
    plain: PlainSearch,
}

/// The engine that finds the cheapest center. Its kind depends on the machine.
#[derive(Clone)]
enum Engine {
    /// The search for machines with one axis.
    Line(LineShells),
    /// The search for all other machines.
    Lanes(ShellCosts),
}

impl Engine {
    fn new(grid: Grid) -> Engine {
        LineShells::of(grid).map_or_else(|| Engine::Lanes(ShellCosts::new(grid)), Engine::Line)
    }

    /// Finds the cheapest center and its offer. Returns `None` if the numbers could overflow.
    fn cheapest(&mut self, free: &Occupancy, shape: Sides, nodes: u32) -> Option<(Core, Offer)> {
        match self {
            Engine::Line(line) => line.cheapest(free, shape, nodes),
            Engine::Lanes(costs) => costs.cheapest(free, shape, nodes),
        }
    }

    fn work(&self) -> Work {
        match self {
            Engine::Line(line) => line.work(),
            Engine::Lanes(costs) => Work::of_words(costs.words_touched()),
        }
    }
}

impl Strategy for MinimisingContention {
    fn find(&mut self, free: &Occupancy, request: &Request, _: &mut Stream) -> Option<Placement> {
        let nodes = request.nodes;
        if nodes > free.count() {
            return None;
        }
        let shape = request.shape.filter(|_| self.around == Around::Shape).unwrap_or([1; 3]);
        let Some(engine) = &mut self.engine else {
            return self.plain.find(free, shape, nodes);
        };
        let (core, offer) = engine.cheapest(free, shape, nodes).or_else(|| {
            self.plain.cheapest(free, shape, nodes, least_cost(free.grid(), shape, nodes))
        })?;
        Some(taken(&core, free, offer, nodes))
    }

    fn work(&self) -> Work {
        self.plain.work() + self.engine.as_ref().map(Engine::work).unwrap_or_default()
    }

    fn fork(&self) -> Box<dyn Strategy> {
        Box::new(self.clone())
    }
}

impl MachineStrategy for MinimisingContention {
    fn reset(&mut self, _free: &Occupancy) -> bool {
        true
    }
}
