//! Paging: divide the machine into pages of 2^k x 2^k nodes, and give each job the first free pages
//! in a given order.
//!
//! With k = 0, the strategy misses nothing, because a page is a single node. With k >= 1, it
//! succeeds if and only if the free pages contain enough nodes, and it misses free nodes in partly
//! busy pages. Internal fragmentation or a failed node can make a page partly busy.
//!
//! ```text
//!   paging:1 on an 8x4 mesh, 7 nodes requested: two pages, 8 nodes, in row-major order of pages
//!   . . . . . . . .
//!   . . . . . . . .
//!   # # a a b b . .      the page at the lower left is held by another job
//!   # # a a b b . .
//! ```
//!
//! The page orders (`pavior_mesh::order`) are row-major; snake; shuffled row-major, which
//! interleaves the bits of row and column; and shuffled snake. We found no definition of the last
//! one, so the `shuffle` option offers three candidates.
//!
//! Cost: O(P) for P pages, and O(affected pages) for a grant or a release. With k = 0, the code is
//! [`LinearOrder`](crate::strategies::shared::linear_order::LinearOrder), and `paging:0:row-major`
//! is `naive`.
//!
//! Source: Liu, Lo, Windisch & Nitzberg, Supercomputing '94; Lo, Windisch, Liu & Nitzberg,
//! "Noncontiguous processor allocation algorithms for mesh-connected multicomputers", TPDS 8(7),
//! 1997. Departures: pages are cubes in 3D and segments in 1D. If a side is not a multiple of 2^k,
//! the last pages are smaller. A job takes pages until they contain enough nodes. `border=unused`
//! excludes small pages, which do not occur on the machines in the literature. Wraps are ignored.
//! The papers keep a list of free pages without saying whether it stays in index order
//! (`free=sorted`). With `free=fifo`, a released page goes to the end of the list; with
//! `free=lifo`, to the front. In both of these cases, each page is a separate part.

use std::sync::Arc;

use pavior_kernel::{OptionSpec, Options, Stream, Values};
use pavior_mesh::{Cuboid, Grid, NodeId, Occupancy, Request, order, volume};

use crate::claim::{Claim, Grants, Question, Recognition, by_count};
use crate::kind::{BoxedStrategy, Entry, StrategyKind, Unsupported};
use crate::strategies::shared::free_set::{FREE, FreeOrder, FreeSet};
use crate::strategies::shared::linear_order::{Linear, Packing};
use crate::strategy::MachineStrategy;
use crate::{Placement, Strategy, Work};

pub(crate) static ENTRY: Entry = Entry {
    name: "paging",
    title: "Paging",
    source: "Liu, Lo, Windisch & Nitzberg 1994; Lo, Windisch, Liu & Nitzberg 1997",
    options: &[SIZE, SCHEME, SHUFFLE, BORDER, FREE],
    variants: &[
        "",
        "0:snake",
        "0:shuffled-row-major",
        "0:shuffled-snake",
        "0:shuffled-snake:shuffle=hilbert",
        "1",
        "2:snake",
        "1:shuffled-snake:shuffle=quadrant",
        "1:border=unused",
        "0:free=fifo",
        "0:snake:free=lifo",
        "1:free=fifo",
    ],
    does: StrategyKind::noncontiguous(build).with_supports(supports).with_claim(claim),
};

const SIZE: OptionSpec = OptionSpec {
    key: "size",
    values: Values::Integer(0, 16),
    default: "0",
    meaning: "the exponent k: pages have sides of 2^k nodes",
    bare: true,
};

const SCHEME: OptionSpec = OptionSpec {
    key: "scheme",
    values: Values::OneOf(&["row-major", "snake", "shuffled-row-major", "shuffled-snake"]),
    default: "row-major",
    meaning: "the page order",
    bare: true,
};

const SHUFFLE: OptionSpec = OptionSpec {
    key: "shuffle",
    values: Values::OneOf(&["index", "quadrant", "hilbert"]),
    default: "index",
    meaning: "the definition of shuffled-snake: the snake's index with its bits interleaved, a \
              snake at each level of the quadtree, or a Hilbert curve",
    bare: false,
};

const BORDER: OptionSpec = OptionSpec {
    key: "border",
    values: Values::OneOf(&["ragged", "unused"]),
    default: "ragged",
    meaning: "pages cut off by the border: granted (ragged) or never used",
    bare: false,
};

fn supports(grid: &Grid, options: &Options) -> Result<(), Unsupported> {
    let side = page_side(options);
    let whole = |axis: usize| grid.side(axis) == 1 || u32::from(grid.side(axis)) >= side;
    if options.get("border") == "ragged" || (0..3).all(whole) {
        Ok(())
    } else {
        Err(Unsupported(format!("no page with sides of {side} nodes fits")))
    }
}

fn claim(options: &Options) -> Claim {
    let claim = by_count(options);
    match options.integer("size") {
        0 => claim,
        _ => Claim {
            grants: Grants::RoundsUp { most },
            recognition: Recognition::Partial(Question::Count),
            ..claim
        },
    }
}

/// Returns the maximum number of nodes in the pages that a request takes. If pages at the border
/// are smaller, a job that needs only one more node may still have to take a full-sized page.
fn most(request: &Request, grid: &Grid, options: &Options) -> u64 {
    let side = page_side(options);
    let sides = grid.sides().map(|n| u64::from(u32::from(n).min(side)));
    let page: u64 = sides.iter().product();
    let nodes = u64::from(request.nodes);
    let whole = grid.sides().iter().zip(sides).all(|(&n, side)| u64::from(n) % side == 0);
    if whole || options.get("border") == "unused" {
        nodes.next_multiple_of(page)
    } else {
        (nodes + page).saturating_sub(1).min(u64::from(grid.nodes()))
    }
}

fn build(grid: &Grid, options: &Options) -> BoxedStrategy {
    let sorted = FreeOrder::of(options) == FreeOrder::Sorted;
    if options.integer("size") == 0 && sorted {
        return Box::new(Linear::new(*grid, order_of(grid, options), Packing::Sorted));
    }
    let side = page_side(options);
    let mut paging = Paging::new(*grid, side, |pages| order_of(pages, options));
    if options.get("border") == "unused" {
        paging.leave_out_cut_pages();
    }
    paging.boxed(FreeOrder::of(options))
}

/// Creates a strategy with one-node pages, which are initially in row-major order and are taken by
/// release time.
pub(super) fn single_nodes(grid: &Grid, order: FreeOrder) -> BoxedStrategy {
    Paging::new(*grid, 1, order::row_major).boxed(order)
}

fn page_side(options: &Options) -> u32 {
    1 << options.integer("size")
}

fn order_of(pages: &Grid, options: &Options) -> Vec<NodeId> {
    match (options.get("scheme"), options.get("shuffle")) {
        ("snake", _) => order::snake(pages),
        ("shuffled-row-major", _) => order::shuffled_row_major(pages),
        ("shuffled-snake", "index") => order::shuffled_snake(pages),
        ("shuffled-snake", "quadrant") => order::quadrant_snake(pages),
        ("shuffled-snake", _) => order::hilbert(pages),
        _ => order::row_major(pages),
    }
}

/// The strategy for pages, or for single nodes that are taken in order of release.
#[derive(Clone)]
struct Paging {
    grid: Grid,
    side: u32,
    /// The grid of pages, in which each node is a page.
    pages: Grid,
    /// The pages that may be granted, in index order.
    order: Arc<[NodeId]>,
    /// For each page, the number of nodes that are not free, including a job's surplus nodes.
    busy: Vec<u32>,
    /// True for each page that may be granted.
    usable: Vec<bool>,
    /// The usable pages that are completely free, in release order, or `None` if pages are taken in
    /// index order.
    returned: Option<FreeSet>,
    /// The number of nodes in the usable pages that are completely free.
    ready: u32,
    /// The number of pages visited, and the number of pages affected by grants and releases.
    work: Work,
}

impl Paging {
    fn new(grid: Grid, side: u32, order: impl Fn(&Grid) -> Vec<NodeId>) -> Paging {
        let sides = grid.sides().map(|n| u32::from(n).div_ceil(side) as u16);
        let pages = Grid::mesh(&sides).expect("no more pages than nodes");
        let count = pages.nodes() as usize;
        Paging {
            grid,
            side,
            pages,
            order: order(&pages).into(),
            busy: vec![0; count],
            usable: vec![true; count],
            returned: None,
            ready: 0,
            work: Work::default(),
        }
    }

    /// Excludes the pages truncated by the border.
    fn leave_out_cut_pages(&mut self) {
        let whole = |page: &Cuboid| {
            let long = |axis: usize| self.grid.side(axis) > 1;
            (0..3).all(|axis| !long(axis) || u32::from(page.sides[axis]) == self.side)
        };
        let pages = (0..self.pages.nodes()).map(NodeId);
        self.usable = pages.map(|page| whole(&self.page(page))).collect();
        let used = |page: &&NodeId| self.usable[page.index()];
        self.order = self.order.iter().filter(used).copied().collect();
    }

    /// Wraps the strategy in a `Box`, with all pages free.
    fn boxed(mut self, order: FreeOrder) -> BoxedStrategy {
        self.ready = self.order.iter().map(|&page| self.page(page).volume()).sum();
        if order != FreeOrder::Sorted {
            let mut returned = FreeSet::new(self.pages.nodes(), order);
            // On an empty machine, pages are granted in index order.
            let first: Vec<NodeId> = match order {
                FreeOrder::Lifo => self.order.iter().rev().copied().collect(),
                _ => self.order.to_vec(),
            };
            for page in first {
                returned.insert(page.0);
            }
            self.returned = Some(returned);
        }
        Box::new(self)
    }

    /// Takes pages until they contain enough nodes.
    fn take(&mut self, nodes: u32, pages: impl Iterator<Item = NodeId>) -> Vec<Cuboid> {
        let mut parts = Vec::new();
        let mut held = 0;
        for page in pages {
            self.work.boxes += 1;
            if self.busy[page.index()] > 0 {
                continue;
            }
            if held >= nodes {
                break;
            }
            let page = self.page(page);
            held += page.volume();
            parts.push(page);
        }
        parts
    }

    /// Records that a page has become completely free or is no longer completely free.
    fn set_ready(&mut self, page: NodeId, ready: bool) {
        if !self.usable[page.index()] {
            return;
        }
        let nodes = self.page(page).volume();
        if ready {
            self.ready += nodes;
        } else {
            self.ready -= nodes;
        }
        if let Some(returned) = &mut self.returned {
            if ready {
                returned.insert(page.0);
            } else {
                returned.remove(page.0);
            }
        }
    }

    fn page(&self, page: NodeId) -> Cuboid {
        let at = self.pages.point(page).map(u32::from);
        let base = at.map(|c| c * self.side);
        let side = |axis: usize| self.side.min(u32::from(self.grid.side(axis)) - base[axis]);
        Cuboid::new(base.map(|c| c as u16), [side(0), side(1), side(2)].map(|s| s as u16))
    }

    /// Calls `change` for each page that a box overlaps, with the number of shared nodes.
    fn touched(&mut self, cuboid: &Cuboid, mut change: impl FnMut(&mut Self, NodeId, u32)) {
        for piece in cuboid.unwrapped(&self.grid.clone()) {
            let first = piece.base.map(u32::from);
            let end: [u32; 3] = std::array::from_fn(|i| first[i] + u32::from(piece.sides[i]));
            let pages = |axis: usize| first[axis] / self.side..=(end[axis] - 1) / self.side;
            let ranges = [pages(0), pages(1), pages(2)];
            let side = self.side;
            let shared = |axis: usize, page: u32| {
                end[axis].min((page + 1) * side) - first[axis].max(page * side)
            };
            for z in ranges[2].clone() {
                for y in ranges[1].clone() {
                    for x in ranges[0].clone() {
                        let nodes = shared(0, x) * shared(1, y) * shared(2, z);
                        let page = self.pages.id([x, y, z].map(|c| c as u16));
                        self.work.upkeep += 1;
                        change(self, page, nodes);
                    }
                }
            }
        }
    }
}

impl Strategy for Paging {
    fn find(&mut self, _: &Occupancy, request: &Request, _: &mut Stream) -> Option<Placement> {
        if request.nodes > self.ready {
            return None;
        }
        // The set is moved out of the strategy during the search, because `take` borrows the
        // strategy mutably.
        let returned = self.returned.take();
        let parts = if let Some(returned) = &returned {
            self.take(request.nodes, returned.iter().map(NodeId))
        } else {
            let order = self.order.clone();
            self.take(request.nodes, order.iter().copied())
        };
        self.returned = returned;
        Some(Placement::Parts(parts))
    }

    fn granted(&mut self, placement: &Placement) {
        for part in placement.parts() {
            self.touched(part, |paging, page, nodes| {
                if paging.busy[page.index()] == 0 {
                    paging.set_ready(page, false);
                }
                paging.busy[page.index()] += nodes;
            });
        }
    }

    fn released(&mut self, placement: &Placement) {
        for part in placement.parts() {
            self.touched(part, |paging, page, nodes| {
                paging.busy[page.index()] -= nodes;
                if paging.busy[page.index()] == 0 {
                    paging.set_ready(page, true);
                }
            });
        }
    }

    fn work(&self) -> Work {
        self.work
    }

    fn fork(&self) -> Box<dyn Strategy> {
        Box::new(self.clone())
    }

    fn validate(&self, free: &Occupancy) {
        let mut ready = 0;
        for page in (0..self.pages.nodes()).map(NodeId) {
            let cuboid = self.page(page);
            let busy = cuboid.nodes(&self.grid).filter(|&node| !free.is_node_free(node)).count();
            assert_eq!(
                self.busy[page.index()] as usize,
                busy,
                "wrong number of busy nodes in page {page:?}"
            );
            let whole = busy == 0 && self.usable[page.index()];
            if whole {
                ready += volume(cuboid.sides) as u32;
            }
            let listed = self.returned.as_ref().is_none_or(|all| all.contains(page.0) == whole);
            assert!(listed, "page {page:?} is free but not listed, or vice versa");
        }
        assert_eq!(self.ready, ready, "wrong number of nodes in free pages");
    }
}

impl MachineStrategy for Paging {}
