//! Rejected jobs: those that can never fit, turned away at arrival.

use pavior_kernel::Time;

use super::{Metric, MetricSpec, Unit};
use crate::{Fact, Interest, Observer};

pub(super) const SPEC: MetricSpec = MetricSpec {
    name: "rejected",
    meaning: "jobs that can never fit, turned away at arrival",
    unit: Unit::Count,
    standard: true,
    build: |_| Box::new(Rejected::default()),
};

#[derive(Default)]
struct Rejected {
    count: u64,
}

impl Observer for Rejected {
    fn interest(&self) -> Interest {
        Interest::ARRIVALS
    }

    fn see(&mut self, _: Time, fact: &Fact<'_>) {
        match fact {
            Fact::CountingStarts => self.count = 0,
            Fact::Rejected(..) => self.count += 1,
            _ => {}
        }
    }
}

impl Metric for Rejected {
    fn value(&self) -> Option<f64> {
        Some(self.count as f64)
    }
}
