//! Neighbour Allocation Strategy: grant the requested box or, failing that, another box, an L, or a
//! nucleus with neighbors around it.
//!
//! The strategy tries First Fit for the request, then All-Shapes First Fit, and then LSSA's
//! L-shapes. If all of these fail, the larger part of an L is placed as a *nucleus* at the first
//! base from which it can grow, neighbor by neighbor, to exactly n nodes. If there is no such base,
//! single nodes are tried as the nucleus.
//!
//! ```text
//!   5x3, nucleus 2x6:   o o . . .      n = 15: twelve nodes o of the nucleus, then three
//!                       o o x # .      neighbors x: each time, the free node with the
//!                       o o # # .      most allocated neighbors (the first such node
//!                       o o x # .      in row-major order)
//!                       o o # # .
//!                       o o x # .
//! ```
//!
//! The strategy fails if enough nodes are free but they are not connected. The paper claims that it
//! succeeds whenever n nodes are free, but this is not true: for example, it refuses a request for
//! 2 nodes if 5 are free in a checkerboard pattern. With `guarantee`, the claim holds: if no
//! connected set is large enough, the first nucleus continues to grow from the nearest free node.
//!
//! Cost: one First Fit search per shape, L and nucleus. The engine tries Ls and nuclei only if some
//! connected set of free nodes has n nodes. Finding the connected sets takes O(N/64), plus O(r log
//! r) for r runs of free nodes. Testing whether growth succeeds takes O(log r) per base (O(n) with
//! `right-up`). The growth itself takes O(n log n) and happens only once. A release costs nothing.
//!
//! Source: Shdefat, Bani-Mohammad & Ababneh, "On allocation algorithms for manycore systems with
//! network on chip", IJGHPC 15(1), 2023. Departures:
//!
//! - The printed step 6 runs while size >= allocated, so it takes one node too many, or never ends
//!   if there is no neighbor left. Step 7 tests for free nodes while the failed nucleus still holds
//!   some. The paper tries only one 1x1 nucleus.
//! - Nuclei with n or more nodes are omitted, and k = 1, 2, 3 are tried if the printed bound is
//!   negative (`nuclei.rs`).
//! - The printed conditions allow only +x and +y neighbors (`neighbours=right-up`), so growth fails
//!   in corners.
//! - The order of growth is our choice. If no shape of n nodes is requested, the search starts with
//!   the boxes of n nodes. If no shape is requested at all, the Ls and nuclei use the first of
//!   these boxes.
//! - Tori and 3D are not supported, because neither the Ls nor the nuclei are defined there. Adding
//!   the neighbor with the most granted neighbors works there, too: see
//!   [`connected`](super::connected).

mod allocated;
mod neighbour_growth;
mod nuclei;
mod plain;

use pavior_kernel::{OptionSpec, Options, Values};
use pavior_mesh::{Coordinates, Cuboid, Grid, Occupancy, RefusalKey, Request, Scan, Sides, volume};

use crate::claim::{Claim, Question, Recognition, by_count};
use crate::kind::{BoxedStrategy, Entry, StrategyKind, Unsupported};
use crate::strategies::shared::base_search::{BaseSearch, SEARCH, asked_by_count, is_plain};
use crate::strategies::shared::factor_shapes::factor_shapes_into;
use crate::strategies::shared::l_shapes::search::LShapeSearch;
use crate::strategies::shared::l_shapes::{LShape, l_shapes_into};
use crate::strategies::shared::runs::runs;
use crate::strategies::shared::search_strategy::{SearchRule, SearchStrategy};
use crate::{Placement, Work};
use neighbour_growth::{NeighbourGrowth, NeighbourRule};
use nuclei::nuclei;

pub(crate) static ENTRY: Entry = Entry {
    name: "nas",
    title: "Neighbour Allocation Strategy",
    source: "Shdefat, Bani-Mohammad & Ababneh 2023",
    options: &[SUCCESS, NEIGHBOURS, OptionSpec { bare: false, ..SEARCH }],
    variants: &["", "plain", "guarantee", "neighbours=right-up", "guarantee:neighbours=right-up"],
    does: StrategyKind::noncontiguous(build)
        .with_turns(true)
        .with_supports(supports)
        .with_claim(claim),
};

const SUCCESS: OptionSpec = OptionSpec {
    key: "success",
    values: Values::OneOf(&["connected", "guarantee"]),
    default: "connected",
    meaning: "the nodes that may be granted: only connected ones, or also the nearest ones if too \
              few are connected",
    bare: true,
};

const NEIGHBOURS: OptionSpec = OptionSpec {
    key: "neighbours",
    values: Values::OneOf(&["four-way", "right-up"]),
    default: "four-way",
    meaning: "the neighbors that count: all four, or only those at x + 1 and y + 1",
    bare: false,
};

fn supports(grid: &Grid, _: &Options) -> Result<(), Unsupported> {
    if grid.side(2) == 1 && !grid.has_wrap() {
        return Ok(());
    }
    Err(Unsupported("its L-shapes and nuclei are defined only on 2D meshes".into()))
}

fn claim(options: &Options) -> Claim {
    Claim {
        recognition: match options.get("success") {
            "guarantee" => Recognition::Count,
            _ => Recognition::Partial(Question::Count),
        },
        ..by_count(options)
    }
}

fn build(grid: &Grid, options: &Options) -> BoxedStrategy {
    let rule = match options.get("neighbours") {
        "right-up" => NeighbourRule::RightUp,
        _ => NeighbourRule::FourWay,
    };
    let rule = NeighbourAllocation {
        grid: *grid,
        guarantee: options.get("success") == "guarantee",
        plain: is_plain(options),
        l_search: LShapeSearch::of(*grid, options),
        nuclei: BaseSearch::of_bases(*grid, options),
        growth: NeighbourGrowth::new(*grid, rule),
        shapes: Vec::new(),
        boxes: Vec::new(),
        l_shapes: Vec::new(),
        tested: 0,
    };
    SearchStrategy::boxed(BaseSearch::of(*grid, options, Scan::default()), rule)
}

#[derive(Clone)]
struct NeighbourAllocation {
    grid: Grid,
    guarantee: bool,
    plain: bool,
    /// The search for the bases of nuclei.
    nuclei: BaseSearch,
    l_search: LShapeSearch,
    growth: NeighbourGrowth,
    /// The shapes of all boxes with n nodes.
    shapes: Vec<Sides>,
    /// Scratch space for the requested shape, followed by `shapes`.
    boxes: Vec<Sides>,
    l_shapes: Vec<LShape>,
    /// The number of nucleus bases tested by the plain search.
    tested: u64,
}

impl NeighbourAllocation {
    /// Finds a rectangle by First Fit or, failing that, by All-Shapes First Fit. `exact` is the
    /// requested shape if it has n nodes.
    fn rectangle(
        &mut self,
        search: &mut BaseSearch,
        free: &Occupancy,
        exact: Option<Sides>,
        nodes: u32,
    ) -> Option<Cuboid> {
        self.boxes.clear();
        self.boxes.extend(exact.into_iter().chain(self.shapes.iter().copied()));
        let name = exact.map_or(asked_by_count(nodes), RefusalKey::Alone);
        search.first(free, name, &self.boxes, Scan::default())
    }

    /// Finds the first free L-shape in LSSA's order.
    fn l_shape(
        &mut self,
        free: &Occupancy,
        asked: Option<Sides>,
        exact: Option<Sides>,
    ) -> Option<[Cuboid; 2]> {
        let rectangle = exact.or(self.shapes.first().copied().filter(|_| asked.is_none()))?;
        l_shapes_into(rectangle, &self.grid, true, &mut self.l_shapes);
        self.l_shapes.iter().find_map(|&l_shape| self.l_search.first(free, l_shape))
    }

    /// Finds the first free nucleus, trying the shape's nuclei before single nodes. If `must_reach`
    /// is true, considers only nuclei from which growth reaches `nodes` nodes.
    fn nucleus(
        &mut self,
        free: &Occupancy,
        shape: Option<Sides>,
        nodes: u32,
        must_reach: bool,
    ) -> Option<Cuboid> {
        for sides in shape.into_iter().flat_map(|shape| nuclei(shape, nodes, self.grid)) {
            self.nuclei.compute(free, sides);
            let (search, growth) = (&self.nuclei, &mut self.growth);
            let reaches = |base: &Coordinates| {
                let nucleus = Cuboid::new(*base, sides);
                !must_reach || growth.reaches(free, &nucleus, nodes)
            };
            let found = if let BaseSearch::Set(set) = search {
                set.row_major().find(reaches)
            } else {
                plain::bases(search, self.grid, sides, &mut self.tested).find(reaches)
            };
            let found = found.map(|base| Cuboid::new(base, sides));
            if found.is_some() {
                return found;
            }
        }
        let single = |node| Cuboid::node(self.grid.point(node));
        let growth = &mut self.growth;
        free.iter().map(single).find(|nucleus| !must_reach || growth.reaches(free, nucleus, nodes))
    }
}

impl SearchRule for NeighbourAllocation {
    fn find(
        &mut self,
        search: &mut BaseSearch,
        free: &Occupancy,
        request: &Request,
    ) -> Option<Placement> {
        let nodes = request.nodes;
        if nodes > free.count() {
            return None;
        }
        factor_shapes_into(nodes, &self.grid, &mut self.shapes);
        let asked = request.shape.filter(|shape| shape[2] == 1);
        search.load(free);
        self.l_search.load(free);
        self.nuclei.load(free);
        let exact = asked.filter(|&shape| volume(shape) == u64::from(nodes));
        let rectangle = self.rectangle(search, free, exact, nodes);
        if rectangle.is_some() {
            return rectangle.map(Placement::Whole);
        }
        // Ls and nuclei that grow by neighbors are connected, so both fail if every component of
        // free nodes has fewer than n nodes. The plain search omits this test and needs the
        // components only for growth.
        let may_connect = self.plain || self.growth.prepare(free) >= nodes;
        if may_connect && let Some(parts) = self.l_shape(free, asked, exact) {
            return Some(Placement::Parts(parts.to_vec()));
        }
        if self.plain {
            self.growth.prepare(free);
        }
        let shape = asked.or(self.shapes.first().copied());
        let connected = if may_connect { self.nucleus(free, shape, nodes, true) } else { None };
        let nucleus = connected.or_else(|| {
            if self.guarantee { self.nucleus(free, shape, nodes, false) } else { None }
        })?;
        let mut added = self.growth.grow(free, &nucleus, nodes);
        let mut parts = Vec::new();
        // A single-node nucleus is granted as part of the runs of added nodes.
        if nucleus.volume() > 1 {
            parts.push(nucleus);
        } else {
            added.insert(0, self.grid.id(nucleus.base));
            added.sort_unstable();
        }
        parts.extend_from_slice(runs(&self.grid, added.into_iter()).parts());
        Some(Placement::Parts(parts))
    }

    fn work(&self) -> Work {
        Work::of_boxes(self.tested) + self.nuclei.work() + self.l_search.work() + self.growth.work()
    }
}
