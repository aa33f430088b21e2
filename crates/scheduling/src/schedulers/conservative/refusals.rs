//! Refused requests. If a job is refused, so is any longer job that requests the same or larger
//! boxes.
//!
//! ```text
//!   a a .    a (2x1 for 5) was refused before 20. Then b (2x2 for 9) is refused without a search,
//!   b b .    since a would fit in b's box; c (1x3 for 9) may fit where a does not.
//! ```
//!
//! A waiting job is usually at least as large and as long as some recently refused job, so the
//! search for its slot covers only a short time span, regardless of the queue length.
//!
//! Invariant: [`Refusals`] are valid until nodes are freed. [`RefusalsNearby`] are valid as long as
//! their slot exists.
//!
//! Cost: O(log k) per query for a request refused with k different lengths. If a request allows few
//! boxes, it is also compared with each of the last [`RECENT`] refusals or, near a slot, with up to
//! [`NEARBY`].

use std::collections::VecDeque;
use std::sync::Arc;

use pavior_kernel::Time;
use pavior_mesh::{Request, Sides};
use rustc_hash::FxHashMap;

use super::slot::first_begin_reaching;

/// The number of recent refusals to compare a job with.
const RECENT: usize = 128;

/// The boxes of which at least one must be free, or `None` if the request has other conditions.
pub(super) type Boxes = Option<Arc<[Sides]>>;

/// The nodes that a job needs, and how long it needs them.
#[derive(Clone)]
pub(super) struct Demand {
    pub(super) request: Request,
    pub(super) boxes: Boxes,
    pub(super) nodes: u64,
    pub(super) estimate: Time,
}

impl Demand {
    /// Returns true if a job with this demand would fit wherever and whenever a job with demand
    /// `other` fits.
    pub(super) fn fits_in(&self, other: &Demand) -> bool {
        if self.estimate > other.estimate {
            return false;
        }
        // A request's list of boxes may have been replaced by the boxes' intersection.
        let (Some(small), Some(large)) = (&self.boxes, &other.boxes) else {
            return self.request == other.request;
        };
        let fits = |one: &Sides, other: &Sides| one.iter().zip(other).all(|(a, b)| a <= b);
        let pool = self.request.pool == other.request.pool;
        pool && large.iter().all(|large| small.iter().any(|small| fits(small, large)))
    }

    /// Returns the demand for `part` of the largest box contained in all allowed boxes.
    pub(super) fn core(&self, part: fn(Sides) -> Sides) -> Demand {
        let core = self.boxes.as_deref().and_then(common).map(part);
        let Some(core) = core else { return self.clone() };
        let nodes = core.map(u64::from).iter().product();
        Demand { boxes: Some([core].into()), nodes, ..*self }
    }

    /// Returns the number of nodes times the estimate, saturating on overflow.
    fn work(&self) -> u64 {
        self.nodes.saturating_mul(self.estimate.0)
    }
}

/// Returns the largest box contained in all of the given boxes.
pub(super) fn common(boxes: &[Sides]) -> Option<Sides> {
    let smaller = |one: Sides, other: Sides| std::array::from_fn(|axis| one[axis].min(other[axis]));
    boxes.iter().copied().reduce(smaller)
}

/// Returns a box whose sides are half as long, rounded up.
pub(super) fn half(sides: Sides) -> Sides {
    sides.map(|side| side.div_ceil(2))
}

/// A demand that cannot be satisfied before `until`.
struct Refusal {
    demand: Demand,
    until: Time,
}

/// The times before which jobs are known to be refused, by request and estimated run time.
#[derive(Default)]
pub(super) struct Refusals {
    earliest: FxHashMap<Request, ByLength>,
    /// The most recent refusals, latest first.
    recent: VecDeque<Refusal>,
}

impl Refusals {
    /// Returns the latest time before which a job is known to be refused.
    pub(super) fn of(&self, demand: &Demand) -> Time {
        let mut until = self.of_request(&demand.request, demand.estimate);
        for refusal in &self.recent {
            if refusal.until > until && refusal.demand.fits_in(demand) {
                until = refusal.until;
            }
        }
        until
    }

    fn of_request(&self, request: &Request, estimate: Time) -> Time {
        self.earliest.get(request).map_or(Time::ZERO, |known| known.of(estimate))
    }

    /// Records that a job cannot begin before `until`.
    pub(super) fn learn(&mut self, demand: Demand, until: Time) {
        let (request, estimate) = (demand.request, demand.estimate);
        if until <= self.of_request(&request, estimate) {
            return;
        }
        self.earliest.entry(request).or_default().learn(estimate, until);
        self.recent.truncate(RECENT - 1);
        self.recent.push_front(Refusal { demand, until });
    }

    /// Drops all refusals after nodes have been freed.
    pub(super) fn forget(&mut self) {
        self.earliest.clear();
        self.recent.clear();
    }
}

/// The maximum number of size-based refusals stored for each freed slot.
const NEARBY: usize = 64;

/// The jobs refused near one freed slot.
#[derive(Default)]
pub(super) struct RefusalsNearby {
    /// For each estimate, the time before which no job of that length can use a node in the slot.
    by_length: ByLength,
    /// The jobs refused because of their size, sorted by work. Jobs with the least work come first
    /// because they rule out the most other jobs.
    by_size: Vec<Refusal>,
}

impl RefusalsNearby {
    /// Returns the latest time before which no node in the slot is free for `estimate`.
    pub(super) fn of_length(&self, estimate: Time) -> Time {
        self.by_length.of(estimate)
    }

    /// Returns the latest time, up to `limit`, before which a job is refused because of its size.
    pub(super) fn of_size(&self, demand: &Demand, limit: Time) -> Time {
        let (mut until, work) = (Time::ZERO, demand.work());
        for refusal in &self.by_size {
            if until >= limit || refusal.demand.work() > work {
                break;
            }
            if refusal.until > until && refusal.demand.fits_in(demand) {
                until = refusal.until;
            }
        }
        until.min(limit)
    }

    /// Drops the refusals that no longer matter once the slot begins at `from`.
    pub(super) fn begin_at(&mut self, from: Time) {
        self.by_length.0.retain(|(known, until)| first_begin_reaching(from, *known) < *until);
        let reaches =
            |refusal: &Refusal| first_begin_reaching(from, refusal.demand.estimate) < refusal.until;
        self.by_size.retain(reaches);
    }

    /// Records that no job with the given or a longer estimate can use any of the slot's nodes
    /// before `until`.
    pub(super) fn learn_length(&mut self, estimate: Time, until: Time) {
        self.by_length.learn(estimate, until);
    }

    /// Records that a job cannot begin before `until` on any node in the slot.
    pub(super) fn learn_size(&mut self, demand: Demand, until: Time) {
        self.by_size.retain(|known| known.until > until || !demand.fits_in(&known.demand));
        let work = demand.work();
        let place = self.by_size.partition_point(|known| known.demand.work() <= work);
        self.by_size.insert(place, Refusal { demand, until });
        self.by_size.truncate(NEARBY);
    }
}

/// For each estimate, the time before which jobs of that length or longer are refused.
///
/// Invariant: longer jobs have later times.
#[derive(Default)]
struct ByLength(Vec<(Time, Time)>);

impl ByLength {
    fn of(&self, estimate: Time) -> Time {
        let longer = self.0.partition_point(|(known, _)| *known <= estimate);
        longer.checked_sub(1).map_or(Time::ZERO, |last| self.0[last].1)
    }

    /// Adds an entry, and drops entries that it makes redundant.
    fn learn(&mut self, estimate: Time, until: Time) {
        if until > self.of(estimate) {
            self.0.retain(|(known, then)| *known < estimate || *then > until);
            let place = self.0.partition_point(|(known, _)| *known < estimate);
            self.0.insert(place, (estimate, until));
        }
    }
}

#[cfg(test)]
mod tests {
    use pavior_mesh::Pool;

    use super::*;

    fn nodes(nodes: u32, estimate: u64) -> Demand {
        let (request, estimate) = (Request::nodes(nodes), Time(estimate));
        Demand { request, boxes: None, nodes: u64::from(nodes), estimate }
    }

    /// Returns the demand for a box that may be rotated.
    fn shape(w: u16, d: u16, estimate: u64) -> Demand {
        let (request, estimate) = (Request::shape([w, d, 1]), Time(estimate));
        let boxes = Some([[w, d, 1], [d, w, 1]].into());
        Demand { request, boxes, nodes: u64::from(w * d), estimate }
    }

    #[test]
    fn what_a_shorter_job_is_refused_a_longer_one_is_refused_too() {
        let mut refusals = Refusals::default();
        for (estimate, at) in [(5, 100), (9, 50), (3, 20)] {
            refusals.learn(nodes(2, estimate), Time(at));
        }
        let known = |estimate| refusals.of(&nodes(2, estimate)).0;
        assert_eq!([1, 3, 4, 5, 9].map(known), [0, 20, 20, 100, 100]);
        assert_eq!(refusals.of(&nodes(3, 9)), Time::ZERO);
    }

    #[test]
    fn what_a_smaller_box_is_refused_a_larger_one_is_refused_too() {
        let mut refusals = Refusals::default();
        let mut nearby = RefusalsNearby::default();
        refusals.learn(shape(2, 3, 5), Time(20));
        nearby.learn_size(shape(2, 3, 5), Time(20));
        let known = |demand: Demand| {
            let until = refusals.of(&demand);
            assert_eq!(nearby.of_size(&demand, Time(30)), until);
            until.0
        };
        assert_eq!(known(shape(3, 2, 5)), 20, "turned");
        assert_eq!(known(shape(4, 4, 9)), 20, "larger and longer");
        assert_eq!(known(shape(4, 4, 4)), 0, "shorter");
        assert_eq!(known(shape(1, 9, 9)), 0, "narrower");
        let demand = shape(4, 4, 9);
        let elsewhere = demand.request.within(Some(Pool(0)));
        assert_eq!(known(Demand { request: elsewhere, ..demand }), 0, "other nodes");
        refusals.forget();
        assert_eq!(refusals.of(&shape(4, 4, 9)), Time::ZERO);
    }

    #[test]
    fn a_refusal_that_adds_nothing_is_dropped() {
        let mut nearby = RefusalsNearby::default();
        for (demand, until) in [(shape(3, 3, 9), 20), (shape(4, 4, 5), 40), (shape(2, 2, 9), 30)] {
            nearby.learn_size(demand, Time(until));
        }
        assert_eq!(nearby.by_size.iter().map(|known| known.until.0).collect::<Vec<_>>(), [30, 40]);
        let known = |limit| nearby.of_size(&shape(4, 4, 9), Time(limit)).0;
        assert_eq!([10, 35, 50].map(known), [10, 35, 40]);
        for (estimate, until) in [(9, 20), (5, 10), (7, 20), (8, 15)] {
            nearby.learn_length(Time(estimate), Time(until));
        }
        let known = |estimate| nearby.of_length(Time(estimate)).0;
        assert_eq!([4, 5, 7, 8, 9].map(known), [0, 10, 20, 20, 20]);
        assert_eq!(nearby.by_length.0.len(), 2);
    }

    #[test]
    fn the_core_of_turned_boxes_is_a_square() {
        let core = shape(2, 5, 9).core(|core| core);
        assert_eq!((core.boxes.as_deref(), core.nodes), (Some(&[[2, 2, 1]][..]), 4));
        assert!(core.fits_in(&shape(7, 2, 9)) && !core.fits_in(&shape(7, 1, 9)));
        assert_eq!(shape(2, 5, 9).core(half).boxes.as_deref(), Some(&[[1, 1, 1]][..]));
        assert_eq!(nodes(3, 9).core(half).nodes, 3);
    }
}
