//! Overtakings: the number of older jobs still waiting when a job starts, summed over starts.
//!
//! The value is zero under FCFS. Requeued jobs do not count as waiting, because they have started
//! before. The metric is computed only on request: each start takes O(q) time for q waiting jobs.

use std::collections::VecDeque;

use pavior_kernel::Time;
use pavior_mesh::JobId;

use super::{Context, Metric, MetricSpec, Unit};
use crate::{Fact, Interest, Observer};

pub(super) const SPEC: MetricSpec = MetricSpec {
    name: "overtakings",
    meaning: "number of older waiting jobs overtaken, summed over starts (only on request)",
    unit: Unit::Count,
    standard: false,
    build: |_: &Context| Box::new(Overtakings::default()),
};

#[derive(Default)]
struct Overtakings {
    /// The waiting jobs, in order of arrival.
    waiting: VecDeque<JobId>,
    count: u64,
}

impl Observer for Overtakings {
    fn interest(&self) -> Interest {
        Interest::ARRIVALS | Interest::STARTS
    }

    fn see(&mut self, _: Time, fact: &Fact<'_>) {
        match fact {
            Fact::CountingStarts => self.count = 0,
            Fact::Arrived(job) => self.waiting.push_back(job.id),
            Fact::Started { job, .. } => {
                if let Ok(older) = self.waiting.binary_search(&job.id) {
                    self.waiting.remove(older);
                    self.count += older as u64;
                }
            }
            _ => {}
        }
    }
}

impl Metric for Overtakings {
    fn value(&self) -> Option<f64> {
        Some(self.count as f64)
    }
}
