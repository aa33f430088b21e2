//! Busy submeshes: the number of parts that jobs hold, averaged over time (m in the TBL paper).

use super::time_average::HeldOverTime;
use super::{MetricSpec, Unit};

pub(super) const SPEC: MetricSpec = MetricSpec {
    name: "busy_submeshes",
    meaning: "time-averaged number of boxes held by jobs (m in the TBL paper)",
    unit: Unit::Count,
    standard: true,
    build: |_| HeldOverTime::boxed(1.0, |_, placement| placement.parts().len() as f64),
};
