//! Turnaround: departure less arrival, averaged over completed jobs.

use pavior_kernel::Time;

use super::mean::Mean;
use super::{Context, Metric, MetricSpec, Unit};
use crate::{Fact, Interest, Observer};

pub(super) const SPEC: MetricSpec = MetricSpec {
    name: "turnaround",
    meaning: "departure - arrival, mean over completed jobs",
    unit: Unit::Time,
    standard: true,
    build: |context| Box::new(Turnaround { context: *context, mean: Mean::default() }),
};

struct Turnaround {
    context: Context,
    mean: Mean,
}

impl Observer for Turnaround {
    fn interest(&self) -> Interest {
        Interest::DEPARTURES
    }

    fn see(&mut self, now: Time, fact: &Fact<'_>) {
        match fact {
            Fact::CountingStarts => self.mean = Mean::default(),
            Fact::Departed { job, .. } => {
                self.mean.add(self.context.time.units(now.since(job.arrival)));
            }
            _ => {}
        }
    }
}

impl Metric for Turnaround {
    fn value(&self) -> Option<f64> {
        self.mean.value()
    }
}
