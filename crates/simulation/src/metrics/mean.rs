//! Metrics that are means over facts.

use pavior_kernel::Time;

use super::{Context, Metric};
use crate::{Fact, Interest, Observer};

/// A running mean.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mean {
    sum: f64,
    count: u64,
}

impl Mean {
    #[inline]
    pub(super) fn add(&mut self, value: f64) {
        self.sum += value;
        self.count += 1;
    }

    pub(super) fn value(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }
}

/// A metric that averages a value computed from facts.
pub(super) struct MeanOf<F> {
    context: Context,
    interest: Interest,
    of: F,
    mean: Mean,
}

impl<F> MeanOf<F>
where
    F: Fn(&Context, Time, &Fact<'_>) -> Option<f64> + Send + 'static,
{
    /// Creates a metric that averages the values returned by `of`.
    pub(super) fn boxed(context: &Context, interest: Interest, of: F) -> Box<dyn Metric> {
        Box::new(MeanOf { context: *context, interest, of, mean: Mean::default() })
    }
}

impl<F: Fn(&Context, Time, &Fact<'_>) -> Option<f64> + Send> Observer for MeanOf<F> {
    fn interest(&self) -> Interest {
        self.interest
    }

    fn see(&mut self, now: Time, fact: &Fact<'_>) {
        if let Fact::CountingStarts = fact {
            self.mean = Mean::default();
        } else if let Some(value) = (self.of)(&self.context, now, fact) {
            self.mean.add(value);
        }
    }
}

impl<F: Fn(&Context, Time, &Fact<'_>) -> Option<f64> + Send> Metric for MeanOf<F> {
    fn value(&self) -> Option<f64> {
        self.mean.value()
    }
}
