//! Attempts: the questions that the scheduler asked ("can this start now?"), however they were
//! answered.

use pavior_kernel::Time;

use super::{Metric, MetricSpec, Unit};
use crate::{Fact, Interest, Observer};

pub(super) const SPEC: MetricSpec = MetricSpec {
    name: "attempts",
    meaning: "questions a scheduler asked (can this start now?)",
    unit: Unit::Count,
    standard: true,
    build: |_| Box::new(Attempts::default()),
};

#[derive(Default)]
struct Attempts {
    count: u64,
}

impl Observer for Attempts {
    fn interest(&self) -> Interest {
        Interest::ATTEMPTS
    }

    fn see(&mut self, _: Time, fact: &Fact<'_>) {
        match fact {
            Fact::CountingStarts => self.count = 0,
            Fact::Attempted(_) => self.count += 1,
            _ => {}
        }
    }
}

impl Metric for Attempts {
    fn value(&self) -> Option<f64> {
        Some(self.count as f64)
    }
}
