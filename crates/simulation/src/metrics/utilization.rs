//! Utilization: the nodes that running jobs requested, as a fraction of the machine, averaged over
//! time.

use super::time_average::HeldOverTime;
use super::{MetricSpec, Unit};

pub(super) const SPEC: MetricSpec = MetricSpec {
    name: "utilization",
    meaning: "requested nodes of running jobs / all nodes, averaged over time",
    unit: Unit::Fraction,
    standard: true,
    build: |context| {
        let nodes = context.nodes();
        HeldOverTime::boxed(nodes, |job, _| f64::from(job.request.nodes))
    },
};
