//! Bounded slowdown: turnaround divided by the larger of the run time and the bound, but at least
//! 1. Averaged over completed jobs.
//!
//! The formula is `max(1, turnaround / max(run, bound))`. The bound keeps very short jobs from
//! dominating the mean.

use super::mean::MeanOf;
use super::{MetricSpec, Unit};
use crate::{Fact, Interest};

pub(super) const SPEC: MetricSpec = MetricSpec {
    name: "slowdown",
    meaning: "max(1, turnaround / max(run time, bound)), averaged over completed jobs",
    unit: Unit::Ratio,
    standard: true,
    build: |context| {
        MeanOf::boxed(context, Interest::DEPARTURES, |context, now, fact| match fact {
            Fact::Departed { job, start, .. } => {
                let units = |since| context.time.units(now.since(since));
                let run = units(*start).max(context.slowdown_bound);
                Some((units(job.arrival) / run).max(1.0))
            }
            _ => None,
        })
    },
};
