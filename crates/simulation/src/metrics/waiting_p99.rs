//! The 99th percentile of time from arrival to start among completed jobs, by size class.
//!
//! The percentile reveals starvation, which the mean hides. Size classes are defined in
//! [`waits`](super::waits).

use super::waits::{Class, Waits};
use super::{MetricSpec, Unit};

pub(super) const SPEC: MetricSpec = MetricSpec {
    name: "waiting_p99",
    meaning: "99th percentile of the waits of completed jobs (only on request)",
    unit: Unit::Time,
    standard: false,
    build: |context| Waits::percentile(context, Class::All, 99),
};

pub(super) const SMALL: MetricSpec = MetricSpec {
    name: "waiting_p99_small",
    meaning: "`waiting_p99` for jobs with at most 1/64 of the nodes (only on request)",
    build: |context| Waits::percentile(context, Class::Small, 99),
    ..SPEC
};

pub(super) const MEDIUM: MetricSpec = MetricSpec {
    name: "waiting_p99_medium",
    meaning: "`waiting_p99` for jobs with over 1/64 and up to 1/8 of the nodes (only on request)",
    build: |context| Waits::percentile(context, Class::Medium, 99),
    ..SPEC
};

pub(super) const LARGE: MetricSpec = MetricSpec {
    name: "waiting_p99_large",
    meaning: "`waiting_p99` for jobs with over 1/8 of the nodes (only on request)",
    build: |context| Waits::percentile(context, Class::Large, 99),
    ..SPEC
};
