//! Link load of a job: the messages of an iteration that cross the link which most of them cross,
//! averaged over jobs started that send messages.

use pavior_kernel::Time;

use super::mean::Mean;
use super::{Metric, MetricSpec, Unit};
use crate::{Fact, Interest, Observer};

pub(super) const SPEC: MetricSpec = MetricSpec {
    name: "job_link_load",
    meaning: "messages of an iteration over the job's most loaded link, mean over jobs started",
    unit: Unit::Count,
    standard: false,
    build: |_| Box::new(JobLinkLoad { mean: Mean::default() }),
};

struct JobLinkLoad {
    mean: Mean,
}

impl Observer for JobLinkLoad {
    fn interest(&self) -> Interest {
        Interest::ROUTES
    }

    fn see(&mut self, _: Time, fact: &Fact<'_>) {
        match fact {
            Fact::CountingStarts => self.mean = Mean::default(),
            Fact::Routed { routes, .. } => self.mean.add(routes.link_load as f64),
            _ => {}
        }
    }
}

impl Metric for JobLinkLoad {
    fn value(&self) -> Option<f64> {
        self.mean.value()
    }
}
