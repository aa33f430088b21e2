//! Attempts: the number of times the scheduler checked whether a job could start now.

use super::count::CountOf;
use super::{MetricSpec, Unit};
use crate::{Fact, Interest};

pub(super) const SPEC: MetricSpec = MetricSpec {
    name: "attempts",
    meaning: "number of times the scheduler checked whether a job could start immediately",
    unit: Unit::Count,
    standard: true,
    build: |_| CountOf::boxed(Interest::ATTEMPTS, |fact| matches!(fact, Fact::Attempted(_))),
};
