//! Slices: the fraction of time during which the requested slice could have been placed.
//!
//! `slice_availability` is computed for the machine with its current failures but without jobs.
//! `slice_free` is computed for the machine with its running jobs. Neither applies if no slice was
//! requested.

use pavior_kernel::Time;

use super::time_average::TimeAverage;
use super::{Metric, MetricSpec, Unit};
use crate::{Fact, Interest, Observer};

pub(super) const AVAILABILITY: MetricSpec = MetricSpec {
    name: "slice_availability",
    meaning: "fraction of time during which the slice could be placed if no jobs were running \
              (requires a slice)",
    unit: Unit::Fraction,
    standard: false,
    build: |_| Box::new(SliceShare::of(|alone, _| alone)),
};

pub(super) const FREE: MetricSpec = MetricSpec {
    name: "slice_free",
    meaning: "fraction of time during which the slice fits alongside the running jobs (requires a \
              slice)",
    unit: Unit::Fraction,
    standard: false,
    build: |_| Box::new(SliceShare::of(|_, beside| beside)),
};

struct SliceShare {
    /// A function that selects which of the two results (alone or alongside running jobs) to
    /// average.
    counts: fn(bool, bool) -> bool,
    share: TimeAverage,
    asked: bool,
    end: Time,
}

impl SliceShare {
    fn of(counts: fn(bool, bool) -> bool) -> SliceShare {
        SliceShare { counts, share: TimeAverage::default(), asked: false, end: Time::ZERO }
    }
}

impl Observer for SliceShare {
    fn interest(&self) -> Interest {
        Interest::SLICES
    }

    fn see(&mut self, now: Time, fact: &Fact<'_>) {
        match *fact {
            Fact::CountingStarts => self.share.restart(now),
            Fact::Slice { alone, beside } => {
                self.asked = true;
                self.share.set(now, f64::from(u8::from((self.counts)(alone, beside))));
            }
            Fact::Ended => self.end = now,
            _ => {}
        }
    }
}

impl Metric for SliceShare {
    fn value(&self) -> Option<f64> {
        if self.asked { self.share.value(self.end) } else { None }
    }
}
