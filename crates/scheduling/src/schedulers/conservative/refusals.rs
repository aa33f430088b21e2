//! The refused requests. What a job is refused, a longer job with the same request is refused too.
//!
//! Invariant: for each request, longer jobs have later times. It all holds until nodes are freed.
//!
//! Cost: O(log k) a question for k lengths of a request, and to learn of one.

use std::collections::{BTreeMap, HashMap};

use pavior_kernel::Time;
use pavior_mesh::Request;

/// Before which time a job cannot begin, for each request and length.
#[derive(Default)]
pub(super) struct Refusals {
    /// Read by request alone: its order does not matter.
    earliest: HashMap<Request, BTreeMap<Time, Time>>,
}

impl Refusals {
    /// The earliest time at which a job may be able to begin.
    pub(super) fn earliest(&self, request: &Request, estimate: Time) -> Time {
        let known = self.earliest.get(request);
        let shorter = known.and_then(|known| known.range(..=estimate).next_back());
        shorter.map_or(Time::ZERO, |(_, at)| *at)
    }

    /// Notes that a job cannot begin before `at`.
    pub(super) fn learn(&mut self, request: &Request, estimate: Time, at: Time) {
        if at <= self.earliest(request, estimate) {
            return;
        }
        let known = self.earliest.entry(*request).or_default();
        // Entries of longer jobs that say no more are dropped.
        while let Some((&longer, &then)) = known.range(estimate..).next()
            && then <= at
        {
            known.remove(&longer);
        }
        known.insert(estimate, at);
    }

    /// Forgets everything: nodes were freed.
    pub(super) fn forget(&mut self) {
        self.earliest.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_shorter_job_is_refused_a_longer_one_is_refused_too() {
        let mut refusals = Refusals::default();
        let (a, b) = (Request::nodes(2), Request::nodes(3));
        refusals.learn(&a, Time(5), Time(100));
        refusals.learn(&a, Time(9), Time(50));
        refusals.learn(&a, Time(3), Time(20));
        let known = |estimate| refusals.earliest(&a, Time(estimate)).0;
        assert_eq!([1, 3, 4, 5, 9].map(known), [0, 20, 20, 100, 100]);
        assert_eq!(refusals.earliest(&b, Time(9)), Time::ZERO);
    }
}
