//! Latency: cycles from the creation of a message to its delivery, averaged over messages
//! delivered.

use pavior_kernel::Time;

use super::{Metric, MetricSpec, Unit};
use crate::{Fact, Interest, Observer};

pub(super) const SPEC: MetricSpec = MetricSpec {
    name: "latency",
    meaning: "cycles from creation to delivery, mean over messages",
    unit: Unit::Cycles,
    standard: true,
    build: |_| Box::new(Latency { mean: None }),
};

struct Latency {
    mean: Option<f64>,
}

impl Observer for Latency {
    fn interest(&self) -> Interest {
        Interest::TRAFFIC
    }

    fn see(&mut self, _: Time, fact: &Fact<'_>) {
        if let Fact::Carried(totals) = fact {
            self.mean = totals.mean_latency();
        }
    }
}

impl Metric for Latency {
    fn value(&self) -> Option<f64> {
        self.mean
    }
}
