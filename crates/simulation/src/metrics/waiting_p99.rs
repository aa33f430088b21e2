//! The 99th percentile of the time from arrival to start over completed jobs, by size class.
//!
//! The percentile shows starvation, which the mean does not. [`waits`](super::waits) defines the
//! size classes.

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
    meaning: "`waiting_p99` for jobs of at most 1/64 of the nodes (only on request)",
    build: |context| Waits::percentile(context, Class::Small, 99),
    ..SPEC
};

pub(super) const MEDIUM: MetricSpec = MetricSpec {
    name: "waiting_p99_medium",
    meaning: "`waiting_p99` for jobs of over 1/64 and up to 1/8 of the nodes (only on request)",
    build: |context| Waits::percentile(context, Class::Medium, 99),
    ..SPEC
};

pub(super) const LARGE: MetricSpec = MetricSpec {
    name: "waiting_p99_large",
    meaning: "`waiting_p99` for jobs of over 1/8 of the nodes (only on request)",
    build: |context| Waits::percentile(context, Class::Large, 99),
    ..SPEC
};
