//! Busy submeshes: the time average of the number of parts held, which is m of the TBL paper.

use pavior_kernel::Time;

use super::time_average::TimeAverage;
use super::{Metric, MetricSpec, Unit};
use crate::{Fact, Interest, Observer};

pub(super) const SPEC: MetricSpec = MetricSpec {
    name: "busy_submeshes",
    meaning: "parts held, time average (m of the TBL paper)",
    unit: Unit::Count,
    standard: true,
    build: |_| Box::new(BusySubmeshes { held: TimeAverage::default(), end: Time::ZERO }),
};

struct BusySubmeshes {
    held: TimeAverage,
    end: Time,
}

impl Observer for BusySubmeshes {
    fn interest(&self) -> Interest {
        Interest::HOLDINGS
    }

    fn see(&mut self, now: Time, fact: &Fact<'_>) {
        match fact {
            Fact::CountingStarts => self.held.restart(now),
            Fact::Started { placement, .. } => self.held.step(now, placement.parts().len() as f64),
            Fact::Departed { placement, .. } | Fact::Interrupted { placement, .. } => {
                self.held.step(now, -(placement.parts().len() as f64));
            }
            Fact::Ended => self.end = now,
            _ => {}
        }
    }
}

impl Metric for BusySubmeshes {
    fn value(&self) -> Option<f64> {
        self.held.value(self.end)
    }
}
