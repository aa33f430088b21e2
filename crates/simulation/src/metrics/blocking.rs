//! Blocking: the latency of a message less that of an empty network, averaged over messages
//! delivered.

use pavior_kernel::Time;

use super::{Context, Metric, MetricSpec, Unit};
use crate::{Fact, Interest, Observer};

pub(super) const SPEC: MetricSpec = MetricSpec {
    name: "blocking",
    meaning: "latency less that of an empty network, mean over messages",
    unit: Unit::Cycles,
    standard: true,
    build: |context| Box::new(Blocking { context: *context, mean: None }),
};

struct Blocking {
    context: Context,
    mean: Option<f64>,
}

impl Observer for Blocking {
    fn interest(&self) -> Interest {
        Interest::TRAFFIC
    }

    fn see(&mut self, _: Time, fact: &Fact<'_>) {
        if let Fact::Carried(totals) = fact {
            self.mean = totals.mean_blocking(self.context.routing_delay);
        }
    }
}

impl Metric for Blocking {
    fn value(&self) -> Option<f64> {
        self.mean
    }
}
