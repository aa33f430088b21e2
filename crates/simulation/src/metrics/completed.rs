//! Completed jobs: the number of jobs that completed during the run.

use super::count::CountOf;
use super::{MetricSpec, Unit};
use crate::{Fact, Interest};

pub(super) const SPEC: MetricSpec = MetricSpec {
    name: "completed",
    meaning: "number of completed jobs",
    unit: Unit::Count,
    standard: true,
    build: |_| CountOf::boxed(Interest::DEPARTURES, |fact| matches!(fact, Fact::Departed { .. })),
};
