//! Slots at arrivals: the number of boxes of a shape that fit at once when a job arrives, averaged
//! over arrivals.
//!
//! Counting only at every fourth arrival takes an eighth as long as `slots`, which counts after
//! every change in occupancy.

use pavior_answers::{Shape, slots};
use pavior_kernel::Time;
use pavior_mesh::{Occupancy, read_sides};

use super::mean::Mean;
use super::slots::{BUDGET, SPEC as SLOTS};
use super::{Context, Metric, MetricSpec};
use crate::{Fact, Interest, Observer};

/// The number of arrivals between successive counts.
const EVERY: u64 = 4;

pub(super) const SPEC: MetricSpec = MetricSpec {
    name: "slots_arriving",
    meaning: "number of slots when a job arrives, averaged over every fourth job; for example \
              slots_arriving:4x4x4 (only on request)",
    build: |context| SlotsArriving::boxed(context),
    ..SLOTS
};

struct SlotsArriving {
    /// The shape to count. If this is `None`, the metric has no value.
    shape: Option<Shape>,
    free: Occupancy,
    /// The count for the current free nodes, once it has been computed.
    count: Option<f64>,
    mean: Mean,
}

impl SlotsArriving {
    fn boxed(context: &Context) -> Box<dyn Metric> {
        Box::new(SlotsArriving {
            shape: read_sides(context.option).map(Shape::new),
            free: Occupancy::all_free(context.grid),
            count: None,
            mean: Mean::default(),
        })
    }
}

impl Observer for SlotsArriving {
    fn interest(&self) -> Interest {
        Interest::HOLDINGS | Interest::ARRIVALS
    }

    fn see(&mut self, _: Time, fact: &Fact<'_>) {
        match fact {
            Fact::CountingStarts => self.mean = Mean::default(),
            Fact::Started { free, .. }
            | Fact::Moved { free, .. }
            | Fact::Departed { free, .. }
            | Fact::Interrupted { free, .. } => {
                self.free.clone_from(free);
                self.count = None;
            }
            Fact::Arrived(job) | Fact::Rejected(job, _) if job.id.0.is_multiple_of(EVERY) => {
                let Some(shape) = self.shape else { return };
                let free = &self.free;
                let count = || slots(free, &[shape], BUDGET).boxes.len() as f64;
                self.mean.add(*self.count.get_or_insert_with(count));
            }
            _ => {}
        }
    }
}

impl Metric for SlotsArriving {
    fn value(&self) -> Option<f64> {
        self.mean.value()
    }
}
