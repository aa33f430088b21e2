//! Internal fragmentation: nodes granted beyond the request, divided by nodes granted (as in the
//! NAS paper) or by nodes requested (as in the MFA paper). All counts are summed over started jobs.

use pavior_kernel::Time;

use super::{Metric, MetricSpec, Unit};
use crate::{Fact, Interest, Observer};

pub(super) const GRANTED: MetricSpec = MetricSpec {
    name: "internal_fragmentation_granted",
    meaning: "wasted nodes / granted nodes, both summed over started jobs",
    build: |_| Box::new(InternalFragmentation { over_granted: true, granted: 0, requested: 0 }),
    ..REQUIRED
};

pub(super) const REQUIRED: MetricSpec = MetricSpec {
    name: "internal_fragmentation_required",
    meaning: "wasted nodes / requested nodes, both summed over started jobs",
    unit: Unit::Ratio,
    standard: true,
    build: |_| Box::new(InternalFragmentation { over_granted: false, granted: 0, requested: 0 }),
};

struct InternalFragmentation {
    /// True to divide by the number of granted nodes, false to divide by the number of requested
    /// nodes.
    over_granted: bool,
    granted: u64,
    requested: u64,
}

impl Observer for InternalFragmentation {
    fn interest(&self) -> Interest {
        Interest::STARTS
    }

    fn see(&mut self, _: Time, fact: &Fact<'_>) {
        match fact {
            Fact::CountingStarts => (self.granted, self.requested) = (0, 0),
            Fact::Started { job, placement, .. } => {
                self.granted += u64::from(placement.nodes());
                self.requested += u64::from(job.request.nodes);
            }
            _ => {}
        }
    }
}

impl Metric for InternalFragmentation {
    fn value(&self) -> Option<f64> {
        let nodes = if self.over_granted { self.granted } else { self.requested };
        (nodes > 0).then(|| (self.granted - self.requested) as f64 / nodes as f64)
    }
}
