//! Utilisation by grant: as utilisation, with the nodes granted, internal fragmentation included.

use pavior_kernel::Time;

use super::time_average::TimeAverage;
use super::{Context, Metric, MetricSpec, Unit};
use crate::{Fact, Interest, Observer};

pub(super) const SPEC: MetricSpec = MetricSpec {
    name: "utilization_granted",
    meaning: "nodes granted and held / nodes, time average",
    unit: Unit::Fraction,
    standard: true,
    build: |context| {
        Box::new(UtilizationGranted {
            context: *context,
            held: TimeAverage::default(),
            end: Time::ZERO,
        })
    },
};

struct UtilizationGranted {
    context: Context,
    held: TimeAverage,
    end: Time,
}

impl Observer for UtilizationGranted {
    fn interest(&self) -> Interest {
        Interest::HOLDINGS
    }

    fn see(&mut self, now: Time, fact: &Fact<'_>) {
        match fact {
            Fact::CountingStarts => self.held.restart(now),
            Fact::Started { placement, .. } => self.held.step(now, f64::from(placement.nodes())),
            Fact::Departed { placement, .. } | Fact::Interrupted { placement, .. } => {
                self.held.step(now, -f64::from(placement.nodes()));
            }
            Fact::Ended => self.end = now,
            _ => {}
        }
    }
}

impl Metric for UtilizationGranted {
    fn value(&self) -> Option<f64> {
        self.held.value(self.end).map(|nodes| nodes / self.context.nodes())
    }
}
