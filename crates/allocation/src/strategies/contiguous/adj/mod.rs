//! Adjacency: among the free placements at corners of busy boxes, pick the one with the highest
//! *boundary value*, that is, the most contact with busy nodes and the border.
//!
//! The strategy finds a free placement whenever one exists, and no other free placement has a
//! higher score. On each axis, the candidates are the coordinates at which the placement touches a
//! busy box or the border, or is flush with a busy box's edge:
//!
//! ```text
//!         S S S S         a side of p = 3 nodes and a busy box x1..x2
//!   P P P                 x1 - p       touches it from the left
//!         P P P           x1           flush with its left edge
//!           P P P         x2 - p + 1   flush with its right edge
//!                 P P P   x2 + 1       touches it from the right
//! ```
//!
//! and, for the border, 0 and W - p. To see that nothing is missed, move any free placement left
//! and down until it is stuck: it is then at a candidate coordinate on every axis. Along a single
//! axis, the boundary value is piecewise linear and changes slope only at these coordinates.
//! Therefore, the best candidate is a best placement, and the first of the best candidates in scan
//! order is also the first of the best placements.
//!
//! The result is the same as that of Best Fit with rotation, and both strategies share an engine.
//! The engine takes O(N/64 log(side)), plus O(surface) for each base that it scores.
//!
//! Cost of `plain`: with B busy boxes, each axis has at most 4B + 2 candidates, and never more
//! candidates than bases. For each candidate x, the search tests only the boxes near the current z
//! and y. This takes O(B^3) in 2D and O(B^4) in 3D. Memory depends only on B. A grant takes O(1)
//! and a release O(B).
//!
//! Source: Das Sharma & Pradhan, "Submesh allocation in mesh multicomputers using busy-list: a
//! best-fit approach with complete recognition capability", JPDC 36(2), 1996. Only the abstract was
//! available, so the set of candidates is a reconstruction. The corners of individual busy boxes
//! are not enough, so every x is combined with every y. The flush candidates are our addition;
//! without them, the best placement can be missed. The MFA paper says that ADJ takes the *least*
//! contact, but the abstract says the highest boundary value. The abstract does not say which
//! orientation is used. Here, it is the first one with a free base or, with `over=all`, the one
//! with the best score (ties go to the earlier orientation).

mod plain;

use pavior_kernel::{OptionSpec, Options, Values};
use pavior_mesh::{Grid, Sides};

use crate::Work;
use crate::claim::{Claim, Over, Recognition};
use crate::contiguous::{BoxRule, Contiguous, Scored, View, complete};
use crate::kind::{BoxedStrategy, Entry, StrategyKind};
use crate::strategies::shared::base_search::{ENGINE, is_plain};
use crate::strategies::shared::contact::contact;
use crate::strategies::shared::contact_search::ContactSearch;
use crate::strategies::shared::turning::TURN_ON;
use plain::Adjacency;

pub(crate) static ENTRY: Entry = Entry {
    name: "adj",
    title: "Adjacency",
    source: "Das Sharma & Pradhan 1993, 1996",
    options: &[TURN_ON, OVER, ENGINE],
    variants: &["", "plain", "over=all", "plain:over=all"],
    does: StrategyKind::contiguous(build).with_claim(claim),
};

const OVER: OptionSpec = OptionSpec {
    key: "over",
    values: Values::OneOf(&["first", "all"]),
    default: "first",
    meaning: "the bases to compare: those in the first orientation that fits, or those in all \
              orientations",
    bare: false,
};

fn over(options: &Options) -> Over {
    if options.get("over") == "all" { Over::AllShapes } else { Over::FirstShape }
}

fn claim(options: &Options) -> Claim {
    Claim {
        recognition: Recognition::Best { score: contact, over: over(options), first_of_ties: true },
        ..complete(options)
    }
}

fn build(grid: &Grid, options: &Options) -> BoxedStrategy {
    let plain = Adjacency::new(*grid);
    if is_plain(options) {
        return Contiguous::new(grid, options, plain).over(over(options)).boxed();
    }
    let rule = Engine { plain, search: ContactSearch::new(*grid), loaded: false };
    Contiguous::new(grid, options, rule).over(over(options)).exact().boxed()
}

/// The engine. It finds the same placements as the plain search. To do so, it uses the set of all
/// bases or, if there are few busy boxes, the plain search itself.
#[derive(Clone)]
struct Engine {
    plain: Adjacency,
    search: ContactSearch,
    loaded: bool,
}

impl BoxRule for Engine {
    fn load(&mut self, _: &mut View<'_>) {
        self.loaded = false;
    }

    fn best(&mut self, view: &mut View<'_>, shape: Sides) -> Option<Scored> {
        if Adjacency::is_short(view.grid(), view.busy().len()) {
            return self.plain.best(view, shape);
        }
        if !self.loaded {
            self.search.load(view.occupancy());
            self.loaded = true;
        }
        self.search.most(shape)
    }

    fn work(&self) -> Work {
        BoxRule::work(&self.plain) + self.search.work()
    }
}
