//! Waiting: the time from arrival to start, averaged over completed jobs.

use super::mean::MeanOf;
use super::{MetricSpec, Unit};
use crate::{Fact, Interest};

pub(super) const SPEC: MetricSpec = MetricSpec {
    name: "waiting",
    meaning: "start - arrival, averaged over completed jobs",
    unit: Unit::Time,
    standard: true,
    build: |context| {
        MeanOf::boxed(context, Interest::DEPARTURES, |context, _, fact| match fact {
            Fact::Departed { job, start, .. } => Some(context.time.units(start.since(job.arrival))),
            _ => None,
        })
    },
};
