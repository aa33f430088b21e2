//! Blocks per job: the number of parts granted to a job, averaged over started jobs.

use super::mean::MeanOf;
use super::{MetricSpec, Unit};
use crate::{Fact, Interest};

pub(super) const SPEC: MetricSpec = MetricSpec {
    name: "blocks_per_job",
    meaning: "mean number of boxes per started job",
    unit: Unit::Count,
    standard: true,
    build: |context| {
        MeanOf::boxed(context, Interest::STARTS, |_, _, fact| match fact {
            Fact::Started { placement, .. } => Some(placement.parts().len() as f64),
            _ => None,
        })
    },
};
