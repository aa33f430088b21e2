//! Energy: flit-hops times the energy of a link traversal, and flits through routers times that of a
//! router traversal, averaged over messages delivered (the NAS paper's future work).

use pavior_kernel::Time;

use super::mean::Mean;
use super::{Context, Metric, Spec, Unit};
use crate::{Fact, Interest, Observer};

pub(super) const SPEC: Spec = Spec {
    name: "energy",
    meaning: "flit-hops and router traversals, each times its energy, mean over messages",
    unit: Unit::Energy,
    standard: true,
    build: |context| Box::new(MessageEnergy { context: *context, mean: Mean::default() }),
};

struct MessageEnergy {
    context: Context,
    mean: Mean,
}

impl Observer for MessageEnergy {
    fn interest(&self) -> Interest {
        Interest::DELIVERIES
    }

    fn see(&mut self, _: Time, fact: &Fact<'_>) {
        match fact {
            Fact::CountingStarts => self.mean = Mean::default(),
            Fact::Delivered(delivery) => {
                self.mean.add(self.context.energy.of(delivery.flits, delivery.hops));
            }
            _ => {}
        }
    }
}

impl Metric for MessageEnergy {
    fn value(&self) -> Option<f64> {
        self.mean.value()
    }
}
