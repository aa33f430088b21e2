//! Job hops: the mean number of links that a message crosses in one iteration, averaged over
//! started jobs that send messages.

use super::mean::MeanOf;
use super::{MetricSpec, Unit};
use crate::{Fact, Interest};

pub(super) const SPEC: MetricSpec = MetricSpec {
    name: "job_hops",
    meaning: "number of links crossed per message in one iteration, averaged over started jobs",
    unit: Unit::Count,
    standard: false,
    build: |context| {
        MeanOf::boxed(context, Interest::ROUTES, |_, _, fact| match fact {
            Fact::Routed { routes, .. } => Some(routes.mean_hops()),
            _ => None,
        })
    },
};
