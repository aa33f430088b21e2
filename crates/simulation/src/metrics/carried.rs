//! Metrics that are computed from the network totals at the end of a run.

use pavior_kernel::Time;
use pavior_network::MessageTotals;

use super::{Context, Metric};
use crate::{Fact, Interest, Observer};

pub(super) struct Carried<F> {
    context: Context,
    of: F,
    value: Option<f64>,
}

impl<F: Fn(&Context, &MessageTotals) -> Option<f64> + Send + 'static> Carried<F> {
    pub(super) fn boxed(context: &Context, of: F) -> Box<dyn Metric> {
        Box::new(Carried { context: *context, of, value: None })
    }
}

impl<F: Fn(&Context, &MessageTotals) -> Option<f64> + Send> Observer for Carried<F> {
    fn interest(&self) -> Interest {
        Interest::TRAFFIC
    }

    fn see(&mut self, _: Time, fact: &Fact<'_>) {
        if let Fact::Carried(totals) = fact {
            self.value = (self.of)(&self.context, totals);
        }
    }
}

impl<F: Fn(&Context, &MessageTotals) -> Option<f64> + Send> Metric for Carried<F> {
    fn value(&self) -> Option<f64> {
        self.value
    }
}
