//! A metric that counts facts.

use pavior_kernel::Time;

use super::Metric;
use crate::{Fact, Interest, Observer};

pub(super) struct CountOf<F> {
    interest: Interest,
    counts: F,
    count: u64,
}

impl<F: Fn(&Fact<'_>) -> bool + Send + 'static> CountOf<F> {
    pub(super) fn boxed(interest: Interest, counts: F) -> Box<dyn Metric> {
        Box::new(CountOf { interest, counts, count: 0 })
    }
}

impl<F: Fn(&Fact<'_>) -> bool + Send> Observer for CountOf<F> {
    fn interest(&self) -> Interest {
        self.interest
    }

    fn see(&mut self, _: Time, fact: &Fact<'_>) {
        match fact {
            Fact::CountingStarts => self.count = 0,
            fact => self.count += u64::from((self.counts)(fact)),
        }
    }
}

impl<F: Fn(&Fact<'_>) -> bool + Send> Metric for CountOf<F> {
    fn value(&self) -> Option<f64> {
        Some(self.count as f64)
    }
}
