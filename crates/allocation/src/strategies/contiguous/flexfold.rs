//! FlexFold: try First Fit with the request, its rotation, and both of these folded in half.
//!
//! ```text
//!   4x3 = 1 2 3 4     a fold along x:  . .     6x2 and the rotations are the other
//!         5 6 7 8     2x6              . .     shapes; half of the processes move,
//!         9 . . .                      . .     so a job may run longer
//! ```
//!
//! The strategy finds a free placement of one of its shapes whenever one exists. The shapes are a x
//! b, b x a, a/2 x 2b, 2a x b/2, 2b x a/2 and b/2 x 2a, without duplicates. A side is halved only
//! if it is even. With `even=both` (as in the NAS paper), both sides must be even.
//!
//! Cost: up to six First Fit searches. As with First Fit, a release costs nothing.
//!
//! Source: Gupta & Jayendran, "A flexible processor allocation strategy for mesh connected parallel
//! systems", ICPP 1996. The shapes and their order come from the abstract and the NAS paper.
//!
//! Departures: folding may increase a job's run time, and the original uses "a simple test" to
//! decide whether folding pays off. That test is not known, and a strategy does not know run times,
//! so folds are always tried, as in later papers. Support for tori is our addition. 3D is not
//! supported, because no paper says which side would double.

use pavior_kernel::{OptionSpec, Options, Values};
use pavior_mesh::{Grid, Occupancy, RefusalKey, Request, Scan, Sides};

use crate::Placement;
use crate::claim::{BoxGroup, Claim, Recognition};
use crate::contiguous::complete;
use crate::kind::{BoxedStrategy, Entry, StrategyKind, Unsupported};
use crate::strategies::shared::base_search::{BaseSearch, SEARCH};
use crate::strategies::shared::folds::{FoldOrder, Folds};
use crate::strategies::shared::search_strategy::{SearchRule, SearchStrategy};
use crate::strategies::shared::turning::{FewShapes, TURN_ON};

pub(crate) static ENTRY: Entry = Entry {
    name: "flexfold",
    title: "FlexFold",
    source: "Gupta & Jayendran 1996",
    options: &[SEARCH, TURN_ON, EVEN],
    variants: &["", "plain", "turn=none", "even=both"],
    does: StrategyKind::contiguous(build).with_supports(supports).with_claim(claim),
};

const EVEN: OptionSpec = OptionSpec {
    key: "even",
    values: Values::OneOf(&["halved", "both"]),
    default: "halved",
    meaning: "the sides that must be even in a fold: only the halved side, or both",
    bare: false,
};

fn supports(grid: &Grid, _: &Options) -> Result<(), Unsupported> {
    if grid.side(2) == 1 {
        return Ok(());
    }
    Err(Unsupported(
        "it folds only rectangles; no paper specifies which side of a box to double".into(),
    ))
}

fn folds(options: &Options) -> Folds {
    Folds {
        order: FoldOrder::FlexFold,
        both_even: options.get("even") == "both",
        turned: options.get("turn") == "all",
    }
}

/// Returns a request's shapes, in order.
fn shapes(folds: Folds, grid: Grid, request: &Request) -> impl Iterator<Item = Sides> + use<> {
    request.shape.into_iter().flat_map(move |shape| folds.of(shape, grid))
}

fn claim(options: &Options) -> Claim {
    Claim {
        family: |request, grid, options| {
            shapes(folds(options), *grid, request).map(BoxGroup::cuboid).collect()
        },
        recognition: Recognition::First,
        ..complete(options)
    }
}

fn build(grid: &Grid, options: &Options) -> BoxedStrategy {
    let search = BaseSearch::of(*grid, options, Scan::default());
    SearchStrategy::boxed(search, FlexFold { grid: *grid, folds: folds(options) })
}

#[derive(Clone)]
struct FlexFold {
    grid: Grid,
    folds: Folds,
}

impl SearchRule for FlexFold {
    fn find(
        &mut self,
        search: &mut BaseSearch,
        free: &Occupancy,
        request: &Request,
    ) -> Option<Placement> {
        search.load(free);
        let shapes: FewShapes = shapes(self.folds, self.grid, request).collect();
        let asked = request.shape.map_or(RefusalKey::Once, RefusalKey::Alone);
        let found = search.first(free, asked, &shapes, Scan::default());
        found.map(Placement::Whole)
    }
}
