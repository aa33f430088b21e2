//! Completed jobs.

use pavior_kernel::Time;

use super::{Metric, MetricSpec, Unit};
use crate::{Fact, Interest, Observer};

pub(super) const SPEC: MetricSpec = MetricSpec {
    name: "completed",
    meaning: "jobs completed",
    unit: Unit::Count,
    standard: true,
    build: |_| Box::new(Completed::default()),
};

#[derive(Default)]
struct Completed {
    count: u64,
}

impl Observer for Completed {
    fn interest(&self) -> Interest {
        Interest::DEPARTURES
    }

    fn see(&mut self, _: Time, fact: &Fact<'_>) {
        match fact {
            Fact::CountingStarts => self.count = 0,
            Fact::Departed { .. } => self.count += 1,
            _ => {}
        }
    }
}

impl Metric for Completed {
    fn value(&self) -> Option<f64> {
        Some(self.count as f64)
    }
}
