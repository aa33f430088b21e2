//! Waiting error: the half-width of the 95% interval for the mean wait, from a single run.

use super::block_error::BlockError;
use super::{MetricSpec, Unit};

pub(super) const SPEC: MetricSpec = MetricSpec {
    name: "waiting_error",
    meaning: "half-width of the 95% confidence interval of `waiting`, estimated from blocks of \
              consecutive jobs (only on request)",
    unit: Unit::Time,
    standard: false,
    build: |context| BlockError::of(context, |job, start, _| start.since(job.arrival)),
};
