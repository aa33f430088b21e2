//! Service: departure less start, averaged over completed jobs.

use pavior_kernel::Time;

use super::mean::Mean;
use super::{Context, Metric, MetricSpec, Unit};
use crate::{Fact, Interest, Observer};

pub(super) const SPEC: MetricSpec = MetricSpec {
    name: "service",
    meaning: "departure - start, mean over completed jobs",
    unit: Unit::Time,
    standard: true,
    build: |context| Box::new(Service { context: *context, mean: Mean::default() }),
};

struct Service {
    context: Context,
    mean: Mean,
}

impl Observer for Service {
    fn interest(&self) -> Interest {
        Interest::DEPARTURES
    }

    fn see(&mut self, now: Time, fact: &Fact<'_>) {
        match fact {
            Fact::CountingStarts => self.mean = Mean::default(),
            Fact::Departed { start, .. } => {
                self.mean.add(self.context.time.units(now.since(*start)));
            }
            _ => {}
        }
    }
}

impl Metric for Service {
    fn value(&self) -> Option<f64> {
        self.mean.value()
    }
}
