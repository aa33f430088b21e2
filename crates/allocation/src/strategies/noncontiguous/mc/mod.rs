//! Minimising Contention: every free node counts the free nodes in shells around a box of the
//! requested shape centred on it, and the centre with the cheapest shells wins.
//!
//! Misses nothing: it succeeds exactly when enough nodes are free. Finds a free box of the shape
//! asked for wherever there is one (its cost is 0), and otherwise what is near to one.
//!
//! ```text
//!   3x1 asked for, centred on c: a node costs the number of its shell
//!       2 2 2 2 2 2 2
//!       2 1 1 1 1 1 2     n nodes are taken shell by shell, the last
//!       2 1 0 c 0 1 2     shell's in row-major order
//!       2 1 1 1 1 1 2
//!       2 2 2 2 2 2 2
//! ```
//!
//! The box may stand out over the border of the mesh; around a ring shells meet. An even side has
//! one node more above the centre than below. A side longer than its axis counts as the axis. The
//! first centre with the least cost wins, in row-major order. Without a shape the box is a single
//! node; that is [`mc1x1`].
//!
//! The engine counts the shells of eight centres side by side at once, and gives them up when none
//! of them can be the cheapest; the nodes are taken row by row from the box of the last shell.
//!
//! Cost: O(N) for prefix sums, then O(1) a shell: O(F r) for F free centres and r shells each,
//! where a centre is given up as soon as it cannot be the cheapest; the engine's O(N r / 8), and
//! O(log N) a centre on a line or ring. The engine ends at a centre around which no node is
//! missing. `plain` takes the nodes from all that are free.
//!
//! Source: Mache, Lo & Windisch, "Minimizing message-passing contention in fragmentation-free
//! processor allocation", PDCS 1997. We know the rule from its restatements only (Bender et al.
//! 2005); the rounding of even sides and the order in the last shell are the project's own, as are
//! 3D and wraps.

mod line_shells;
pub(in crate::strategies) mod mc1x1;
mod shell_costs;
mod shells;

use pavior_kernel::{Options, Stream};
use pavior_mesh::{Grid, Occupancy, Request, Sides};

use crate::kind::{Entry, StrategyKind};
use crate::strategies::shared::base_search::{ENGINE, is_plain};
use crate::strategies::shared::prefix_sums::PrefixSums;
use crate::strategies::shared::runs::runs;
use crate::{Placement, Strategy, Work};
use line_shells::LineShells;
use shell_costs::ShellCosts;
use shells::{Core, Offer};

pub(crate) static ENTRY: Entry = Entry {
    name: "mc",
    title: "Minimising Contention",
    source: "Mache, Lo & Windisch 1997",
    options: &[ENGINE],
    variants: &["", "plain"],
    does: StrategyKind::noncontiguous(build),
};

fn build(grid: &Grid, options: &Options) -> Box<dyn Strategy> {
    shells(grid, options, false)
}

/// The strategy; `single` ignores shapes.
fn shells(grid: &Grid, options: &Options, single: bool) -> Box<dyn Strategy> {
    let engine = (!is_plain(options)).then(|| Engine::new(*grid));
    Box::new(Shells { grid: *grid, single, engine, sums: None, tested: 0 })
}

#[derive(Clone)]
struct Shells {
    grid: Grid,
    single: bool,
    engine: Option<Engine>,
    /// Made when it is first needed.
    sums: Option<PrefixSums>,
    /// Shells counted, and nodes looked at for a place in them.
    tested: u64,
}

/// What counts the shells of centres, as the machine allows.
#[derive(Clone)]
enum Engine {
    Line(LineShells),
    Costs(ShellCosts),
}

impl Engine {
    fn new(grid: Grid) -> Engine {
        LineShells::of(&grid).map_or_else(|| Engine::Costs(ShellCosts::new(grid)), Engine::Line)
    }
}

impl Shells {
    /// What a centre offers, if it is cheaper than `limit`.
    fn offer(&mut self, sums: &PrefixSums, core: &Core, nodes: u32, limit: u64) -> Option<Offer> {
        let (mut cost, mut inner) = (0, 0);
        for last in 0.. {
            self.tested += 1;
            let left = u64::from(nodes - inner);
            // Every node that is still to come costs at least the number of this shell.
            if cost + left * u64::from(last) >= limit {
                return None;
            }
            let cuboid = core.grown(last);
            let free = cuboid.volume() - sums.busy_in(&cuboid);
            if free >= nodes {
                return Some(Offer { cost: cost + left * u64::from(last), last, inner });
            }
            cost += u64::from(free - inner) * u64::from(last);
            inner = free;
        }
        unreachable!("enough nodes are free, so some shell has them")
    }

    /// The cheapest centre, by looking at one after the other.
    fn cheapest(&mut self, free: &Occupancy, shape: Sides, nodes: u32) -> Option<(Core, Offer)> {
        let mut sums = self.sums.take().unwrap_or_else(|| PrefixSums::new(self.grid));
        sums.load(free);
        let least = if self.engine.is_some() { self.least(shape, nodes) } else { 0 };
        let mut best: Option<(Core, Offer)> = None;
        for node in free.iter() {
            let limit = best.as_ref().map_or(u64::MAX, |(_, offer)| offer.cost);
            if limit == least {
                break;
            }
            let core = Core::new(self.grid, self.grid.point(node), shape);
            if let Some(offer) = self.offer(&sums, &core, nodes, limit) {
                best = Some((core, offer));
            }
        }
        self.sums = Some(sums);
        best
    }

    /// What nodes cost around a box around which no node is missing: no centre is cheaper.
    fn least(&self, shape: Sides, nodes: u32) -> u64 {
        let within = |shells: u64| -> u64 {
            let side = |axis: usize| {
                let n = u64::from(self.grid.side(axis));
                (u64::from(shape[axis]).min(n) + 2 * shells).min(n)
            };
            (0..3).map(side).product()
        };
        let short = |shells| u64::from(nodes).saturating_sub(within(shells));
        (0..=u64::from(u16::MAX)).map(short).take_while(|&short| short > 0).sum()
    }

    /// The cheapest centre of a machine with one axis.
    fn cheapest_of_line(
        &mut self,
        line: &mut LineShells,
        free: &Occupancy,
        shape: Sides,
        nodes: u32,
    ) -> Option<(Core, Offer)> {
        line.load(free);
        let (axis, least) = (line.axis(), self.least(shape, nodes));
        let mut best: Option<(Core, Offer)> = None;
        for node in free.iter() {
            self.tested += 1;
            let core = Core::new(self.grid, self.grid.point(node), shape);
            let side = shape[axis].min(self.grid.side(axis));
            let offer = line.offer(core.low(axis), side, nodes);
            if best.as_ref().is_none_or(|(_, found)| offer.cost < found.cost) {
                best = Some((core, offer));
                if offer.cost == least {
                    break;
                }
            }
        }
        best
    }

    /// The nodes that a centre takes, by going over all that are free.
    fn taken(&mut self, free: &Occupancy, core: &Core, offer: Offer, nodes: u32) -> Placement {
        let Offer { last, inner, .. } = offer;
        self.tested += u64::from(free.count());
        let mut left = nodes - inner;
        let taken = free.iter().filter(|&node| {
            let shell = core.shell(self.grid.point(node));
            let here = shell == last && left > 0;
            left -= u32::from(here);
            shell < last || here
        });
        runs(&self.grid, taken)
    }
}

impl Strategy for Shells {
    fn find(&mut self, free: &Occupancy, request: &Request, _: &mut Stream) -> Option<Placement> {
        let nodes = request.nodes;
        if nodes > free.count() {
            return None;
        }
        let shape = request.shape.filter(|_| !self.single).unwrap_or([1; 3]);
        let Some(mut engine) = self.engine.take() else {
            let (core, offer) = self.cheapest(free, shape, nodes)?;
            return Some(self.taken(free, &core, offer, nodes));
        };
        let found = match &mut engine {
            Engine::Line(line) => self.cheapest_of_line(line, free, shape, nodes),
            Engine::Costs(costs) => costs.cheapest(free, shape, nodes),
        };
        self.engine = Some(engine);
        // Where sums or costs are too large for the engine, one centre after the other is looked
        // at.
        let (core, offer) = match found {
            Some(found) => found,
            None => self.cheapest(free, shape, nodes)?,
        };
        Some(core.taken(free, offer, nodes))
    }

    fn reset(&mut self, _free: &Occupancy) -> bool {
        true
    }

    fn work(&self) -> Work {
        let sums = self.sums.as_ref().map(PrefixSums::work).unwrap_or_default();
        let engine = match &self.engine {
            Some(Engine::Costs(costs)) => costs.words_touched(),
            Some(Engine::Line(_)) | None => 0,
        };
        Work::of_boxes(self.tested) + sums + Work::of_words(engine)
    }

    fn fork(&self) -> Box<dyn Strategy> {
        Box::new(self.clone())
    }
}
