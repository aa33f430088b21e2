//! Makespan: the time of the last counted departure, on the workload's clock.

use pavior_kernel::Time;

use super::{Context, Metric, MetricSpec, Unit};
use crate::{Fact, Interest, Observer};

pub(super) const SPEC: MetricSpec = MetricSpec {
    name: "makespan",
    meaning: "time of the last counted departure",
    unit: Unit::Time,
    standard: true,
    build: |context| Box::new(Makespan { context: *context, last: None }),
};

struct Makespan {
    context: Context,
    last: Option<Time>,
}

impl Observer for Makespan {
    fn interest(&self) -> Interest {
        Interest::DEPARTURES
    }

    fn see(&mut self, now: Time, fact: &Fact<'_>) {
        match fact {
            Fact::CountingStarts => self.last = None,
            Fact::Departed { .. } => self.last = Some(now),
            _ => {}
        }
    }
}

impl Metric for Makespan {
    fn value(&self) -> Option<f64> {
        self.last.map(|last| self.context.time.units(last))
    }
}
