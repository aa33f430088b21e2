//! Hops of a job: the links that a message of an iteration crosses, averaged over the iteration,
//! then over jobs started that send messages.

use pavior_kernel::Time;

use super::mean::Mean;
use super::{Metric, MetricSpec, Unit};
use crate::{Fact, Interest, Observer};

pub(super) const SPEC: MetricSpec = MetricSpec {
    name: "job_hops",
    meaning: "links that a message of an iteration crosses, mean over jobs started",
    unit: Unit::Count,
    standard: false,
    build: |_| Box::new(JobHops { mean: Mean::default() }),
};

struct JobHops {
    mean: Mean,
}

impl Observer for JobHops {
    fn interest(&self) -> Interest {
        Interest::ROUTES
    }

    fn see(&mut self, _: Time, fact: &Fact<'_>) {
        match fact {
            Fact::CountingStarts => self.mean = Mean::default(),
            Fact::Routed { routes, .. } => self.mean.add(routes.mean_hops()),
            _ => {}
        }
    }
}

impl Metric for JobHops {
    fn value(&self) -> Option<f64> {
        self.mean.value()
    }
}
