//! Blocks per job: the number of parts granted, averaged over jobs started.

use pavior_kernel::Time;

use super::mean::Mean;
use super::{Metric, MetricSpec, Unit};
use crate::{Fact, Interest, Observer};

pub(super) const SPEC: MetricSpec = MetricSpec {
    name: "blocks_per_job",
    meaning: "parts per job started",
    unit: Unit::Count,
    standard: true,
    build: |_| Box::new(BlocksPerJob::default()),
};

#[derive(Default)]
struct BlocksPerJob {
    mean: Mean,
}

impl Observer for BlocksPerJob {
    fn interest(&self) -> Interest {
        Interest::STARTS
    }

    fn see(&mut self, _: Time, fact: &Fact<'_>) {
        match fact {
            Fact::CountingStarts => self.mean = Mean::default(),
            Fact::Started { placement, .. } => self.mean.add(placement.parts().len() as f64),
            _ => {}
        }
    }
}

impl Metric for BlocksPerJob {
    fn value(&self) -> Option<f64> {
        self.mean.value()
    }
}
