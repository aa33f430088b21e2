//! Bounded slowdown: turnaround over run time, both at least the bound, averaged over completed
//! jobs.
//!
//! `max(1, turnaround / max(run, bound))`; the bound keeps jobs of a second from ruling the mean.

use pavior_kernel::Time;

use super::mean::Mean;
use super::{Context, Metric, MetricSpec, Unit};
use crate::{Fact, Interest, Observer};

pub(super) const SPEC: MetricSpec = MetricSpec {
    name: "slowdown",
    meaning: "max(1, turnaround / max(run, bound)), mean over completed jobs",
    unit: Unit::Ratio,
    standard: true,
    build: |context| Box::new(Slowdown { context: *context, mean: Mean::default() }),
};

struct Slowdown {
    context: Context,
    mean: Mean,
}

impl Observer for Slowdown {
    fn interest(&self) -> Interest {
        Interest::DEPARTURES
    }

    fn see(&mut self, now: Time, fact: &Fact<'_>) {
        match fact {
            Fact::CountingStarts => self.mean = Mean::default(),
            Fact::Departed { job, start, .. } => {
                let unit = self.context.time;
                let run = unit.units(now.since(*start)).max(self.context.slowdown_bound);
                self.mean.add((unit.units(now.since(job.arrival)) / run).max(1.0));
            }
            _ => {}
        }
    }
}

impl Metric for Slowdown {
    fn value(&self) -> Option<f64> {
        self.mean.value()
    }
}
