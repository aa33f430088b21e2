//! Minimal Fragmentation Algorithm: score the bases around busy submeshes by their contact.
//!
//! Busy submeshes are considered in grant order. The candidates around each one are the bases that
//! put the task to its right, on top of it, to its left, or below it. They are scored by the
//! *optimality index*, which is the whole frame's contact with busy nodes and the border. The best
//! candidate wins, and ties go to the one visited first. A perfect index ends the search.
//!
//! ```text
//!   task 3x2, busy S:     T T T T T T .     R, T, L, B: bases right of, on top of, left of and
//!                         L . S S S R .     below S; a base is the task's lower left node, so
//!                         L . S S S R .     L is three columns and B two rows away
//!   (. inside: bases      L . . . . R .
//!    that would hit S)    B B B B B . .
//! ```
//!
//! The strategy finds a free placement whenever one exists. Move any free placement left and then
//! down until it is stuck: it is then at <0,0>, or touches the right or top side of a busy submesh.
//! On a ring, the placement may move around forever, but then it is also free at coordinate 0.
//!
//! On a mesh, the chosen placement does not always have the most contact. With `corners=all`, it
//! does, because all of the machine's corners are scored: a placement that touches no busy submesh
//! can be moved along the border, without losing contact, until it reaches a corner or a submesh.
//!
//! The engine does not walk. A base is a candidate if and only if its placement touches a busy
//! node. Among the candidates with the highest index, the walk first visits the one around the
//! submesh that was granted earliest. The engine therefore computes the set of all bases, with one
//! bit per base. It counts contact only for bases that could be the best. Among equally good ones,
//! it determines which the walk would visit first.
//!
//! Cost: O(N/64 log(side)) for the bases, O(surface) for each base that could be the best, and O(B)
//! to choose among equally good ones.
//!
//! Cost of `plain`: for a p x q task and B submeshes of K nodes, there are O(B (sqrt K + p + q))
//! candidates, at O(p + q) each. The setup, which marks each covered base, takes O(N) if most bases
//! are covered. The paper's Theta(sqrt K B) ignores setup and scoring. A release takes O(B).
//!
//! Source: Srinivasan, Seshadri, Chandrasekhar & Jonathan, "A minimal fragmentation algorithm for
//! task allocation in mesh-connected multicomputers", 2004. Departures:
//!
//! 1. As printed, `weight()` returns -1 if a *perimeter node* is in the coverage or reject set.
//!    However, these are sets of bases, and the paper's own tables test the base.
//! 2. The best index starts at p + q, so lower indices are ignored, and some tasks that fit are
//!    refused. Here, it starts below 0, and <0,0> is scored like any other base.
//! 3. The loop over orientations forgets the best base in the first orientation. According to the
//!    text, and in this implementation, the second orientation is tried only if the first one fails
//!    (`turn=best` takes the better of the two).
//! 4. Each base has a single mark instead of a status of 1 or 2.
//!
//! `printed` reproduces defects 2 and 3 and the blind fallback to <0,0>, but never grants nodes
//! that overlap another grant. Support for tori and 3D is our addition.

mod beside;
mod candidates;
mod plain;
mod printed;

use pavior_kernel::{OptionSpec, Options, Values};
use pavior_mesh::{Cuboid, Grid, Sides};

use crate::Work;
use crate::claim::{Claim, Question, Recognition};
use crate::contiguous::{BoxRule, Contiguous, Scored, View, complete};
use crate::kind::{BoxedStrategy, Entry, StrategyKind, Unsupported};
use crate::strategies::contiguous::mfa::plain::Walk;
use crate::strategies::contiguous::mfa::printed::Printed;
use crate::strategies::shared::base_search::{ENGINE_BY_KEY, is_plain};
use crate::strategies::shared::contact::contact;
use crate::strategies::shared::contact_search::ContactSearch;
use crate::strategies::shared::turning::{TURN_BEST_ON, Turn, turn_over};
use beside::{corner_bases, place_around};

pub use beside::MfaSide;
pub use candidates::{MfaCandidate, MfaVerdict, mfa_candidates};

pub(crate) static ENTRY: Entry = Entry {
    name: "mfa",
    title: "Minimal Fragmentation Algorithm",
    source: "Srinivasan, Seshadri, Chandrasekhar & Jonathan 2004",
    options: &[RULE, TURN_BEST_ON, CORNERS, ENGINE_BY_KEY],
    variants: &[
        "",
        "plain",
        "corners=all",
        "turn=best:corners=all",
        "plain:corners=all",
        "printed",
    ],
    does: StrategyKind::contiguous(build).with_supports(supports).with_claim(claim),
};

const RULE: OptionSpec = OptionSpec {
    key: "rule",
    values: Values::OneOf(&["intended", "printed"]),
    default: "intended",
    meaning: "the algorithm: as intended, or with the threshold and orientation loop as printed in \
              the paper",
    bare: true,
};

const CORNERS: OptionSpec = OptionSpec {
    key: "corners",
    values: Values::OneOf(&["origin", "all"]),
    default: "origin",
    meaning: "the corners of the machine to score in addition to the bases around busy submeshes",
    bare: false,
};

fn supports(grid: &Grid, options: &Options) -> Result<(), Unsupported> {
    if options.get("rule") == "intended" {
        return Ok(());
    }
    if grid.side(2) > 1 || grid.has_wrap() {
        return Err(Unsupported("the paper describes it only for two-dimensional meshes".into()));
    }
    if options.get("corners") == "all" || options.get("turn") == "best" {
        return Err(Unsupported(
            "the algorithm as printed supports neither corners nor turn=best".into(),
        ));
    }
    Ok(())
}

fn claim(options: &Options) -> Claim {
    Claim {
        recognition: match (options.get("rule"), options.get("corners")) {
            ("printed", _) => Recognition::Partial(Question::Boxes),
            (_, "all") => {
                Recognition::Best { score: contact, over: turn_over(options), first_of_ties: false }
            }
            _ => Recognition::Complete,
        },
        ..complete(options)
    }
}

fn build(grid: &Grid, options: &Options) -> BoxedStrategy {
    let all_corners = options.get("corners") == "all";
    if options.get("rule") == "printed" {
        return Box::new(Printed::new(Turn::of(options)));
    }
    if is_plain(options) {
        return Contiguous::new(grid, options, Walk::new(all_corners)).boxed();
    }
    let rule = Engine { all_corners, search: ContactSearch::new(*grid), ties: Vec::new() };
    Contiguous::new(grid, options, rule).exact().boxed()
}

/// MFA's engine, which finds the walk's placement without walking. The module documentation
/// explains why the two agree.
#[derive(Clone)]
struct Engine {
    all_corners: bool,
    search: ContactSearch,
    /// Scratch space for the candidates with the highest index.
    ties: Vec<Cuboid>,
}

impl BoxRule for Engine {
    fn load(&mut self, view: &mut View<'_>) {
        self.search.load(view.occupancy());
    }

    fn best(&mut self, view: &mut View<'_>, shape: Sides) -> Option<Scored> {
        // Collect the candidates adjacent to busy submeshes that have the highest index. The
        // closure returns the lowest index still of interest.
        let ties = &mut self.ties;
        ties.clear();
        let mut most = -1;
        self.search.descend(shape, false, |found| {
            if found.is_beside && found.contact >= most {
                if found.contact > most {
                    ties.clear();
                }
                most = found.contact;
                ties.push(found.at);
            }
            most
        });
        // The walk visits corners last, so a corner wins only if its index is higher.
        let mut corner = None;
        for base in corner_bases(view.grid(), shape, self.all_corners) {
            let at = Cuboid::new(base, shape);
            if let Some(index) = self.search.at(&at).filter(|&index| index > most) {
                (most, corner) = (index, Some(at));
            }
        }
        let at = corner.or_else(|| self.first_met(view, shape))?;
        Some(Scored { score: most, at })
    }

    fn work(&self) -> Work {
        self.search.work()
    }
}

impl Engine {
    /// Returns the best candidate that the walk would visit first: the first one around the
    /// earliest-granted submesh that is touched by a best candidate.
    fn first_met(&self, view: &mut View<'_>, shape: Sides) -> Option<Cuboid> {
        let mut tested = 0;
        let met = view.busy().iter().find_map(|held| {
            tested += self.ties.len() as u64;
            let place = |at: &Cuboid| {
                place_around(view.grid(), held, shape, at.base).map(|place| (place, *at))
            };
            self.ties.iter().filter_map(place).min_by_key(|&(place, _)| place)
        });
        view.count(Work::of_boxes(tested));
        met.map(|(_, at)| at)
    }
}
