//! Minimum Interference Paging: take the first free box of exactly n nodes, in any shape. If there
//! is none, take the n free nodes with the smallest distance between the first and the last in
//! row-major order.
//!
//! The strategy succeeds if and only if enough nodes are free. The grant is contiguous whenever a
//! box of exactly n nodes is free, even if scattered nodes would have a smaller span.
//!
//! ```text
//!   4 nodes:   . # a a     a free 2x2 box       . # . #    no free box of 4:
//!              . # a a     wins                 a # a #    rows are scanned, span 6
//!              . # . .                          a # a #
//! ```
//!
//! The fallback uses the same rule and code as `linear-first:row-major`.
//!
//! Cost: one First Fit search for each of the d(n) shapes, and O(N) for the fallback.
//!
//! Source: Bani-Mohammad & Ababneh, "Improving system performance in non-contiguous processor
//! allocation for mesh interconnection networks", Simulation Modelling Practice and Theory 80,
//! 2018.
//!
//! Departures: the shapes are tried in All-Shapes First Fit order, most compact first. If the
//! requested shape has exactly n nodes, it is tried before all of them. Support for 3D and (for
//! boxes only) wraps is our addition.

use pavior_kernel::Options;
use pavior_mesh::{Grid, Occupancy, RefusalKey, Request, Scan, Sides, order, volume};

use crate::kind::{BoxedStrategy, Entry, StrategyKind};
use crate::strategies::shared::base_search::{BaseSearch, SEARCH, asked_by_count};
use crate::strategies::shared::factor_shapes::factor_shapes_into;
use crate::strategies::shared::linear_order::{LinearOrder, Packing};
use crate::strategies::shared::search_strategy::{SearchRule, SearchStrategy};
use crate::{Placement, Work};

pub(crate) static ENTRY: Entry = Entry {
    name: "mip",
    title: "Minimum Interference Paging",
    source: "Bani-Mohammad & Ababneh 2018",
    options: &[SEARCH],
    variants: &["", "plain"],
    does: StrategyKind::noncontiguous(build).with_turns(true),
};

fn build(grid: &Grid, options: &Options) -> BoxedStrategy {
    let rule = MinimumInterference {
        grid: *grid,
        shapes: Vec::new(),
        boxes: Vec::new(),
        line: LinearOrder::new(*grid, order::row_major(grid)),
    };
    SearchStrategy::boxed(BaseSearch::of(*grid, options, Scan::default()), rule)
}

#[derive(Clone)]
struct MinimumInterference {
    grid: Grid,
    /// Scratch space for the shapes of all boxes with n nodes.
    shapes: Vec<Sides>,
    /// Scratch space: the requested shape, followed by the shapes of all boxes with n nodes.
    boxes: Vec<Sides>,
    line: LinearOrder,
}

impl SearchRule for MinimumInterference {
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
        let asked = request.shape.filter(|&shape| volume(shape) == u64::from(nodes));
        let asked = asked.filter(|&shape| self.grid.fits(shape));
        factor_shapes_into(nodes, &self.grid, &mut self.shapes);
        self.boxes.clear();
        self.boxes.extend(asked.into_iter().chain(self.shapes.iter().copied()));
        search.load(free);
        let name = asked.map_or(asked_by_count(nodes), RefusalKey::Alone);
        match search.first(free, name, &self.boxes, Scan::default()) {
            Some(cuboid) => Some(Placement::Whole(cuboid)),
            None => self.line.find(free, nodes, Packing::MinSpan),
        }
    }

    fn work(&self) -> Work {
        self.line.work()
    }
}
