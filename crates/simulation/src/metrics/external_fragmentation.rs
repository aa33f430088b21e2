//! External fragmentation: the fraction of nodes that are free when a request is refused even
//! though enough nodes are free, averaged over such refusals (as defined in the MFA paper).

use pavior_allocation::Refusal;

use super::mean::MeanOf;
use super::{MetricSpec, Unit};
use crate::{Fact, Interest};

pub(super) const SPEC: MetricSpec = MetricSpec {
    name: "external_fragmentation",
    meaning: "free nodes / all nodes, averaged over requests that were refused although enough \
              nodes were free",
    unit: Unit::Fraction,
    standard: true,
    build: |context| {
        MeanOf::boxed(context, Interest::ATTEMPTS, |context, _, fact| match fact {
            Fact::Attempted(attempt) if attempt.refusal == Some(Refusal::NoFreeSubmesh) => {
                Some(f64::from(attempt.free) / context.nodes())
            }
            _ => None,
        })
    },
};
