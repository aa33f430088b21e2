//! Latency: cycles from the creation of a message to its delivery, averaged over messages delivered.

use pavior_kernel::Time;

use super::mean::Mean;
use super::{Metric, Spec, Unit};
use crate::{Fact, Interest, Observer};

pub(super) const SPEC: Spec = Spec {
    name: "latency",
    meaning: "cycles from creation to delivery, mean over messages",
    unit: Unit::Cycles,
    standard: true,
    build: |_| Box::new(Latency { mean: Mean::default() }),
};

struct Latency {
    mean: Mean,
}

impl Observer for Latency {
    fn interest(&self) -> Interest {
        Interest::DELIVERIES
    }

    fn see(&mut self, _: Time, fact: &Fact<'_>) {
        match fact {
            Fact::CountingStarts => self.mean = Mean::default(),
            Fact::Delivered(delivery) => self.mean.add(delivery.latency() as f64),
            _ => {}
        }
    }
}

impl Metric for Latency {
    fn value(&self) -> Option<f64> {
        self.mean.value()
    }
}
