//! Job link load: the number of messages that cross a job's busiest link in one iteration, averaged
//! over started jobs that send messages.

use super::mean::MeanOf;
use super::{MetricSpec, Unit};
use crate::{Fact, Interest};

pub(super) const SPEC: MetricSpec = MetricSpec {
    name: "job_link_load",
    meaning: "number of messages in one iteration on the job's busiest link, averaged over started \
              jobs",
    unit: Unit::Count,
    standard: false,
    build: |context| {
        MeanOf::boxed(context, Interest::ROUTES, |_, _, fact| match fact {
            Fact::Routed { routes, .. } => Some(routes.link_load as f64),
            _ => None,
        })
    },
};
