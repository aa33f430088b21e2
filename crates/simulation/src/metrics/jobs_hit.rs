//! Jobs hit: the number of jobs that a failure interrupted at least once.

use pavior_kernel::Time;
use pavior_mesh::JobId;
use rustc_hash::FxHashSet;

use super::{Metric, MetricSpec, Unit};
use crate::{Fact, Interest, Observer};

pub(super) const SPEC: MetricSpec = MetricSpec {
    name: "jobs_hit",
    meaning: "number of jobs interrupted by a failure at least once",
    unit: Unit::Count,
    standard: false,
    build: |_| Box::new(JobsHit::default()),
};

#[derive(Default)]
struct JobsHit {
    hit: FxHashSet<JobId>,
}

impl Observer for JobsHit {
    fn interest(&self) -> Interest {
        Interest::DEPARTURES
    }

    fn see(&mut self, _: Time, fact: &Fact<'_>) {
        match fact {
            Fact::CountingStarts => self.hit.clear(),
            Fact::Interrupted { job, .. } => {
                self.hit.insert(job.id);
            }
            _ => {}
        }
    }
}

impl Metric for JobsHit {
    fn value(&self) -> Option<f64> {
        Some(self.hit.len() as f64)
    }
}
