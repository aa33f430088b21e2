//! Interruptions: the number of job runs cut short by failures.

use super::count::CountOf;
use super::{MetricSpec, Unit};
use crate::{Fact, Interest};

pub(super) const SPEC: MetricSpec = MetricSpec {
    name: "interruptions",
    meaning: "job runs cut short by failures",
    unit: Unit::Count,
    standard: false,
    build: |_| {
        CountOf::boxed(Interest::DEPARTURES, |fact| matches!(fact, Fact::Interrupted { .. }))
    },
};
