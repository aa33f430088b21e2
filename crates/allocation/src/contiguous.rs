//! What contiguous strategies share, so that a new one is its rule and nothing else.
//!
//! A [`BoxRule`] says where a box of one shape goes. [`Contiguous`] makes a [`Strategy`] of it: it
//! turns requests, keeps the list of busy boxes, copies itself for forks, counts what is looked at,
//! and checks itself. A rule gives its best placement at once, or an iterator of candidates, of
//! which [`View::first`] or [`View::best`] takes one:
//!
//! ```
//! use pavior_allocation::contiguous::{BoxRule, Scored, View};
//! use pavior_mesh::{Scan, Sides};
//!
//! /// The last free base in scan order.
//! #[derive(Clone)]
//! struct LastFit;
//!
//! impl BoxRule for LastFit {
//!     fn best(&mut self, view: &mut View<'_>, shape: Sides) -> Option<Scored> {
//!         let backwards: Scan = "-x-y-z".parse().expect("a scan order");
//!         view.first(view.placements(shape, backwards))
//!     }
//! }
//! ```

use pavior_kernel::{Options, Stream};
use pavior_mesh::{Cuboid, Grid, Occupancy, Request, Scan, Sides};

use crate::claim::{Claim, Grants, Over, Recognition};
use crate::kind::BoxedStrategy;
use crate::strategies::shared::base_search::BaseSearch;
use crate::strategies::shared::busy_list::BusyList;
use crate::strategies::shared::contact::{contact, most_contact};
use crate::strategies::shared::turning::FewShapes;
pub use crate::strategies::shared::turning::{
    TURN_BEST_OFF, TURN_BEST_ON, TURN_OFF, TURN_ON, Turn, box_family, turn_over,
};
use crate::strategy::MachineStrategy;
use crate::{Entry, Placement, Strategy, StrategyKind, Work};

/// The claim of a rule that misses nothing: it grants the box, turned as the option `turn` says,
/// and refuses only if no base of it is free.
pub fn complete(_: &Options) -> Claim {
    Claim {
        family: box_family,
        scan: Scan::default(),
        grants: Grants::Exact,
        recognition: Recognition::Complete,
    }
}

/// An entry for a rule that misses nothing, with the option `turn`; turned where nothing is said.
///
/// Its claim is [`complete`], which says nothing of scores. A rule that finds the best score says
/// so with [`StrategyKind::with_claim`] and [`Recognition::Best`].
///
/// ```
/// use pavior_allocation::contiguous::{BoxRule, Scored, View, entry};
/// use pavior_allocation::{Machine, Registry};
/// use pavior_mesh::{JobId, Request, Scan, Sides};
///
/// #[derive(Clone)]
/// struct AnyFit;
///
/// impl BoxRule for AnyFit {
///     fn best(&mut self, view: &mut View<'_>, shape: Sides) -> Option<Scored> {
///         view.first(view.placements(shape, Scan::default()))
///     }
/// }
///
/// let any_fit = Registry::new().add(entry("any-fit", AnyFit))?;
/// let mut machine = Machine::new("mesh:4x2".parse()?, any_fit)?;
/// machine.allocate(JobId(1), &Request::shape([2, 3]))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn entry(name: &'static str, rule: impl BoxRule) -> Entry {
    let does = StrategyKind::own(true, move |grid, options| {
        Ok(Box::new(Contiguous::new(grid, options, rule.clone())))
    });
    Entry { options: &[TURN_ON], variants: &["", "turn=none"], ..Entry::new(name, does) }
}

/// The claim of a rule that takes the first free base in row-major order, of the first orientation
/// that has one.
pub fn first_base(options: &Options) -> Claim {
    Claim { recognition: Recognition::First, ..complete(options) }
}

/// A placement of one shape, and how good it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scored {
    /// Higher is better. Compared between orientations with `turn=best` only.
    pub score: i64,
    /// The placement.
    pub at: Cuboid,
}

/// A rule without scores: all placements are equally good.
impl From<Cuboid> for Scored {
    fn from(at: Cuboid) -> Scored {
        Scored { score: 0, at }
    }
}

/// Where a box of one shape goes: what one contiguous strategy does differently from all others.
///
/// Everything but [`best`](BoxRule::best) has a default, which is right for a rule that keeps
/// nothing of its own but scratch memory.
pub trait BoxRule: Clone + Send + Sync + 'static {
    /// Whether it reads [`View::busy`]; if not, the list is not kept.
    const READS_BUSY_LIST: bool = true;

    /// The placement of a shape, which fits the empty machine unturned; none if it has none.
    fn best(&mut self, view: &mut View<'_>, shape: Sides) -> Option<Scored>;

    /// A request is about to be answered in this state: called once before its orientations.
    fn load(&mut self, _view: &mut View<'_>) {}

    /// These nodes, all of them free so far, are now taken.
    fn granted(&mut self, _placement: &Placement) {}

    /// These nodes, granted together before, are free again.
    fn released(&mut self, _placement: &Placement) {}

    /// What it has counted itself, beside what [`View`] counts.
    fn work(&self) -> Work {
        Work::default()
    }

    /// Holds an index of its own against the truth; panics where they disagree.
    fn validate(&self, _free: &Occupancy) {}
}

/// The state that a rule is asked about. Looking through it is counted.
pub struct View<'a> {
    free: &'a Occupancy,
    busy: &'a [Cuboid],
    work: &'a mut Work,
}

impl<'a> View<'a> {
    /// The grid.
    pub fn grid(&self) -> &'a Grid {
        self.free.grid()
    }

    /// The free nodes. What is looked at here is for the rule to count ([`View::count`]).
    pub fn occupancy(&self) -> &'a Occupancy {
        self.free
    }

    /// The busy boxes, in the order in which they were granted.
    pub fn busy(&self) -> &'a [Cuboid] {
        self.busy
    }

    /// Counts what was looked at otherwise than through this view.
    pub fn count(&mut self, work: Work) {
        *self.work += work;
    }

    /// Every placement of a shape on the machine, free or not, in a scan order.
    pub fn placements(&self, shape: Sides, scan: Scan) -> impl Iterator<Item = Cuboid> + use<> {
        scan.bases(*self.grid(), shape).map(move |base| Cuboid::new(base, shape))
    }

    /// Whether a placement lies on the machine and is free. O(rows of the placement).
    pub fn is_free(&mut self, at: &Cuboid) -> bool {
        self.work.boxes += 1;
        at.lies_on(self.grid()) && self.free.is_free(at)
    }

    /// The contact of a free placement: how many pairs (node of the placement, direction) have a
    /// busy neighbour or the border. O(surface).
    pub fn contact(&mut self, at: &Cuboid) -> i64 {
        self.work.words += most_contact(self.grid(), at.sides) as u64;
        contact(self.free, at)
    }

    /// The first candidate that is free.
    pub fn first(&mut self, candidates: impl IntoIterator<Item = Cuboid>) -> Option<Scored> {
        candidates.into_iter().find(|at| self.is_free(at)).map(Scored::from)
    }

    /// The free candidate with the highest score, the first of equals.
    pub fn best(
        &mut self,
        candidates: impl IntoIterator<Item = Cuboid>,
        mut score: impl FnMut(&mut Self, &Cuboid) -> i64,
    ) -> Option<Scored> {
        let mut best: Option<Scored> = None;
        for at in candidates {
            if self.is_free(&at) {
                let score = score(self, &at);
                if best.is_none_or(|best| score > best.score) {
                    best = Some(Scored { score, at });
                }
            }
        }
        best
    }
}

/// A contiguous strategy, made of its rule.
#[derive(Clone)]
pub struct Contiguous<R> {
    rule: R,
    common: Common,
}

/// What does not depend on the rule, so that it is compiled once for all of them.
#[derive(Clone)]
struct Common {
    grid: Grid,
    turn: Turn,
    over: Over,
    /// What refuses, and chooses the orientation, if the rule misses nothing.
    exact: Option<BaseSearch>,
    busy: BusyList,
    work: Work,
}

impl Common {
    /// The shapes to ask the rule for, in order; none where the exact search refuses.
    fn shapes(&mut self, free: &Occupancy, request: &Request) -> Option<FewShapes> {
        let Some(exact) = &mut self.exact else {
            return Some(self.turn.shapes(self.grid, request).collect());
        };
        let shape = request.shape?;
        let (asked, shapes) = (self.turn.name(shape), self.turn.of_shape(shape));
        let first = exact.first(free, asked, &shapes, Scan::default())?;
        Some(match self.over {
            Over::FirstShape => std::iter::once(first.sides).collect(),
            Over::AllShapes => self.turn.shapes(self.grid, request).collect(),
        })
    }

    fn granted(&mut self, placement: &Placement, is_listed: bool) {
        if is_listed {
            self.busy.add(placement);
        }
        if let Some(exact) = &mut self.exact {
            exact.granted(placement);
        }
    }

    fn covered(&mut self, whole: &Cuboid, free: &Placement, is_listed: bool) {
        if is_listed {
            self.busy.add(free);
        }
        if let Some(exact) = &mut self.exact {
            exact.covered(whole, free);
        }
    }

    fn released(&mut self, placement: &Placement, is_listed: bool) {
        if is_listed {
            self.busy.remove(placement);
        }
        if let Some(exact) = &mut self.exact {
            exact.released(placement);
        }
    }

    fn work(&self) -> Work {
        let exact = self.exact.as_ref().map(BaseSearch::work).unwrap_or_default();
        self.work + self.busy.work() + exact
    }

    fn validate(&self, free: &Occupancy, is_listed: bool) {
        if is_listed {
            self.busy.validate(free);
        }
        if let Some(exact) = &self.exact {
            exact.validate(free);
        }
    }
}

impl<R: BoxRule> Contiguous<R> {
    /// The strategy for an empty machine; which orientations are tried is the option `turn`, which
    /// must be one of the options ([`TURN_ON`] and the others here).
    pub fn new(grid: &Grid, options: &Options, rule: R) -> Contiguous<R> {
        let common = Common {
            grid: *grid,
            turn: Turn::of(options),
            over: turn_over(options),
            exact: None,
            busy: BusyList::default(),
            work: Work::default(),
        };
        Contiguous { rule, common }
    }

    /// For a rule that misses no free box: requests are refused, and orientations chosen, by the
    /// exact search of [`BoxSearch`](pavior_mesh::BoxSearch), which remembers refusals. The rule is
    /// asked only where there is a placement.
    pub fn exact(mut self) -> Contiguous<R> {
        self.common.exact = Some(BaseSearch::engine(self.common.grid));
        self
    }

    /// Takes the best of the first orientation that fits, or of all, whatever the option `turn`
    /// says.
    pub fn over(mut self, over: Over) -> Contiguous<R> {
        self.common.over = over;
        self
    }

    /// As the registry wants it.
    pub(crate) fn boxed(self) -> BoxedStrategy {
        Box::new(self)
    }
}

impl<R: BoxRule> Strategy for Contiguous<R> {
    fn find(&mut self, free: &Occupancy, request: &Request, _: &mut Stream) -> Option<Placement> {
        let shapes = self.common.shapes(free, request)?;
        let Common { over, busy, work, .. } = &mut self.common;
        let mut view = View { free, busy: busy.boxes(), work };
        self.rule.load(&mut view);
        let mut best: Option<Scored> = None;
        for &shape in &*shapes {
            if let Some(found) = self.rule.best(&mut view, shape)
                && best.is_none_or(|best| found.score > best.score)
            {
                best = Some(found);
            }
            if *over == Over::FirstShape && best.is_some() {
                break;
            }
        }
        best.map(|best| Placement::Whole(best.at))
    }

    fn granted(&mut self, placement: &Placement) {
        self.rule.granted(placement);
        self.common.granted(placement, R::READS_BUSY_LIST);
    }

    fn released(&mut self, placement: &Placement) {
        self.rule.released(placement);
        self.common.released(placement, R::READS_BUSY_LIST);
    }

    fn work(&self) -> Work {
        self.rule.work() + self.common.work()
    }

    fn fork(&self) -> Box<dyn Strategy> {
        Box::new(self.clone())
    }

    fn validate(&self, free: &Occupancy) {
        self.rule.validate(free);
        self.common.validate(free, R::READS_BUSY_LIST);
    }
}

impl<R: BoxRule> MachineStrategy for Contiguous<R> {
    fn covered(&mut self, whole: &Cuboid, free: &Placement) {
        self.rule.granted(free);
        self.common.covered(whole, free, R::READS_BUSY_LIST);
    }
}
