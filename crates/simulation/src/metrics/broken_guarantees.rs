//! Broken guarantees: jobs that started later than their scheduler first promised.
//!
//! Only backfilling schedulers promise anything. With geometry they break a promise only because a
//! job outran its estimate; EASY by count also because enough free nodes were not where the
//! strategy needed them. Failures of nodes are not counted.

use pavior_kernel::Time;

use super::{Context, Metric, MetricSpec, Unit};
use crate::{Fact, Interest, Observer};

pub(super) const SPEC: MetricSpec = MetricSpec {
    name: "broken_guarantees",
    meaning: "jobs started later than first promised (only when asked for)",
    unit: Unit::Count,
    standard: false,
    build: |_: &Context| Box::new(BrokenGuarantees { count: 0 }),
};

struct BrokenGuarantees {
    count: u64,
}

impl Observer for BrokenGuarantees {
    fn interest(&self) -> Interest {
        Interest::STARTS
    }

    fn see(&mut self, _: Time, fact: &Fact<'_>) {
        match fact {
            Fact::CountingStarts => self.count = 0,
            Fact::GuaranteeBroken(_) => self.count += 1,
            _ => {}
        }
    }
}

impl Metric for BrokenGuarantees {
    fn value(&self) -> Option<f64> {
        Some(self.count as f64)
    }
}
