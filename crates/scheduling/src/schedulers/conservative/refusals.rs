//! Refused requests. If a job is refused, so is any longer job that asks for the same or larger
//! boxes.
//!
//! ```text
//!   a a .    a (2x1 for 5) was refused before 20. So is b (2x2 for 9) without a search, since a
//!   b b .    would fit in b's box; c (1x3 for 9) may fit where a does not.
//! ```
//!
//! A waiting job is usually at least as large and as long as some recently refused job. The search
//! for its slot therefore covers only a short period, however long the queue is.
//!
//! Invariant: for each request, longer jobs have later times. All entries are valid until nodes are
//! freed.
//!
//! Cost: O(log k) per question for k lengths of a request, plus a comparison of a few boxes with
//! each of the last [`RECENT`] refusals. Refusals with too many slots freed since are skipped.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use pavior_kernel::Time;
use pavior_mesh::{Request, Sides};
use pavior_workload::Job;
use rustc_hash::FxHashMap;

/// The number of recent refusals that a job is compared with.
const RECENT: usize = 128;
/// The maximum number of requests whose boxes are cached.
const MOST_REQUESTS: usize = 1 << 12;

/// The boxes of which one must be free. `None` if the request does not only depend on boxes.
type Boxes = Option<Arc<[Sides]>>;

/// The maximum number of slots freed since a refusal for the refusal still to be used.
const MOST_SINCE: usize = 32;

/// The time before which a job is refused, except near slots that were freed since.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RefusedUntil {
    pub(super) until: Time,
    /// The number of slots that had been freed when the job was refused.
    pub(super) freed: usize,
}

/// The time before which a job cannot begin, for each request and length.
#[derive(Default)]
pub(super) struct Refusals {
    /// Accessed only by request, so the order of the map is irrelevant.
    earliest: FxHashMap<Request, BTreeMap<Time, Time>>,
    /// The most recent refusals, latest first.
    recent: VecDeque<Refused>,
    /// The boxes of requests, which do not change. Accessed only by request.
    boxes: FxHashMap<Request, Boxes>,
}

/// A job that cannot begin before a given time.
struct Refused {
    request: Request,
    boxes: Boxes,
    estimate: Time,
    known: RefusedUntil,
}

impl Refused {
    /// Returns true if this job would fit wherever the given one does.
    fn fits_in(&self, request: &Request, boxes: &Boxes) -> bool {
        if self.request == *request {
            return true;
        }
        let (Some(small), Some(large)) = (&self.boxes, boxes) else { return false };
        let fits = |one: &Sides, other: &Sides| one.iter().zip(other).all(|(a, b)| a <= b);
        let pool = self.request.pool == request.pool;
        pool && large.iter().all(|large| small.iter().any(|small| fits(small, large)))
    }
}

impl Refusals {
    /// Returns the latest time before which a job is refused, given the number of slots freed so
    /// far. `boxes_for` returns the boxes that decide the job's request, if any do.
    pub(super) fn of(
        &mut self,
        job: &Job,
        freed: usize,
        boxes_for: impl FnOnce(&Request) -> Option<Vec<Sides>>,
    ) -> RefusedUntil {
        let (request, estimate) = (&job.request, job.estimate);
        let mut best = RefusedUntil { until: self.of_request(request, estimate), freed };
        if self.recent.is_empty() {
            return best;
        }
        let boxes = self.boxes_of(request, boxes_for);
        for refused in &self.recent {
            if freed - refused.known.freed > MOST_SINCE {
                break;
            }
            let is_later = refused.known.until > best.until && refused.estimate <= estimate;
            if is_later && refused.fits_in(request, &boxes) {
                best = refused.known;
            }
        }
        best
    }

    fn of_request(&self, request: &Request, estimate: Time) -> Time {
        let known = self.earliest.get(request);
        let shorter = known.and_then(|known| known.range(..=estimate).next_back());
        shorter.map_or(Time::ZERO, |(_, at)| *at)
    }

    fn boxes_of(
        &mut self,
        request: &Request,
        boxes_for: impl FnOnce(&Request) -> Option<Vec<Sides>>,
    ) -> Boxes {
        if self.boxes.len() >= MOST_REQUESTS && !self.boxes.contains_key(request) {
            self.boxes.clear();
        }
        let known = self.boxes.entry(*request);
        known.or_insert_with(|| boxes_for(request).map(Arc::from)).clone()
    }

    /// Records that a job cannot begin before `at`, given the number of slots freed so far.
    pub(super) fn learn(
        &mut self,
        job: &Job,
        at: Time,
        freed: usize,
        boxes_for: impl FnOnce(&Request) -> Option<Vec<Sides>>,
    ) {
        let (request, estimate) = (job.request, job.estimate);
        if at <= self.of_request(&request, estimate) {
            return;
        }
        let known = self.earliest.entry(request).or_default();
        // Entries for longer jobs that add no information are dropped.
        while let Some((&longer, &then)) = known.range(estimate..).next()
            && then <= at
        {
            known.remove(&longer);
        }
        known.insert(estimate, at);
        let boxes = self.boxes_of(&request, boxes_for);
        self.recent.truncate(RECENT - 1);
        let known = RefusedUntil { until: at, freed };
        self.recent.push_front(Refused { request, boxes, estimate, known });
    }

    /// Restricts the recent refusals after a slot was freed in a round: they remain valid except
    /// near that slot.
    pub(super) fn outdate(&mut self) {
        self.earliest.clear();
    }

    /// Drops all refusals after nodes were freed.
    pub(super) fn forget(&mut self) {
        self.earliest.clear();
        self.recent.clear();
    }
}

#[cfg(test)]
mod tests {
    use pavior_mesh::{JobId, Pool};
    use pavior_workload::Service;

    use super::*;

    fn job(request: Request, estimate: u64) -> Job {
        let (estimate, number) = (Time(estimate), 0);
        let service = Service::Run(estimate);
        Job { id: JobId(0), index: 0, number, arrival: Time::ZERO, request, service, estimate }
    }

    #[test]
    fn what_a_shorter_job_is_refused_a_longer_one_is_refused_too() {
        let mut refusals = Refusals::default();
        let (a, b) = (Request::nodes(2), Request::nodes(3));
        for (estimate, at) in [(5, 100), (9, 50), (3, 20)] {
            refusals.learn(&job(a, estimate), Time(at), 0, |_| None);
        }
        let mut known = |estimate| refusals.of(&job(a, estimate), 0, |_| None).until.0;
        assert_eq!([1, 3, 4, 5, 9].map(&mut known), [0, 20, 20, 100, 100]);
        assert_eq!(refusals.of(&job(b, 9), 0, |_| None).until, Time::ZERO);
    }

    #[test]
    fn what_a_smaller_box_is_refused_a_larger_one_is_refused_too() {
        let mut refusals = Refusals::default();
        let turned = |request: &Request| {
            let [w, d, h] = request.shape?;
            Some(vec![[w, d, h], [d, w, h]])
        };
        let shape = |w, d| Request::shape([w, d, 1]);
        refusals.learn(&job(shape(2, 3), 5), Time(20), 0, turned);
        // One slot is freed later.
        refusals.outdate();
        let mut known = |request, estimate| {
            let known = refusals.of(&job(request, estimate), 1, turned);
            (known.until.0, known.freed)
        };
        assert_eq!(known(shape(3, 2), 5), (20, 0), "turned");
        assert_eq!(known(shape(4, 4), 9), (20, 0), "larger and longer");
        assert_eq!(known(shape(4, 4), 4), (0, 1), "shorter");
        assert_eq!(known(shape(1, 9), 9), (0, 1), "narrower");
        assert_eq!(known(shape(4, 4).within(Some(Pool(0))), 9), (0, 1), "other nodes");
        refusals.forget();
        assert_eq!(refusals.of(&job(shape(4, 4), 9), 1, turned).until, Time::ZERO);
    }
}
