//! Longest wait: the maximum time from arrival to start among completed jobs, by size class.
//!
//! The maximum reveals starvation, which the mean hides. Size classes are defined in
//! [`waits`](super::waits).

use super::waits::{Class, Waits};
use super::{MetricSpec, Unit};

pub(super) const SPEC: MetricSpec = MetricSpec {
    name: "waiting_max",
    meaning: "longest wait of completed jobs (only on request)",
    unit: Unit::Time,
    standard: false,
    build: |context| Waits::percentile(context, Class::All, 100),
};

pub(super) const SMALL: MetricSpec = MetricSpec {
    name: "waiting_max_small",
    meaning: "`waiting_max` for jobs with at most 1/64 of the nodes (only on request)",
    build: |context| Waits::percentile(context, Class::Small, 100),
    ..SPEC
};

pub(super) const MEDIUM: MetricSpec = MetricSpec {
    name: "waiting_max_medium",
    meaning: "`waiting_max` for jobs with over 1/64 and up to 1/8 of the nodes (only on request)",
    build: |context| Waits::percentile(context, Class::Medium, 100),
    ..SPEC
};

pub(super) const LARGE: MetricSpec = MetricSpec {
    name: "waiting_max_large",
    meaning: "`waiting_max` for jobs with over 1/8 of the nodes (only on request)",
    build: |context| Waits::percentile(context, Class::Large, 100),
    ..SPEC
};
