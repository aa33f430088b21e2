//! The history of busy nodes and the largest free box, stored as a bounded number of intervals that
//! grow longer over time. Each interval records the minimum, maximum, and last values.

use pavior::time::{Range, Stretch, Stretches};
use serde_json::{Value, json};

use crate::date;

/// The state of the machine during an interval. Times are in seconds.
#[derive(Clone, Copy)]
struct Interval {
    at: u64,
    until: u64,
    busy: Range<u64>,
    largest_free: Range<u64>,
}

impl Stretch for Interval {
    fn at(&self) -> u64 {
        self.at
    }

    fn then(&self, next: &Interval) -> Interval {
        let (busy, largest_free) =
            (self.busy.then(next.busy), self.largest_free.then(next.largest_free));
        Interval { at: self.at, until: next.until, busy, largest_free }
    }
}

#[derive(Default)]
pub(crate) struct Series(Stretches<Interval>);

impl Series {
    pub(crate) fn add(&mut self, now: u64, busy: u32, largest_free: u64) {
        let (busy, largest_free) = (Range::of(busy.into()), Range::of(largest_free));
        self.0.add(Interval { at: now, until: now, busy, largest_free });
    }

    /// Returns the intervals in the page's format, oldest first.
    pub(crate) fn samples(&self) -> Vec<Value> {
        let sample = |one: &Interval| {
            json!({
                "at": date(one.at),
                "until": date(one.until),
                "busy": one.busy.last,
                "busy_least": one.busy.least,
                "busy_most": one.busy.most,
                "largest_free": one.largest_free.last,
                "largest_free_least": one.largest_free.least,
                "largest_free_most": one.largest_free.most,
            })
        };
        self.0.all().iter().map(sample).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_week_of_samples_is_bounded_and_keeps_the_maximum() {
        let mut series = Series::default();
        for second in 0..7 * 86_400 {
            let busy = if second == 86_400 { 64 } else { 7 };
            series.add(1_000_000 + second, busy, 3);
        }
        let samples = series.samples();
        assert!(samples.len() <= Stretches::<Interval>::MOST && samples.len() > 500);
        let most = samples.iter().map(|one| one["busy_most"].as_u64().unwrap()).max();
        let last = samples.last().unwrap();
        assert_eq!((most, last["busy"].as_u64()), (Some(64), Some(7)));
        assert_eq!(last["until"], date(1_000_000 + 7 * 86_400 - 1));
    }
}
