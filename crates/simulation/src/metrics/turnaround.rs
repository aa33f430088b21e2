//! Turnaround: the time from arrival to departure, averaged over completed jobs.

use super::mean::MeanOf;
use super::{MetricSpec, Unit};
use crate::{Fact, Interest};

pub(super) const SPEC: MetricSpec = MetricSpec {
    name: "turnaround",
    meaning: "departure - arrival, averaged over completed jobs",
    unit: Unit::Time,
    standard: true,
    build: |context| {
        MeanOf::boxed(context, Interest::DEPARTURES, |context, now, fact| match fact {
            Fact::Departed { job, .. } => Some(context.time.units(now.since(job.arrival))),
            _ => None,
        })
    },
};
