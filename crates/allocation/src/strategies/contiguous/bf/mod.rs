//! Best Fit: of all free bases, the one at which the placement fits most snugly.
//!
//! Misses nothing of the orientation asked for; with `turn=all` the best base of the first
//! orientation that fits is taken, with `turn=best` the best over all orientations. The first base
//! in row-major order wins a tie. Three readings of "most busy neighbours":
//!
//! ```text
//!   frame (default)      base                     area
//!   + + +   faces of     .        neighbours of   x x . X   the base in the
//!   + P P + the whole  . b +      the base node   x . . X   smallest connected
//!   + P P + placement    +        that are no     . . . .   set of bases (X),
//!     + +   that touch            bases                     then as `base`
//! ```
//!
//! Two searches give the same answers. The engine takes the set of all bases, O(N/64 log(side)),
//! and counts the contact of those that touch most, O(surface) each. `plain`, and the readings
//! `base` and `area`: O(N) to fill a table of prefix sums, then O(1) a base for its test and for
//! its score (a face is a box one node thick); `area` labels the components of the bases in O(N)
//! more. Zhu quotes O(N).
//!
//! Source: Zhu, JPDC 16(4), 1992, for 2D, known from summaries: "maximum number of busy neighbours"
//! (the MFA paper), "and smallest number of free areas" (the NAS paper). Whose neighbours, whether
//! the border counts and how ties go is not stated, so all three readings are here, and the border
//! counts as busy in each. 3D meshes and tori: Qiao & Ni, MSU technical report, 1994, whose exact
//! score is unknown too.

mod base_regions;

use pavior_kernel::{OptionSpec, Options, Values};
use pavior_mesh::{Coordinates, Cuboid, Grid, Occupancy, Scan, Sides};

use crate::claim::{Claim, Recognition};
use crate::contiguous::{BoxRule, Contiguous, Scored, View, complete};
use crate::kind::{Entry, StrategyKind};
use crate::strategies::shared::base_search::{ENGINE_BY_KEY, is_plain};
use crate::strategies::shared::contact::{contact, most_contact};
use crate::strategies::shared::contact_search::Snug;
use crate::strategies::shared::prefix_sums::PrefixSums;
use crate::strategies::shared::turning::{TURN_BEST_OFF, turn_over};
use crate::{Strategy, Work};
use base_regions::{Regions, closed_neighbours, region};

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
    meaning: "whose busy neighbours count: the placement's, the base node's among the bases, or \
              first the smallest area of bases",
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

/// The claim of a strategy that takes the best score, the first base of those.
pub(crate) fn best_claim(score: fn(&Occupancy, &Cuboid) -> i64, options: &Options) -> Claim {
    Claim {
        recognition: Recognition::Best { score, over: turn_over(options), first_of_ties: true },
        ..complete(options)
    }
}

fn build(grid: &Grid, options: &Options) -> Box<dyn Strategy> {
    let rule = match options.get("reading") {
        "base" => Rule::Base,
        "area" => Rule::Area,
        _ => Rule::Frame,
    };
    build_with(grid, options, rule)
}

/// Best Fit by a rule, with the options' turning and search.
pub(crate) fn build_with(grid: &Grid, options: &Options, rule: Rule) -> Box<dyn Strategy> {
    let least = rule == Rule::Apart;
    if (least || rule == Rule::Frame) && !is_plain(options) {
        let rule = ByContact { snug: Snug::new(*grid), least };
        return Contiguous::new(grid, options, rule).exact().boxed();
    }
    let rule = BestFit {
        grid: *grid,
        rule,
        sums: PrefixSums::new(*grid),
        regions: Regions::default(),
        work: Work::default(),
    };
    Contiguous::new(grid, options, rule).boxed()
}

/// The most contact, or the least, by the engine.
#[derive(Clone)]
pub(crate) struct ByContact {
    pub(crate) snug: Snug,
    pub(crate) least: bool,
}

impl BoxRule for ByContact {
    const READS_BUSY_LIST: bool = false;

    fn load(&mut self, view: &mut View<'_>) {
        self.snug.load(view.occupancy());
    }

    fn best(&mut self, _: &mut View<'_>, shape: Sides) -> Option<Scored> {
        if self.least { self.snug.least(shape) } else { self.snug.most(shape) }
    }

    fn work(&self) -> Work {
        self.snug.work()
    }
}

/// What makes a base good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// Much contact.
    Frame,
    /// Many neighbours of the base that are no bases.
    Base,
    /// A small region of bases, then as `Base`.
    Area,
    /// Little contact: Worst Fit.
    Apart,
}

#[derive(Clone)]
struct BestFit {
    grid: Grid,
    rule: Rule,
    sums: PrefixSums,
    regions: Regions,
    /// Bases tested, and nodes labelled.
    work: Work,
}

impl BestFit {
    /// The best base of one orientation.
    fn best_of(&mut self, shape: Sides) -> Option<(i64, Cuboid)> {
        let (grid, sums) = (self.grid, &self.sums);
        let is_base = |base: Coordinates| sums.busy_in(&Cuboid::new(base, shape)) == 0;
        if self.rule == Rule::Area {
            self.regions.label(&grid, shape, is_base);
            self.work.words += u64::from(grid.nodes());
        }
        let perfect = match self.rule {
            Rule::Frame => most_contact(&grid, shape),
            _ => i64::MAX,
        };
        let mut best: Option<(i64, Cuboid)> = None;
        let mut tested = 0;
        let bases = Scan::default().bases(grid, shape).inspect(|_| tested += 1);
        for base in bases.filter(|&base| is_base(base)) {
            let cuboid = Cuboid::new(base, shape);
            let score = match self.rule {
                Rule::Frame => sums.contact(&cuboid),
                Rule::Apart => -sums.contact(&cuboid),
                Rule::Base => closed_neighbours(&grid, base, shape, is_base),
                Rule::Area => {
                    let size = self.regions.size(grid.id(base));
                    area_score(size, closed_neighbours(&grid, base, shape, is_base))
                }
            };
            if best.is_none_or(|(most, _)| score > most) {
                best = Some((score, cuboid));
            }
            if score == perfect {
                break;
            }
        }
        self.work.boxes += tested;
        best
    }
}

impl BoxRule for BestFit {
    const READS_BUSY_LIST: bool = false;

    fn load(&mut self, view: &mut View<'_>) {
        self.sums.load(view.occupancy());
    }

    fn best(&mut self, _: &mut View<'_>, shape: Sides) -> Option<Scored> {
        self.best_of(shape).map(|(score, at)| Scored { score, at })
    }

    fn work(&self) -> Work {
        self.work + self.sums.work()
    }
}

/// A smaller region first, then more neighbours (of which there are at most six).
fn area_score(region: u32, neighbours: i64) -> i64 {
    neighbours - 8 * i64::from(region)
}

/// The score of the reading `base`, from the occupancy.
fn neighbours_of(free: &Occupancy, cuboid: &Cuboid) -> i64 {
    let is_base = |base: Coordinates| free.is_free(&Cuboid::new(base, cuboid.sides));
    closed_neighbours(free.grid(), cuboid.base, cuboid.sides, is_base)
}

/// The score of the reading `area`, from the occupancy.
fn area_of(free: &Occupancy, cuboid: &Cuboid) -> i64 {
    let is_base = |base: Coordinates| free.is_free(&Cuboid::new(base, cuboid.sides));
    let size = region(free.grid(), cuboid.base, cuboid.sides, is_base);
    area_score(size, neighbours_of(free, cuboid))
}
