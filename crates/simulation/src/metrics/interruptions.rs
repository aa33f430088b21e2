//! Interruptions: the number of times that a failure cut a job's run short.

use super::count::CountOf;
use super::{MetricSpec, Unit};
use crate::{Fact, Interest};

pub(super) const SPEC: MetricSpec = MetricSpec {
    name: "interruptions",
    meaning: "number of job runs cut short by failures",
    unit: Unit::Count,
    standard: false,
    build: |_| {
        CountOf::boxed(Interest::DEPARTURES, |fact| matches!(fact, Fact::Interrupted { .. }))
    },
};
