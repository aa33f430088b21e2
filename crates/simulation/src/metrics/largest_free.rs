//! Largest free submesh: its size as a fraction of the machine, averaged over time.
//!
//! The metric is computed only on request, because every change in occupancy requires a new search.

use super::time_average::FreeOverTime;
use super::{MetricSpec, Unit};

pub(super) const SPEC: MetricSpec = MetricSpec {
    name: "largest_free",
    meaning: "nodes in the largest free submesh / all nodes, averaged over time (only on request)",
    unit: Unit::Fraction,
    standard: false,
    build: |context| {
        FreeOverTime::boxed(context.grid, context.nodes(), |free| {
            Some(f64::from(free.largest_free().map_or(0, |cuboid| cuboid.volume())))
        })
    },
};
