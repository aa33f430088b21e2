//! Percentiles of wait times among completed jobs in a size class.
//!
//! Size classes are fractions of the machine: small jobs use at most 1/64 of the nodes, medium jobs
//! at most 1/8, and large jobs more. On a 16x16 machine, small jobs have up to 4 nodes, medium jobs
//! 5 to 32, and large jobs more than 32.

use pavior_kernel::Time;

use super::{Context, Metric};
use crate::{Fact, Interest, Observer};

/// A size class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    All,
    Small,
    Medium,
    Large,
}

impl Class {
    fn has(self, nodes: u32, machine: u32) -> bool {
        let (nodes, machine) = (u64::from(nodes), u64::from(machine));
        match self {
            Class::All => true,
            Class::Small => nodes * 64 <= machine,
            Class::Medium => nodes * 64 > machine && nodes * 8 <= machine,
            Class::Large => nodes * 8 > machine,
        }
    }
}

/// The wait times of jobs in a size class, and the percentile to compute.
pub(super) struct Waits {
    context: Context,
    class: Class,
    percent: u64,
    ticks: Vec<Time>,
}

impl Waits {
    /// Creates a metric for a nearest-rank percentile of the wait times in a size class.
    pub(super) fn percentile(context: &Context, class: Class, percent: u64) -> Box<dyn Metric> {
        Box::new(Waits { context: *context, class, percent, ticks: Vec::new() })
    }
}

impl Observer for Waits {
    fn interest(&self) -> Interest {
        Interest::DEPARTURES
    }

    fn see(&mut self, _: Time, fact: &Fact<'_>) {
        match fact {
            Fact::CountingStarts => self.ticks.clear(),
            Fact::Departed { job, start, .. }
                if self.class.has(job.request.nodes, self.context.grid.nodes()) =>
            {
                self.ticks.push(start.since(job.arrival));
            }
            _ => {}
        }
    }
}

impl Metric for Waits {
    fn value(&self) -> Option<f64> {
        let rank = (self.ticks.len() as u64 * self.percent).div_ceil(100) as usize;
        let mut ticks = self.ticks.clone();
        let (_, wait, _) = ticks.select_nth_unstable(rank.checked_sub(1)?);
        Some(self.context.time.units(*wait))
    }
}
