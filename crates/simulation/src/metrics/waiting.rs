//! Waiting: start less arrival, averaged over completed jobs.

use pavior_kernel::Time;

use super::mean::Mean;
use super::{Context, Metric, MetricSpec, Unit};
use crate::{Fact, Interest, Observer};

pub(super) const SPEC: MetricSpec = MetricSpec {
    name: "waiting",
    meaning: "start - arrival, mean over completed jobs",
    unit: Unit::Time,
    standard: true,
    build: |context| Box::new(Waiting { context: *context, mean: Mean::default() }),
};

struct Waiting {
    context: Context,
    mean: Mean,
}

impl Observer for Waiting {
    fn interest(&self) -> Interest {
        Interest::DEPARTURES
    }

    fn see(&mut self, _: Time, fact: &Fact<'_>) {
        match fact {
            Fact::CountingStarts => self.mean = Mean::default(),
            Fact::Departed { job, start, .. } => {
                self.mean.add(self.context.time.units(start.since(job.arrival)));
            }
            _ => {}
        }
    }
}

impl Metric for Waiting {
    fn value(&self) -> Option<f64> {
        self.mean.value()
    }
}
