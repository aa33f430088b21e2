//! Internal fragmentation over what was requested: nodes granted but not asked for, over the nodes
//! requested, both summed over jobs started (the MFA paper's definition).

use pavior_kernel::Time;

use super::{Metric, MetricSpec, Unit};
use crate::{Fact, Interest, Observer};

pub(super) const SPEC: MetricSpec = MetricSpec {
    name: "internal_fragmentation_required",
    meaning: "nodes wasted / nodes requested, over jobs started",
    unit: Unit::Ratio,
    standard: true,
    build: |_| Box::new(InternalFragmentationRequired::default()),
};

#[derive(Default)]
struct InternalFragmentationRequired {
    wasted: u64,
    requested: u64,
}

impl Observer for InternalFragmentationRequired {
    fn interest(&self) -> Interest {
        Interest::STARTS
    }

    fn see(&mut self, _: Time, fact: &Fact<'_>) {
        match fact {
            Fact::CountingStarts => *self = Self::default(),
            Fact::Started { job, placement, .. } => {
                let granted = u64::from(placement.nodes());
                self.wasted += granted - u64::from(job.request.nodes);
                self.requested += u64::from(job.request.nodes);
            }
            _ => {}
        }
    }
}

impl Metric for InternalFragmentationRequired {
    fn value(&self) -> Option<f64> {
        (self.requested > 0).then(|| self.wasted as f64 / self.requested as f64)
    }
}
