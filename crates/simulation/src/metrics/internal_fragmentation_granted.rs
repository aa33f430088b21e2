//! Internal fragmentation over what was granted: nodes granted but not asked for, over the nodes
//! granted, both summed over jobs started (the NAS paper's definition).

use pavior_kernel::Time;

use super::{Metric, MetricSpec, Unit};
use crate::{Fact, Interest, Observer};

pub(super) const SPEC: MetricSpec = MetricSpec {
    name: "internal_fragmentation_granted",
    meaning: "nodes wasted / nodes granted, over jobs started",
    unit: Unit::Ratio,
    standard: true,
    build: |_| Box::new(InternalFragmentationGranted::default()),
};

#[derive(Default)]
struct InternalFragmentationGranted {
    wasted: u64,
    granted: u64,
}

impl Observer for InternalFragmentationGranted {
    fn interest(&self) -> Interest {
        Interest::STARTS
    }

    fn see(&mut self, _: Time, fact: &Fact<'_>) {
        match fact {
            Fact::CountingStarts => *self = Self::default(),
            Fact::Started { job, placement, .. } => {
                let granted = u64::from(placement.nodes());
                self.wasted += granted - u64::from(job.request.nodes);
                self.granted += granted;
            }
            _ => {}
        }
    }
}

impl Metric for InternalFragmentationGranted {
    fn value(&self) -> Option<f64> {
        (self.granted > 0).then(|| self.wasted as f64 / self.granted as f64)
    }
}
