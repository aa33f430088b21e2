//! Hops: the links that a message crosses, averaged over messages delivered.

use pavior_kernel::Time;

use super::mean::Mean;
use super::{Metric, Spec, Unit};
use crate::{Fact, Interest, Observer};

pub(super) const SPEC: Spec = Spec {
    name: "hops",
    meaning: "links crossed, mean over messages",
    unit: Unit::Count,
    standard: true,
    build: |_| Box::new(Hops { mean: Mean::default() }),
};

struct Hops {
    mean: Mean,
}

impl Observer for Hops {
    fn interest(&self) -> Interest {
        Interest::DELIVERIES
    }

    fn see(&mut self, _: Time, fact: &Fact<'_>) {
        match fact {
            Fact::CountingStarts => self.mean = Mean::default(),
            Fact::Delivered(delivery) => self.mean.add(f64::from(delivery.hops)),
            _ => {}
        }
    }
}

impl Metric for Hops {
    fn value(&self) -> Option<f64> {
        self.mean.value()
    }
}
