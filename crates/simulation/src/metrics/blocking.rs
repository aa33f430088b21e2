//! Blocking: the latency of a message less that of an empty network, averaged over messages delivered.

use pavior_kernel::Time;

use super::mean::Mean;
use super::{Context, Metric, Spec, Unit};
use crate::{Fact, Interest, Observer};

pub(super) const SPEC: Spec = Spec {
    name: "blocking",
    meaning: "latency less that of an empty network, mean over messages",
    unit: Unit::Cycles,
    standard: true,
    build: |context| Box::new(Blocking { context: *context, mean: Mean::default() }),
};

struct Blocking {
    context: Context,
    mean: Mean,
}

impl Observer for Blocking {
    fn interest(&self) -> Interest {
        Interest::DELIVERIES
    }

    fn see(&mut self, _: Time, fact: &Fact<'_>) {
        match fact {
            Fact::CountingStarts => self.mean = Mean::default(),
            Fact::Delivered(delivery) => {
                self.mean.add(delivery.blocked(self.context.routing_delay) as f64);
            }
            _ => {}
        }
    }
}

impl Metric for Blocking {
    fn value(&self) -> Option<f64> {
        self.mean.value()
    }
}
