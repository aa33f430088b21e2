//! Best Fit: among all free bases, pick the one whose placement has the most contact.
//!
//! The strategy finds a free base for the requested orientation whenever one exists. With
//! `turn=all`, it picks the best base in the first orientation that fits; with `turn=best`, the
//! best base in any orientation. Ties go to the first base in row-major order. "Most busy
//! neighbours" can be read in three ways:
//!
//! ```text
//!   frame (default)      base                     area
//!   + + +   faces of     .        neighbors of    x x . X   the base in the
//!   + P P + the whole  . b +      the base node   x . . X   smallest connected
//!   + P P + placement    +        that are not    . . . .   set of bases (X),
//!     + +   that touch            bases                     then as `base`
//! ```
//!
//! Two searches give the same answers. The engine computes the set of all bases in O(N/64
//! log(side)) and counts contact only for the most promising ones, in O(surface) each. The `plain`
//! search, like the `base` and `area` rules, fills a table of prefix sums in O(N). Each base then
//! takes O(1) to test and score, because a face is a box one node thick. `area` labels the
//! connected sets of bases in another O(N). Zhu states O(N).
//!
//! Source: Zhu, JPDC 16(4), 1992, for 2D, known only from summaries: "maximum number of busy
//! neighbours" (the MFA paper), "and smallest number of free areas" (the NAS paper). The summaries
//! do not say which nodes are neighbors, whether the border counts, or how ties are broken. All
//! three readings are therefore implemented, and the border counts as busy in each. For 3D meshes
//! and tori: Qiao & Ni, MSU technical report, 1994, whose exact score is not known either.

mod base_regions;
mod plain;

use pavior_kernel::{OptionSpec, Options, Values};
use pavior_mesh::{Cuboid, Grid, Occupancy, Sides};

use crate::Work;
use crate::claim::{Claim, Recognition};
use crate::contiguous::{BoxRule, Contiguous, Scored, View, complete};
use crate::kind::{BoxedStrategy, Entry, StrategyKind};
use crate::strategies::shared::base_search::{ENGINE_BY_KEY, is_plain};
use crate::strategies::shared::contact::contact;
use crate::strategies::shared::contact_search::ContactSearch;
use crate::strategies::shared::turning::{TURN_BEST_OFF, turn_over};
use plain::{BestFit, area_of, neighbours_of};

pub(crate) use plain::Rule;

pub(crate) static ENTRY: Entry = Entry {
    name: "bf",
    title: "Best Fit",
    source: "Zhu 1992; Qiao & Ni 1994",
    options: &[READING, TURN_BEST_OFF, ENGINE_BY_KEY],
    variants: &["", "plain", "base", "area", "turn=all", "turn=best", "plain:turn=best"],
    does: StrategyKind::contiguous(build).with_turns(false).with_claim(claim),
};

const READING: OptionSpec = OptionSpec {
    key: "reading",
    values: Values::OneOf(&["frame", "base", "area"]),
    default: "frame",
    meaning: "the preferred base: the one whose placement has the most busy neighbors, the one \
              with the most neighbors that are not bases, or one in the smallest connected set of \
              bases",
    bare: true,
};

fn claim(options: &Options) -> Claim {
    let score: fn(&Occupancy, &Cuboid) -> i64 = match options.get("reading") {
        "base" => neighbours_of,
        "area" => area_of,
        _ => contact,
    };
    best_claim(score, options)
}

/// Returns the claim for a strategy that picks the first base with the best score.
pub(crate) fn best_claim(score: fn(&Occupancy, &Cuboid) -> i64, options: &Options) -> Claim {
    Claim {
        recognition: Recognition::Best { score, over: turn_over(options), first_of_ties: true },
        ..complete(options)
    }
}

fn build(grid: &Grid, options: &Options) -> BoxedStrategy {
    let rule = match options.get("reading") {
        "base" => Rule::Base,
        "area" => Rule::Area,
        _ => Rule::Frame,
    };
    build_with(grid, options, rule)
}

/// Creates Best Fit with the given rule. `options` determines the orientations and the search.
pub(crate) fn build_with(grid: &Grid, options: &Options, rule: Rule) -> BoxedStrategy {
    let least = rule == Rule::Apart;
    if (least || rule == Rule::Frame) && !is_plain(options) {
        let rule = ByContact { search: ContactSearch::new(*grid), least };
        return Contiguous::new(grid, options, rule).exact().boxed();
    }
    Contiguous::new(grid, options, BestFit::new(*grid, rule)).boxed()
}

/// The engine. It finds the placement with the most or least contact.
#[derive(Clone)]
struct ByContact {
    search: ContactSearch,
    least: bool,
}

impl BoxRule for ByContact {
    const READS_BUSY_LIST: bool = false;

    fn load(&mut self, view: &mut View<'_>) {
        self.search.load(view.occupancy());
    }

    fn best(&mut self, _: &mut View<'_>, shape: Sides) -> Option<Scored> {
        if self.least { self.search.least(shape) } else { self.search.most(shape) }
    }

    fn work(&self) -> Work {
        self.search.work()
    }
}
