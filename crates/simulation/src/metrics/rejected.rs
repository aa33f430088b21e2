//! Rejected jobs: the number of jobs rejected on arrival because they could never fit.

use super::count::CountOf;
use super::{MetricSpec, Unit};
use crate::{Fact, Interest};

pub(super) const SPEC: MetricSpec = MetricSpec {
    name: "rejected",
    meaning: "number of jobs rejected on arrival because they can never fit",
    unit: Unit::Count,
    standard: true,
    build: |_| CountOf::boxed(Interest::ARRIVALS, |fact| matches!(fact, Fact::Rejected(..))),
};
