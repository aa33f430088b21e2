//! Granted utilization: utilization in terms of granted nodes, including internal fragmentation.

use super::time_average::HeldOverTime;
use super::{MetricSpec, Unit};

pub(super) const SPEC: MetricSpec = MetricSpec {
    name: "utilization_granted",
    meaning: "granted nodes of running jobs / all nodes, averaged over time",
    unit: Unit::Fraction,
    standard: true,
    build: |context| {
        let nodes = context.nodes();
        HeldOverTime::boxed(nodes, |_, placement| f64::from(placement.nodes()))
    },
};
