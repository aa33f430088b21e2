//! Hops: the links that a message crosses, averaged over messages delivered.

use pavior_kernel::Time;

use super::{Metric, MetricSpec, Unit};
use crate::{Fact, Interest, Observer};

pub(super) const SPEC: MetricSpec = MetricSpec {
    name: "hops",
    meaning: "links crossed, mean over messages",
    unit: Unit::Count,
    standard: true,
    build: |_| Box::new(Hops { mean: None }),
};

struct Hops {
    mean: Option<f64>,
}

impl Observer for Hops {
    fn interest(&self) -> Interest {
        Interest::TRAFFIC
    }

    fn see(&mut self, _: Time, fact: &Fact<'_>) {
        if let Fact::Carried(totals) = fact {
            self.mean = totals.mean_hops();
        }
    }
}

impl Metric for Hops {
    fn value(&self) -> Option<f64> {
        self.mean
    }
}
