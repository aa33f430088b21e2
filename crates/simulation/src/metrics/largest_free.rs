//! The largest free submesh: the time average of its volume over the machine's nodes.
//!
//! Searched anew whenever the occupancy changes, so it is computed only when asked for.

use pavior_kernel::Time;
use pavior_mesh::Occupancy;

use super::time_average::TimeAverage;
use super::{Context, Metric, MetricSpec, Unit};
use crate::{Fact, Interest, Observer};

pub(super) const SPEC: MetricSpec = MetricSpec {
    name: "largest_free",
    meaning: "volume of the largest free submesh / nodes, time average (only when asked for)",
    unit: Unit::Fraction,
    standard: false,
    build: |context| {
        let mut largest = TimeAverage::default();
        largest.set(Time::ZERO, context.nodes());
        Box::new(LargestFree { context: *context, largest, end: Time::ZERO })
    },
};

struct LargestFree {
    context: Context,
    largest: TimeAverage,
    end: Time,
}

impl LargestFree {
    fn search(&mut self, now: Time, free: &Occupancy) {
        let volume = free.largest_free().map_or(0, |cuboid| cuboid.volume());
        self.largest.set(now, f64::from(volume));
    }
}

impl Observer for LargestFree {
    fn interest(&self) -> Interest {
        Interest::HOLDINGS
    }

    fn see(&mut self, now: Time, fact: &Fact<'_>) {
        match fact {
            Fact::CountingStarts => self.largest.restart(now),
            Fact::Started { free, .. }
            | Fact::Moved { free, .. }
            | Fact::Departed { free, .. }
            | Fact::Interrupted { free, .. } => self.search(now, free),
            Fact::Ended => self.end = now,
            _ => {}
        }
    }
}

impl Metric for LargestFree {
    fn value(&self) -> Option<f64> {
        self.largest.value(self.end).map(|volume| volume / self.context.nodes())
    }
}
