//! Node time lost: the time for which nodes were held without doing useful work, summed over nodes.
//!
//! Useful work is the run time of each completed job multiplied by its requested nodes. Nodes
//! granted beyond the request, runs cut short by failures, and time spent on moves therefore count
//! as lost. Work saved by a checkpoint is not lost, because it counts once the job completes.

use pavior_kernel::Time;
use pavior_workload::{Service, TimeUnit};

use super::{Metric, MetricSpec, Unit};
use crate::{Fact, Interest, Observer};

pub(super) const SPEC: MetricSpec = MetricSpec {
    name: "node_time_lost",
    meaning: "granted nodes x time held, summed over all runs, minus requested nodes x run time, \
              summed over completed jobs (only on request)",
    unit: Unit::Time,
    standard: false,
    build: |context| Box::new(NodeTimeLost { time: context.time, lost: 0.0 }),
};

struct NodeTimeLost {
    time: TimeUnit,
    lost: f64,
}

impl Observer for NodeTimeLost {
    fn interest(&self) -> Interest {
        Interest::DEPARTURES
    }

    fn see(&mut self, now: Time, fact: &Fact<'_>) {
        match fact {
            Fact::CountingStarts => self.lost = 0.0,
            Fact::Departed { job, start, placement, .. } => {
                let held = self.time.units(now.since(*start));
                let run = match job.service {
                    Service::Run(run) => self.time.units(run),
                    _ => held,
                };
                self.lost += f64::from(placement.nodes()) * held;
                self.lost -= f64::from(job.request.nodes) * run;
            }
            Fact::Interrupted { start, placement, .. } => {
                let held = self.time.units(now.since(*start));
                self.lost += f64::from(placement.nodes()) * held;
            }
            _ => {}
        }
    }
}

impl Metric for NodeTimeLost {
    fn value(&self) -> Option<f64> {
        Some(self.lost)
    }
}
