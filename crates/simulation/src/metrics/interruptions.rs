//! Interruptions: runs of jobs that were cut short by a failure.

use pavior_kernel::Time;

use super::{Metric, MetricSpec, Unit};
use crate::{Fact, Interest, Observer};

pub(super) const SPEC: MetricSpec = MetricSpec {
    name: "interruptions",
    meaning: "runs of jobs cut short by a failure",
    unit: Unit::Count,
    standard: false,
    build: |_| Box::new(Interruptions::default()),
};

#[derive(Default)]
struct Interruptions {
    count: u64,
}

impl Observer for Interruptions {
    fn interest(&self) -> Interest {
        Interest::DEPARTURES
    }

    fn see(&mut self, _: Time, fact: &Fact<'_>) {
        match fact {
            Fact::CountingStarts => self.count = 0,
            Fact::Interrupted { .. } => self.count += 1,
            _ => {}
        }
    }
}

impl Metric for Interruptions {
    fn value(&self) -> Option<f64> {
        Some(self.count as f64)
    }
}
