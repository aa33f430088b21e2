//! First Fit: pick the first base in scan order at which the box is free.
//!
//! The strategy finds a free base for the requested orientation whenever one exists. With
//! `turn=all`, it tries each orientation in turn and misses no free placement.
//!
//! All searches give the same answer. `plain` is the search described in the literature. It fills a
//! table of prefix sums, which takes O(N) once for all orientations; each base then takes O(1).
//! `engine` is `BoxSearch` from `pavior_mesh`. With m busy boxes, it either makes about m jumps at
//! O(m/8) each or takes O(N/64 log(side)) per orientation, whichever it expects to be faster. With
//! any scan order other than `xyz`, it always does the latter.
//!
//! Source: Zhu, "Efficient processor allocation strategies for mesh-connected parallel computers",
//! JPDC 16(4), 1992, for 2D; Qiao & Ni, MSU technical report, 1994, for 3D meshes and tori. Zhu
//! computes the coverage for each request, but any correct search gives the same result. The papers
//! disagree on the scan direction, so it is an option.

use pavior_kernel::{OptionSpec, Options, Values};
use pavior_mesh::{Grid, Occupancy, Request, Scan};

use crate::Placement;
use crate::claim::Claim;
use crate::contiguous::first_base;
use crate::kind::{BoxedStrategy, Entry, StrategyKind};
use crate::strategies::shared::base_search::{BaseSearch, SEARCH};
use crate::strategies::shared::search_strategy::{SearchRule, SearchStrategy};
use crate::strategies::shared::turning::{TURN_OFF, Turn};

pub(crate) static ENTRY: Entry = Entry {
    name: "ff",
    title: "First Fit",
    source: "Zhu 1992; Qiao & Ni 1994",
    options: &[SEARCH, TURN_OFF, SCAN],
    variants: &["", "plain", "corners", "leaps", "rows", "turn=all", "scan=yx", "scan=x-y"],
    does: StrategyKind::contiguous(build).with_turns(false).with_claim(claim),
};

pub(crate) const SCAN: OptionSpec = OptionSpec {
    key: "scan",
    values: Values::Text("axes, fastest-varying first, such as yzx or x-yz", is_scan),
    default: "xyz",
    meaning: "the order in which bases are tried",
    bare: false,
};

fn is_scan(text: &str) -> bool {
    text.parse::<Scan>().is_ok()
}

pub(crate) fn scan_of(options: &Options) -> Scan {
    options.get("scan").parse().expect("parsing checked the value")
}

pub(crate) fn claim(options: &Options) -> Claim {
    Claim { scan: scan_of(options), ..first_base(options) }
}

pub(crate) fn build(grid: &Grid, options: &Options) -> BoxedStrategy {
    first_fit(grid, options, scan_of(options))
}

/// Creates First Fit with a scan order. `options` determines the orientations and the search.
pub(crate) fn first_fit(grid: &Grid, options: &Options, scan: Scan) -> BoxedStrategy {
    let search = BaseSearch::of(*grid, options, scan);
    SearchStrategy::boxed(search, FirstFit { turn: Turn::of(options), scan })
}

#[derive(Clone)]
struct FirstFit {
    turn: Turn,
    scan: Scan,
}

impl SearchRule for FirstFit {
    fn find(
        &mut self,
        search: &mut BaseSearch,
        free: &Occupancy,
        request: &Request,
    ) -> Option<Placement> {
        search.load(free);
        let shape = request.shape?;
        let (asked, shapes) = (self.turn.name(shape), self.turn.of_shape(shape));
        let found = search.first(free, asked, &shapes, self.scan);
        found.map(Placement::Whole)
    }
}
