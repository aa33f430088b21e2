//! Migrations: the number of moves of running jobs, the number of nodes moved, and the run time
//! that the moves added.

use pavior_kernel::Time;

use super::{Context, Metric, MetricSpec, Unit};
use crate::{Fact, Interest, Observer};

pub(super) const MOVES: MetricSpec = MetricSpec {
    name: "moves",
    meaning: "number of moves of running jobs (migrations)",
    unit: Unit::Count,
    standard: false,
    build: |context| Box::new(Migrations::new(context, |_, _, _| 1.0)),
};

pub(super) const NODES: MetricSpec = MetricSpec {
    name: "nodes_moved",
    meaning: "nodes used by each moved job, summed over all moves",
    unit: Unit::Count,
    standard: false,
    build: |context| Box::new(Migrations::new(context, |_, nodes, _| f64::from(nodes))),
};

pub(super) const TIME: MetricSpec = MetricSpec {
    name: "migration_time",
    meaning: "run time added to each moved job, summed over all moves",
    unit: Unit::Time,
    standard: false,
    build: |context| {
        Box::new(Migrations::new(context, |context, _, price| context.time.units(price)))
    },
};

/// A function that maps a move's node count and cost to its contribution to the metric.
type Count = fn(&Context, u32, Time) -> f64;

struct Migrations {
    context: Context,
    count: Count,
    sum: f64,
}

impl Migrations {
    fn new(context: &Context, count: Count) -> Migrations {
        Migrations { context: *context, count, sum: 0.0 }
    }
}

impl Observer for Migrations {
    fn interest(&self) -> Interest {
        Interest::MOVES
    }

    fn see(&mut self, _: Time, fact: &Fact<'_>) {
        match fact {
            Fact::CountingStarts => self.sum = 0.0,
            Fact::Moved { to, price, .. } => {
                self.sum += (self.count)(&self.context, to.nodes(), *price);
            }
            _ => {}
        }
    }
}

impl Metric for Migrations {
    fn value(&self) -> Option<f64> {
        Some(self.sum)
    }
}
