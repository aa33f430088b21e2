//! Utilization while jobs arrive: utilization from the first arrival to the last.
//!
//! After the last arrival, the machine drains for a time that has little to do with the rest of the
//! log but would affect an average over the whole run.

use pavior_kernel::Time;

use super::{Context, Metric, MetricSpec, utilization};
use crate::{Fact, Interest, Observer};

pub(super) const SPEC: MetricSpec = MetricSpec {
    name: "utilization_arriving",
    meaning: "utilization from the first arrival to the last (only on request)",
    standard: false,
    build: |context| WhileJobsArrive::boxed(context),
    ..utilization::SPEC
};

/// A time average that covers only the time up to the latest arrival.
struct WhileJobsArrive {
    metric: Box<dyn Metric>,
    value: Option<f64>,
}

impl WhileJobsArrive {
    fn boxed(context: &Context) -> Box<dyn Metric> {
        Box::new(WhileJobsArrive { metric: (utilization::SPEC.build)(context), value: None })
    }
}

impl Observer for WhileJobsArrive {
    fn interest(&self) -> Interest {
        self.metric.interest() | Interest::ARRIVALS
    }

    fn see(&mut self, now: Time, fact: &Fact<'_>) {
        match fact {
            Fact::Arrived(_) | Fact::Rejected(..) => {
                self.metric.see(now, &Fact::Ended);
                self.value = self.metric.value();
            }
            other => self.metric.see(now, other),
        }
    }
}

impl Metric for WhileJobsArrive {
    fn value(&self) -> Option<f64> {
        self.value
    }
}
