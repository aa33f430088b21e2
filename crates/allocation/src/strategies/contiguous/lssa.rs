//! L-Shaped Submesh Allocation: try rectangles first; if none fits, cut the rectangle in two and
//! rejoin the parts as an L.
//!
//! ```text
//!   4x3:  . . . .      no 4x3, 3x4,       . .
//!         . . . .      2x6 or 6x2 is      . .          2x4 + 2x2
//!         . . . .      free, but an L is  . . . .
//!                                         . . . .
//! ```
//!
//! The strategy finds a free placement of one of its shapes whenever one exists. The shapes are
//! S(a,b), S(b,a), S(a/2,2b), S(2b,a/2), S(2a,b/2) and S(b/2,2a), without duplicates, followed by
//! the L-shapes of S(a,b) and S(b,a). Each L is tried in eight symmetries, using First Fit over its
//! bounding box. No other shape with the same number of nodes, such as another L, is tried. An L is
//! granted as two parts, the taller one first.
//!
//! Cost: one First Fit search per shape. There are at most 6 rectangles. For each of two
//! orientations and each of about 4 values of the parameter k, there are 8 Ls.
//!
//! Source: Seo & Kim, "Improving system performance in contiguous processor allocation for
//! mesh-connected parallel systems", JSS 67(1), 2003. We know only its abstract and the NAS paper,
//! whose formulas for the nucleus define the larger part of the L.
//!
//! Departures: the order of the Ls and the search by bounding box are our own. Tori are not
//! supported, because the paper is about meshes and because an L that closes a ring has only one
//! bounding box but as many positions as the ring has nodes. 3D is not supported, because the paper
//! does not say along which axis the smaller box would join the larger one, or which three-box Ls
//! would count. Unlike this strategy, `connected` succeeds whenever an L of free nodes exists,
//! including in 3D and on tori.

use pavior_kernel::Options;
use pavior_mesh::{Grid, Occupancy, RefusalKey, Request, Scan};

use crate::claim::{BoxGroup, Claim, Recognition};
use crate::contiguous::complete;
use crate::kind::{BoxedStrategy, Entry, StrategyKind, Unsupported};
use crate::strategies::shared::base_search::{BaseSearch, SEARCH};
use crate::strategies::shared::folds::{FoldOrder, Folds};
use crate::strategies::shared::l_shapes::search::LShapeSearch;
use crate::strategies::shared::l_shapes::{LShape, l_shapes_into};
use crate::strategies::shared::search_strategy::{SearchRule, SearchStrategy};
use crate::strategies::shared::turning::{FewShapes, TURN_ON};
use crate::{Placement, Work};

pub(crate) static ENTRY: Entry = Entry {
    name: "lssa",
    title: "L-Shaped Submesh Allocation",
    source: "Seo & Kim 2003",
    options: &[SEARCH, TURN_ON],
    variants: &["", "plain", "turn=none"],
    does: StrategyKind::contiguous(build).with_supports(supports).with_claim(claim),
};

fn supports(grid: &Grid, _: &Options) -> Result<(), Unsupported> {
    if grid.side(2) == 1 && !grid.has_wrap() {
        return Ok(());
    }
    Err(Unsupported("its L-shapes are defined only on two-dimensional meshes".into()))
}

fn folds(options: &Options) -> Folds {
    let turned = options.get("turn") == "all";
    Folds { order: FoldOrder::Lssa, both_even: false, turned }
}

fn claim(options: &Options) -> Claim {
    Claim {
        family: |request, grid, options| {
            let Some(shape) = request.shape else { return Vec::new() };
            let (folds, mut l_shapes) = (folds(options), Vec::new());
            l_shapes_into(shape, grid, folds.turned, &mut l_shapes);
            let rectangles = folds.of(shape, *grid).map(BoxGroup::cuboid);
            rectangles.chain(l_shapes.into_iter().map(LShape::shape)).collect()
        },
        recognition: Recognition::Complete,
        ..complete(options)
    }
}

fn build(grid: &Grid, options: &Options) -> BoxedStrategy {
    let rule = LShaped {
        grid: *grid,
        folds: folds(options),
        l_search: LShapeSearch::of(*grid, options),
        l_shapes: Vec::new(),
    };
    SearchStrategy::boxed(BaseSearch::of(*grid, options, Scan::default()), rule)
}

#[derive(Clone)]
struct LShaped {
    grid: Grid,
    folds: Folds,
    l_search: LShapeSearch,
    l_shapes: Vec<LShape>,
}

impl SearchRule for LShaped {
    fn find(
        &mut self,
        search: &mut BaseSearch,
        free: &Occupancy,
        request: &Request,
    ) -> Option<Placement> {
        let shape = request.shape?;
        search.load(free);
        let folds: FewShapes = self.folds.of(shape, self.grid).collect();
        let found = search.first(free, RefusalKey::Alone(shape), &folds, Scan::default());
        if let Some(cuboid) = found {
            return Some(Placement::Whole(cuboid));
        }
        l_shapes_into(shape, &self.grid, self.folds.turned, &mut self.l_shapes);
        self.l_search.load(free);
        let found = self.l_shapes.iter().find_map(|&l_shape| self.l_search.first(free, l_shape));
        found.map(|parts| Placement::Parts(parts.to_vec()))
    }

    fn work(&self) -> Work {
        self.l_search.work()
    }
}
