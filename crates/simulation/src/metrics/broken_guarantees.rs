//! Broken guarantees: jobs that started later than their scheduler first promised.
//!
//! Only backfilling schedulers promise anything. With geometry they break a promise only because a
//! job outran its estimate; EASY by count also because the free nodes were not in the places that
//! the strategy needed. Failures of nodes are not counted.

use super::count::CountOf;
use super::{MetricSpec, Unit};
use crate::{Fact, Interest};

pub(super) const SPEC: MetricSpec = MetricSpec {
    name: "broken_guarantees",
    meaning: "jobs started later than first promised (only when asked for)",
    unit: Unit::Count,
    standard: false,
    build: |_| CountOf::boxed(Interest::STARTS, |fact| matches!(fact, Fact::GuaranteeBroken(_))),
};
