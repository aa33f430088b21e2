//! Service: the time from start to departure, averaged over completed jobs.

use super::mean::MeanOf;
use super::{MetricSpec, Unit};
use crate::{Fact, Interest};

pub(super) const SPEC: MetricSpec = MetricSpec {
    name: "service",
    meaning: "departure - start, averaged over completed jobs",
    unit: Unit::Time,
    standard: true,
    build: |context| {
        MeanOf::boxed(context, Interest::DEPARTURES, |context, now, fact| match fact {
            Fact::Departed { start, .. } => Some(context.time.units(now.since(*start))),
            _ => None,
        })
    },
};
