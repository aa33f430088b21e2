//! Interruptions: the number of times that a failure cut short the run of a job.

use super::count::CountOf;
use super::{MetricSpec, Unit};
use crate::{Fact, Interest};

pub(super) const SPEC: MetricSpec = MetricSpec {
    name: "interruptions",
    meaning: "runs of jobs cut short by a failure",
    unit: Unit::Count,
    standard: false,
    build: |_| {
        CountOf::boxed(Interest::DEPARTURES, |fact| matches!(fact, Fact::Interrupted { .. }))
    },
};
