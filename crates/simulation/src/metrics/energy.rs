//! Energy: flit-hops times the energy of a link traversal, and flits through routers times that of
//! a router traversal, averaged over messages delivered (the NAS paper's future work).

use pavior_kernel::Time;

use super::{Context, Metric, MetricSpec, Unit};
use crate::{Fact, Interest, Observer};

pub(super) const SPEC: MetricSpec = MetricSpec {
    name: "energy",
    meaning: "flit-hops and router traversals, each times its energy, mean over messages",
    unit: Unit::Energy,
    standard: true,
    build: |context| Box::new(MessageEnergy { context: *context, mean: None }),
};

struct MessageEnergy {
    context: Context,
    mean: Option<f64>,
}

impl Observer for MessageEnergy {
    fn interest(&self) -> Interest {
        Interest::TRAFFIC
    }

    fn see(&mut self, _: Time, fact: &Fact<'_>) {
        if let Fact::Carried(totals) = fact {
            self.mean = totals.mean_energy(self.context.energy);
        }
    }
}

impl Metric for MessageEnergy {
    fn value(&self) -> Option<f64> {
        self.mean
    }
}
