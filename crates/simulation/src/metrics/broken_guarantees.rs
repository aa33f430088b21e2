//! Broken guarantees: jobs that started later than their scheduler first promised.
//!
//! Only backfilling schedulers make promises. Those that reserve nodes break one only if a job runs
//! longer than its estimate. Those that reserve by count may also break one because the free nodes
//! are scattered. Delays caused by node failures do not count.

use super::count::CountOf;
use super::{MetricSpec, Unit};
use crate::{Fact, Interest};

pub(super) const SPEC: MetricSpec = MetricSpec {
    name: "broken_guarantees",
    meaning: "jobs started later than first promised (only on request)",
    unit: Unit::Count,
    standard: false,
    build: |_| CountOf::boxed(Interest::STARTS, |fact| matches!(fact, Fact::GuaranteeBroken(_))),
};
