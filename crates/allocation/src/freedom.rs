//! Support for requests with a freedom, shared by all strategies.
//!
//! A request without a [`Freedom`] is handled by the strategy alone. Except with strategies for
//! partition hardware, a request with a freedom is granted if and only if some placement that the
//! freedom allows is free:
//!
//! - `box`, `turned`, `any-box`: the first allowed box, in [`boxes`] order, that is free anywhere.
//!   If the strategy can grant that box whole, the strategy chooses the position. Otherwise, the
//!   box goes to its first free base in row-major order.
//! - `connected`: the strategy's own placement if it is connected; otherwise, a connected set
//!   chosen by the `connected` strategy.
//! - `any`: the strategy's own placement; failing that, the same as for `connected`; failing that,
//!   the n free nodes nearest to one of the free nodes, as chosen by the `mc1x1` strategy.
//!
//! Partition hardware has units that no box or node set can replace. Strategies for it round
//! requests up by their own rules, and grant a placement only if the freedom allows it.
//!
//! A request with a [`Pool`] is answered as if only the pool's nodes existed.
//!
//! Cost: the strategy's own search, plus, on N nodes, O(N/64 log(side)) for each allowed box up to
//! the first free one. A box that contains a box already known not to fit is cheap to rule out, but
//! this knowledge is discarded when nodes are released. A request without a freedom has no extra
//! cost. A request with a pool also copies the strategy's index.

use std::sync::Arc;

use pavior_kernel::{CallerError, Stream};
use pavior_mesh::{
    Cuboid, Freedom, Grid, NodeId, Occupancy, Pool, Request, Sides, orientations, tile_rows, volume,
};

use crate::allowed::boxes;
use crate::claim::{Claim, Grants, Recognition};
use crate::kind::{BoxedStrategy, build_for_machine};
use crate::strategies::ConnectedSearch;
use crate::strategies::shared::box_finder::BoxFinder;
use crate::{Answers, BuildError, Placement, Selection, Strategy, Work};

/// A strategy and the searches needed to honor freedoms.
pub(crate) struct Placer {
    own: BoxedStrategy,
    grid: Grid,
    /// True if the strategy places only single boxes.
    contiguous: bool,
    /// True if the strategy follows the rules of partition hardware.
    hardware: bool,
    /// Known properties of the strategy's answers to requests without a freedom.
    claimed: Answers,
    /// True if the switches that join the parts of placements have failed.
    unswitched: bool,
    /// The nodes in each pool, by pool number.
    pools: Arc<Vec<Occupancy>>,
    /// The searches for requests with a freedom, created when the first such request arrives.
    wider: Option<Box<Wider>>,
}

/// Searches that do not depend on the strategy. Every query passes the state to them.
struct Wider {
    boxes: BoxFinder,
    connected: ConnectedSearch,
    nearest: Box<dyn Strategy>,
}

impl Clone for Placer {
    fn clone(&self) -> Placer {
        // A copy creates its own searches when it is first queried.
        Placer { own: self.own.copy(), pools: Arc::clone(&self.pools), wider: None, ..*self }
    }
}

impl Wider {
    fn new(grid: Grid) -> Wider {
        let nearest: Selection = "mc1x1".parse().expect("`mc1x1` is built in");
        Wider {
            boxes: BoxFinder::new(grid),
            connected: ConnectedSearch::new(grid),
            nearest: nearest.build(&grid).expect("`mc1x1` works on every grid"),
        }
    }

    /// Returns the first of these boxes that is free, at its first free base.
    fn first_of(&mut self, free: &Occupancy, shapes: &[Sides]) -> Option<Cuboid> {
        self.boxes.load(free);
        shapes.iter().find_map(|&sides| {
            let base = self.boxes.first(sides, 1).pop()?;
            Some(Cuboid::new(base, sides))
        })
    }

    fn is_connected(&mut self, grid: Grid, placement: &Placement) -> bool {
        let mut own = Occupancy::all_busy(grid);
        let given = own.give_all(placement.parts()).is_ok();
        given && (placement.parts().len() == 1 || self.connected.largest(&own) == own.count())
    }
}

impl Placer {
    pub(crate) fn new(selection: &Selection, grid: &Grid) -> Result<Placer, BuildError> {
        let (claim, contiguous) = (Claim::of(selection), selection.entry.does.contiguous);
        Ok(Placer {
            own: build_for_machine(selection, grid)?,
            grid: *grid,
            contiguous,
            hardware: is_hardware(&claim),
            claimed: Answers::claimed(&claim.recognition, contiguous),
            unswitched: false,
            pools: Arc::default(),
            wider: None,
        })
    }

    /// Returns what is known about answers; see [`Machine::answers`](crate::Machine::answers).
    pub(crate) fn answers(&self, request: &Request) -> Answers {
        let anywhere = match request.freedom {
            None => self.claimed,
            Some(_) if self.hardware => Answers::Unknown,
            Some(Freedom::Any) => Answers::Count,
            Some(Freedom::Connected) => Answers::Monotone,
            Some(Freedom::Box | Freedom::Turned | Freedom::AnyBox) => Answers::Shapes,
        };
        match request.pool {
            Some(_) if anywhere.are_monotone() => Answers::Monotone,
            _ => anywhere,
        }
    }

    /// Adds a pool that consists of these nodes.
    pub(crate) fn add_pool(&mut self, nodes: Occupancy) -> Pool {
        let pools = Arc::make_mut(&mut self.pools);
        pools.push(nodes);
        Pool(pools.len() as u32 - 1)
    }

    #[inline]
    pub(crate) fn find(
        &mut self,
        free: &Occupancy,
        request: &Request,
        draw: &mut Stream,
    ) -> Option<Placement> {
        match request.pool {
            None => self.find_anywhere(free, request, draw),
            Some(pool) => self.find_in_pool(free, request, pool, draw),
        }
    }

    /// Finds the placement to grant on a pool's nodes. Returns `None` for an unknown pool.
    #[cold]
    fn find_in_pool(
        &mut self,
        free: &Occupancy,
        request: &Request,
        pool: Pool,
        draw: &mut Stream,
    ) -> Option<Placement> {
        let mut inside = free.clone();
        inside.keep(self.pools.get(pool.0 as usize)?).ok()?;
        let outside =
            |from: NodeId, length| free.window(from, length) & !inside.window(from, length);
        let outside = tile_rows(&self.grid, &Cuboid::whole(&self.grid), outside);
        let mut kept = self.own.copy();
        if !outside.is_empty() {
            self.own.granted(&Placement::Parts(outside));
        }
        let answer = self.find_anywhere(&inside, &request.within(None), draw);
        // Restore the strategy; otherwise, it would treat the nodes outside the pool as taken. Skip
        // this if the strategy has failed.
        if self.own.error().is_none() {
            std::mem::swap(&mut self.own, &mut kept);
        }
        answer
    }

    #[inline]
    fn find_anywhere(
        &mut self,
        free: &Occupancy,
        request: &Request,
        draw: &mut Stream,
    ) -> Option<Placement> {
        let found = match request.freedom {
            None => self.own.find(free, request, draw),
            Some(freedom) => self.find_free(free, request, freedom, draw),
        };
        if self.unswitched {
            found.filter(|placement| !self.uses_switches(placement))
        } else {
            found
        }
    }

    /// Returns true if a placement uses switches to join its parts.
    pub(crate) fn uses_switches(&self, placement: &Placement) -> bool {
        self.own.uses_switches(placement)
    }

    /// Sets whether the switches work.
    pub(crate) fn set_switches(&mut self, work: bool) {
        self.unswitched = !work;
    }

    #[cold]
    fn find_free(
        &mut self,
        free: &Occupancy,
        request: &Request,
        freedom: Freedom,
        draw: &mut Stream,
    ) -> Option<Placement> {
        let grid = self.grid;
        let wider = self.wider.get_or_insert_with(|| Box::new(Wider::new(grid)));
        let plain = Request { freedom: None, ..*request };
        let shapes = boxes(request, freedom, &grid);
        if freedom >= Freedom::Connected {
            let fits = |shape: Sides| orientations(shape).any(|sides| grid.fits(sides));
            let asks_own = !self.contiguous || request.shape.is_some_and(fits);
            let own = if asks_own { self.own.find(free, &plain, draw) } else { None };
            let own = own.filter(|placement| {
                placement.nodes() >= request.nodes
                    && (freedom == Freedom::Any || wider.is_connected(grid, placement))
            });
            if own.is_some() || self.hardware || self.own.error().is_some() {
                return own;
            }
            let connected = wider.connected.find(free, request.nodes, request.shape);
            if connected.is_some() || freedom == Freedom::Connected {
                return connected;
            }
            return wider.nearest.find(free, &Request::nodes(request.nodes), draw);
        }
        if self.hardware {
            let own = self.own.find(free, &plain, draw)?;
            return is_one_of(&own, &shapes).then_some(own);
        }
        let first = wider.first_of(free, &shapes)?;
        let wanted = Request { shape: Some(first.sides), ..plain };
        let wanted = match request.shape {
            // A box whose volume differs from the requested shape's is requested without a count.
            Some(shape) if volume(shape) == volume(first.sides) => wanted,
            _ => Request::shape(first.sides),
        };
        let own = self.own.find(free, &wanted, draw);
        let own = own.filter(|placement| is_one_of(placement, &[first.sides]));
        // A failed strategy refuses every request.
        if self.own.error().is_some() { None } else { own.or(Some(Placement::Whole(first))) }
    }

    pub(crate) fn granted(&mut self, placement: &Placement) {
        self.own.granted(placement);
    }

    pub(crate) fn covered(&mut self, whole: &Cuboid, free: &Placement) {
        self.own.covered(whole, free);
    }

    pub(crate) fn granted_over(&mut self, whole: &Cuboid, free: &Placement) -> bool {
        self.own.granted_over(whole, free)
    }

    pub(crate) fn released(&mut self, placement: &Placement) {
        self.own.released(placement);
    }

    pub(crate) fn reset(&mut self, free: &Occupancy) -> bool {
        self.own.reset(free)
    }

    pub(crate) fn work(&self) -> Work {
        let wider = self.wider.as_ref().map(|wider| {
            let boxes = Work::of_words(wider.boxes.words_touched());
            boxes + wider.connected.work() + wider.nearest.work()
        });
        self.own.work() + wider.unwrap_or_default()
    }

    /// Returns the error that stopped the strategy.
    pub(crate) fn error(&self) -> Option<CallerError> {
        self.own.error()
    }

    pub(crate) fn validate(&self, free: &Occupancy) {
        self.own.validate(free);
    }
}

/// Returns true if a placement is a single box that has one of these shapes.
fn is_one_of(placement: &Placement, shapes: &[Sides]) -> bool {
    matches!(placement.parts(), [whole] if shapes.contains(&whole.sides))
}

/// Returns true if a strategy follows the rules of partition hardware.
pub(crate) fn is_hardware(claim: &Claim) -> bool {
    matches!((claim.grants, &claim.recognition), (Grants::RoundsUp { .. }, Recognition::Own { .. }))
}
