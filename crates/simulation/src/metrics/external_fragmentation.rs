//! External fragmentation: free nodes over all nodes at the moment of a refusal in spite of enough
//! free nodes, averaged over such refusals (the MFA paper's definition).

use pavior_allocation::Refusal;
use pavior_kernel::Time;

use super::mean::Mean;
use super::{Context, Metric, MetricSpec, Unit};
use crate::{Fact, Interest, Observer};

pub(super) const SPEC: MetricSpec = MetricSpec {
    name: "external_fragmentation",
    meaning: "free / nodes, mean over refusals with enough free nodes",
    unit: Unit::Fraction,
    standard: true,
    build: |context| Box::new(ExternalFragmentation { context: *context, mean: Mean::default() }),
};

struct ExternalFragmentation {
    context: Context,
    mean: Mean,
}

impl Observer for ExternalFragmentation {
    fn interest(&self) -> Interest {
        Interest::ATTEMPTS
    }

    fn see(&mut self, _: Time, fact: &Fact<'_>) {
        match fact {
            Fact::CountingStarts => self.mean = Mean::default(),
            Fact::Attempted(attempt) if attempt.refusal == Some(Refusal::NoFreeSubmesh) => {
                self.mean.add(f64::from(attempt.free) / self.context.nodes());
            }
            _ => {}
        }
    }
}

impl Metric for ExternalFragmentation {
    fn value(&self) -> Option<f64> {
        self.mean.value()
    }
}
