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
//! node; that is [`mc1x1`](super::mc1x1).
//!
//! Cost: O(N) for prefix sums, then O(1) a shell: O(F r) for F free centres and r shells each, where
//! a centre is given up as soon as it cannot be the cheapest. The engine ends at a centre around which no
//! node is missing, and on a line or ring needs O(log N) a centre. The nodes are then taken from all that
//! are free with `plain`, from the box of the last shell by the engine.
//!
//! Source: Mache, Lo & Windisch, "Minimizing message-passing contention in fragmentation-free
//! processor allocation", PDCS 1997. We know the rule from its restatements only (Bender et al.
//! 2005); the rounding of even sides and the order in the last shell are the project's own, as are
//! 3D and wraps.

use pavior_kernel::{Options, Stream};
use pavior_mesh::{Coordinates, Cuboid, Grid, NodeId, Occupancy, Request, Sides};

use super::super::shared::base_search::{ENGINE, is_plain};
use super::super::shared::line_shells::LineShells;
use super::super::shared::prefix_sums::PrefixSums;
use super::super::shared::runs::runs;
use super::by_count;
use crate::kind::{ANY_GRID, BuildStrategy, Entry, StrategyKind};
use crate::{Placement, Strategy, Work};

pub(in crate::strategies) static ENTRY: Entry = Entry {
    name: "mc",
    title: "Minimising Contention",
    source: "Mache, Lo & Windisch 1997",
    options: &[ENGINE],
    variants: &["", "plain"],
    does: StrategyKind {
        contiguous: false,
        turns: false,
        supports: ANY_GRID,
        claim: by_count,
        build: BuildStrategy::Function(build),
    },
};

fn build(grid: &Grid, options: &Options) -> Box<dyn Strategy> {
    shells(grid, options, false)
}

/// The strategy; `single` ignores shapes.
pub(super) fn shells(grid: &Grid, options: &Options, single: bool) -> Box<dyn Strategy> {
    let (sums, plain) = (PrefixSums::new(*grid), is_plain(options));
    let line = LineShells::of(grid).filter(|_| !plain);
    Box::new(Shells { grid: *grid, single, plain, sums, line, tested: 0 })
}

#[derive(Clone)]
struct Shells {
    grid: Grid,
    single: bool,
    plain: bool,
    sums: PrefixSums,
    /// On machines with one axis, but for `plain`.
    line: Option<LineShells>,
    /// Shells counted, and nodes looked at for a place in them.
    tested: u64,
}

/// What a centre offers: the sum of the shell numbers, the last shell, and the nodes inside it.
#[derive(Clone, Copy)]
struct Offer {
    cost: u64,
    last: u32,
    inner: u32,
}

/// The box around a centre.
struct Core {
    grid: Grid,
    centre: Coordinates,
    sides: Sides,
}

impl Core {
    /// The lowest coordinate, which may lie off the grid.
    fn low(&self, axis: usize) -> i32 {
        i32::from(self.centre[axis]) - i32::from((self.sides[axis] - 1) / 2)
    }

    /// The box grown by a number of shells, as far as it lies on the grid.
    fn grown(&self, shells: u32) -> Cuboid {
        let mut cuboid = Cuboid::whole(&self.grid);
        for axis in 0..3 {
            let n = i32::from(self.grid.side(axis));
            let low = self.low(axis) - shells as i32;
            let end = self.low(axis) + i32::from(self.sides[axis]) + shells as i32;
            if !self.grid.wraps(axis) {
                cuboid.base[axis] = low.max(0) as u16;
                cuboid.sides[axis] = (end.min(n) - low.max(0)) as u16;
            } else if end - low < n {
                cuboid.base[axis] = low.rem_euclid(n) as u16;
                cuboid.sides[axis] = (end - low) as u16;
            }
        }
        cuboid
    }

    /// The shell in which a node lies; 0 is the box.
    fn shell(&self, point: Coordinates) -> u32 {
        let distance = |axis: usize| {
            let (n, side) = (i32::from(self.grid.side(axis)), i32::from(self.sides[axis]));
            let offset = i32::from(point[axis]) - self.low(axis);
            if !self.grid.wraps(axis) {
                return (-offset).max(offset - side + 1).max(0);
            }
            let offset = offset.rem_euclid(n);
            if offset < side { 0 } else { (offset - side + 1).min(n - offset) }
        };
        (0..3).map(distance).max().expect("three axes") as u32
    }
}

impl Shells {
    fn core(&self, centre: Coordinates, shape: Sides) -> Core {
        let sides = std::array::from_fn(|axis| shape[axis].min(self.grid.side(axis)));
        Core { grid: self.grid, centre, sides }
    }

    /// What a centre offers, if it is cheaper than `limit`.
    fn offer(&mut self, core: &Core, nodes: u32, limit: u64) -> Option<Offer> {
        let (mut cost, mut inner) = (0, 0);
        for last in 0.. {
            self.tested += 1;
            let left = u64::from(nodes - inner);
            // Every node that is still to come costs at least the number of this shell.
            if cost + left * u64::from(last) >= limit {
                return None;
            }
            let cuboid = core.grown(last);
            let free = cuboid.volume() - self.sums.busy_in(&cuboid);
            if free >= nodes {
                return Some(Offer { cost: cost + left * u64::from(last), last, inner });
            }
            cost += u64::from(free - inner) * u64::from(last);
            inner = free;
        }
        unreachable!("enough nodes are free, so some shell has them")
    }
}

/// The box of a centre, grown shell by shell, in coordinates of the table of prefix sums.
struct Reach {
    low: [i32; 3],
    end: [i32; 3],
    /// The side of an axis that wraps, else 0.
    ring: [i32; 3],
    side: [i32; 3],
}

impl Reach {
    fn of(core: &Core) -> Reach {
        let low: [i32; 3] = std::array::from_fn(|axis| core.low(axis));
        let side = core.grid.sides().map(i32::from);
        Reach {
            low,
            end: std::array::from_fn(|axis| low[axis] + i32::from(core.sides[axis])),
            ring: std::array::from_fn(|axis| if core.grid.wraps(axis) { side[axis] } else { 0 }),
            side,
        }
    }

    /// The corners of the box grown by a number of shells.
    #[inline]
    fn grown(&self, shells: i32) -> [[u32; 3]; 2] {
        let ranges: [_; 3] = std::array::from_fn(|axis| {
            let (low, end, n) = (self.low[axis] - shells, self.end[axis] + shells, self.side[axis]);
            if self.ring[axis] == 0 {
                (low.max(0), end.min(n))
            } else if end - low >= n {
                (0, n)
            } else {
                // It holds its centre, so that it begins less than once round below 0.
                let up = if low < 0 { n } else { 0 };
                (low + up, end + up)
            }
        });
        [ranges.map(|(low, _)| low as u32), ranges.map(|(_, end)| end as u32)]
    }
}

impl Shells {
    /// As [`Shells::offer`], with less work a shell.
    #[inline]
    fn offer_fast(&mut self, core: &Core, nodes: u32, limit: u64) -> Option<Offer> {
        let reach = Reach::of(core);
        let (mut cost, mut inner) = (0, 0);
        for last in 0.. {
            self.tested += 1;
            let left = u64::from(nodes - inner);
            // Every node that is still to come costs at least the number of this shell.
            if cost + left * u64::from(last) >= limit {
                return None;
            }
            let [low, end] = reach.grown(last as i32);
            let size: u32 = (0..3).map(|axis| end[axis] - low[axis]).product();
            let free = size - self.sums.between(low, end);
            if free >= nodes {
                return Some(Offer { cost: cost + left * u64::from(last), last, inner });
            }
            cost += u64::from(free - inner) * u64::from(last);
            inner = free;
        }
        unreachable!("enough nodes are free, so some shell has them")
    }

    /// As [`Shells::offer`], on a machine with one axis at once.
    fn offer_of_line(&mut self, core: &Core, nodes: u32, limit: u64) -> Option<Offer> {
        let Some(line) = &self.line else { return self.offer_fast(core, nodes, limit) };
        self.tested += 1;
        let axis = line.axis();
        let offer = line.offer(core.low(axis), core.sides[axis], nodes);
        let offer = Offer { cost: offer.cost, last: offer.last, inner: offer.inner };
        (offer.cost < limit).then_some(offer)
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
        (0..).map(short).take_while(|&short| short > 0).sum()
    }

    /// The nodes that a centre takes, by going over the box of its last shell.
    fn taken_fast(&mut self, free: &Occupancy, core: &Core, offer: Offer, nodes: u32) -> Placement {
        let around = core.grown(offer.last);
        self.tested += u64::from(around.volume());
        let mut inside: Vec<NodeId> =
            around.nodes(&self.grid).filter(|&node| free.is_node_free(node)).collect();
        inside.sort_unstable();
        let mut left = nodes - offer.inner;
        inside.retain(|&node| {
            let here = core.shell(self.grid.point(node)) == offer.last;
            let taken = !here || left > 0;
            left -= u32::from(here && taken);
            taken
        });
        runs(&self.grid, inside.into_iter())
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
        match &mut self.line {
            Some(line) => line.load(free),
            None => self.sums.load(free),
        }
        let shape = request.shape.filter(|_| !self.single).unwrap_or([1; 3]);
        let least = if self.plain { 0 } else { self.least(shape, nodes) };
        let mut best: Option<(Core, Offer)> = None;
        for node in free.iter() {
            let centre = self.grid.point(node);
            let limit = best.as_ref().map_or(u64::MAX, |(_, offer)| offer.cost);
            let core = self.core(centre, shape);
            let offer = if self.plain {
                self.offer(&core, nodes, limit)
            } else {
                self.offer_of_line(&core, nodes, limit)
            };
            if let Some(offer) = offer {
                best = Some((core, offer));
                if offer.cost == least {
                    break;
                }
            }
        }
        let (core, offer) = best.expect("some node is free");
        Some(if self.plain {
            self.taken(free, &core, offer, nodes)
        } else {
            self.taken_fast(free, &core, offer, nodes)
        })
    }

    fn work(&self) -> Work {
        Work::of_boxes(self.tested) + self.sums.work()
    }

    fn fork(&self) -> Box<dyn Strategy> {
        Box::new(self.clone())
    }
}
