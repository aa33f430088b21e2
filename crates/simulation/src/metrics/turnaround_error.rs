//! Turnaround error: the half-width of the 95% interval for mean turnaround, from a single run.

use super::block_error::BlockError;
use super::{MetricSpec, Unit};

pub(super) const SPEC: MetricSpec = MetricSpec {
    name: "turnaround_error",
    meaning: "half-width of the 95% confidence interval of `turnaround`, estimated from blocks of \
              consecutive jobs (only on request)",
    unit: Unit::Time,
    standard: false,
    build: |context| BlockError::of(context, |job, _, end| end.since(job.arrival)),
};
