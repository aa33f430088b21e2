//! Utilisation: the time average of the nodes requested by running jobs, over the machine's nodes.

use pavior_kernel::Time;

use super::time_average::TimeAverage;
use super::{Context, Metric, MetricSpec, Unit};
use crate::{Fact, Interest, Observer};

pub(super) const SPEC: MetricSpec = MetricSpec {
    name: "utilization",
    meaning: "nodes requested and held / nodes, time average",
    unit: Unit::Fraction,
    standard: true,
    build: |context| {
        Box::new(Utilization { context: *context, held: TimeAverage::default(), end: Time::ZERO })
    },
};

struct Utilization {
    context: Context,
    held: TimeAverage,
    end: Time,
}

impl Observer for Utilization {
    fn interest(&self) -> Interest {
        Interest::HOLDINGS
    }

    fn see(&mut self, now: Time, fact: &Fact<'_>) {
        match fact {
            Fact::CountingStarts => self.held.restart(now),
            Fact::Started { job, .. } => self.held.step(now, f64::from(job.request.nodes)),
            Fact::Departed { job, .. } | Fact::Interrupted { job, .. } => {
                self.held.step(now, -f64::from(job.request.nodes));
            }
            Fact::Ended => self.end = now,
            _ => {}
        }
    }
}

impl Metric for Utilization {
    fn value(&self) -> Option<f64> {
        self.held.value(self.end).map(|nodes| nodes / self.context.nodes())
    }
}
