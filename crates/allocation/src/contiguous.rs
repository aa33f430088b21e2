//! Shared code for contiguous strategies. A new strategy only needs to implement its rule.
//!
//! A [`BoxRule`] places a box of one shape. [`Contiguous`] turns the rule into a [`Strategy`] that
//! rotates requests, maintains the list of busy boxes, copies itself for forks, counts its work,
//! and validates itself. A rule either returns its best placement directly or passes an iterator
//! over candidates to [`View::first`] or [`View::best`]:
//!
//! ```
//! # mod pavior { pub use pavior_allocation as strategies; pub use pavior_allocation::*; }
//! use pavior::strategies::Scan;
//! use pavior::strategies::contiguous::{BoxRule, Scored, View};
//! use pavior::Sides;
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

/// Returns the claim of a rule that misses no free box. The rule grants the box, rotated as the
/// `turn` option allows, and refuses only if no such box is free.
pub fn complete(_: &Options) -> Claim {
    Claim {
        family: box_family,
        scan: Scan::default(),
        grants: Grants::Exact,
        recognition: Recognition::Complete,
    }
}

/// Creates an entry with the `turn` option for a rule that misses no free box. Requests are rotated
/// by default.
///
/// The entry's claim is [`complete`], which says nothing about scores. A rule that always finds the
/// best score declares this with [`StrategyKind::with_claim`] and [`Recognition::Best`].
///
/// ```
/// # mod pavior { pub use pavior_allocation as strategies; pub use pavior_allocation::*; }
/// use pavior::strategies::{Registry, Scan};
/// use pavior::strategies::contiguous::{BoxRule, Scored, View, entry};
/// use pavior::{JobId, Machine, Request, Sides};
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

/// Returns the claim of a rule that picks the first orientation with a free base, and places it at
/// the first free base in row-major order.
pub fn first_base(options: &Options) -> Claim {
    Claim { recognition: Recognition::First, ..complete(options) }
}

/// A placement of one shape, and its score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scored {
    /// The score. Higher is better. Only `turn=best` compares the scores of orientations.
    pub score: i64,
    /// The placement.
    pub at: Cuboid,
}

/// Converts the placement of a rule without scores, for which all placements are equally good.
impl From<Cuboid> for Scored {
    fn from(at: Cuboid) -> Scored {
        Scored { score: 0, at }
    }
}

/// A rule that places a box of one shape. Contiguous strategies differ only in their rules.
///
/// All methods but [`best`](BoxRule::best) have default implementations, which are correct for a
/// rule whose only state is scratch space.
pub trait BoxRule: Clone + Send + Sync + 'static {
    /// True if the rule reads [`View::busy`]. If false, the list is not maintained.
    const READS_BUSY_LIST: bool = true;

    /// Returns a placement of a shape, or `None` if there is none. The shape must fit the empty
    /// machine without rotation.
    fn best(&mut self, view: &mut View<'_>, shape: Sides) -> Option<Scored>;

    /// Prepares for a request in this state. Called once per request, before its orientations are
    /// tried.
    fn load(&mut self, _view: &mut View<'_>) {}

    /// Records that these nodes, all of which were free, are now taken.
    fn granted(&mut self, _placement: &Placement) {}

    /// Records that these nodes, which were granted together, are free again.
    fn released(&mut self, _placement: &Placement) {}

    /// Returns the work that the rule counts itself, in addition to what [`View`] counts.
    fn work(&self) -> Work {
        Work::default()
    }

    /// Compares the rule's own index with the actual state. Panics if they differ.
    fn validate(&self, _free: &Occupancy) {}
}

/// The state in which a rule places a box. Counts the searches made through it.
pub struct View<'a> {
    free: &'a Occupancy,
    busy: &'a [Cuboid],
    work: &'a mut Work,
}

impl<'a> View<'a> {
    /// Returns the grid.
    pub fn grid(&self) -> &'a Grid {
        self.free.grid()
    }

    /// Returns the free nodes. The rule must count its own accesses to them ([`View::count`]).
    pub fn occupancy(&self) -> &'a Occupancy {
        self.free
    }

    /// Returns the busy boxes in grant order.
    pub fn busy(&self) -> &'a [Cuboid] {
        self.busy
    }

    /// Counts work that was done without this view.
    pub fn count(&mut self, work: Work) {
        *self.work += work;
    }

    /// Returns every placement of a shape on the machine, free or not, in a given scan order.
    pub fn placements(&self, shape: Sides, scan: Scan) -> impl Iterator<Item = Cuboid> + use<> {
        scan.bases(*self.grid(), shape).map(move |base| Cuboid::new(base, shape))
    }

    /// Returns true if a placement is on the machine and free. Takes O(rows of the placement) time.
    pub fn is_free(&mut self, at: &Cuboid) -> bool {
        self.work.boxes += 1;
        at.lies_on(self.grid()) && self.free.is_free(at)
    }

    /// Returns a free placement's contact: the number of (node in the placement, direction) pairs
    /// that lead to a busy neighbor or the border. Takes O(surface) time.
    pub fn contact(&mut self, at: &Cuboid) -> i64 {
        self.work.words += most_contact(self.grid(), at.sides) as u64;
        contact(self.free, at)
    }

    /// Returns the first candidate that is free.
    pub fn first(&mut self, candidates: impl IntoIterator<Item = Cuboid>) -> Option<Scored> {
        candidates.into_iter().find(|at| self.is_free(at)).map(Scored::from)
    }

    /// Returns the free candidate with the highest score. Ties go to the first one.
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

/// A contiguous strategy that is built from a rule.
#[derive(Clone)]
pub struct Contiguous<R> {
    rule: R,
    common: Common,
}

/// State that does not depend on the rule, kept separate so that its code is compiled only once.
#[derive(Clone)]
struct Common {
    grid: Grid,
    turn: Turn,
    over: Over,
    /// The exact search that refuses requests and chooses orientations, for a rule that misses no
    /// free box.
    exact: Option<BaseSearch>,
    busy: BusyList,
    work: Work,
}

impl Common {
    /// Returns the shapes that the rule tries, in order, or `None` if the exact search refuses.
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
    /// Creates the strategy for an empty machine. The `turn` option, which determines the
    /// orientations to try, must be declared, for example as [`TURN_ON`].
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

    /// Enables an exact search that refuses requests and chooses orientations for a rule that
    /// misses no free box. The search, a [`BoxSearch`](pavior_mesh::BoxSearch), caches refusals.
    /// The rule is called only if a placement exists.
    pub fn exact(mut self) -> Contiguous<R> {
        self.common.exact = Some(BaseSearch::engine(self.common.grid));
        self
    }

    /// Sets whether, regardless of the `turn` option, the best placement is taken from the first
    /// orientation that fits or from all orientations.
    pub fn over(mut self, over: Over) -> Contiguous<R> {
        self.common.over = over;
        self
    }

    /// Moves the strategy into a `Box`, as the registry requires.
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
