//! Broken guarantees: the number of jobs that started later than the scheduler first promised.
//!
//! Only backfilling schedulers make promises. A scheduler that reserves nodes breaks a promise only
//! if a job runs longer than its estimate. A scheduler that reserves by count may also break a
//! promise because the free nodes are scattered. Delays due to node failures do not count.

use super::count::CountOf;
use super::{MetricSpec, Unit};
use crate::{Fact, Interest};

pub(super) const SPEC: MetricSpec = MetricSpec {
    name: "broken_guarantees",
    meaning: "number of jobs started later than first promised (only on request)",
    unit: Unit::Count,
    standard: false,
    build: |_| CountOf::boxed(Interest::STARTS, |fact| matches!(fact, Fact::GuaranteeBroken(_))),
};
