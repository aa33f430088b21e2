//! The observers of a run, and the stopwatch.

use pavior_kernel::Time;
use pavior_scheduling::{Attempt, AttemptObserver};

use crate::{Fact, Interest, Observer, Stopwatch};

/// The observers, told of facts at the present instant.
pub(crate) struct Observers<'a, 'o> {
    pub(crate) now: Time,
    told: &'a mut [&'o mut dyn Observer],
    /// What each of them wants to be told of, asked once.
    interests: Box<[Interest]>,
    watch: Option<Stopwatch>,
}

impl<'a, 'o> Observers<'a, 'o> {
    pub(crate) fn new(
        now: Time,
        observers: &'a mut [&'o mut dyn Observer],
        timing: bool,
    ) -> Observers<'a, 'o> {
        let interests = observers.iter().map(|observer| observer.interest()).collect();
        Observers { now, told: observers, interests, watch: timing.then(Stopwatch::new) }
    }

    pub(crate) fn tell(&mut self, fact: &Fact<'_>) {
        if let (Fact::CountingStarts, Some(watch)) = (fact, &mut self.watch) {
            watch.reset();
        }
        let kind = Interest::in_fact(fact);
        for (observer, interest) in self.told.iter_mut().zip(&self.interests) {
            if kind.is_none_or(|kind| interest.includes(kind)) {
                observer.see(self.now, fact);
            }
        }
    }

    /// The mean measured time of an attempt.
    pub(crate) fn attempt_ns(&self) -> Option<f64> {
        self.watch.as_ref().and_then(Stopwatch::mean_ns)
    }
}

impl AttemptObserver for Observers<'_, '_> {
    fn begins(&mut self) {
        if let Some(watch) = &mut self.watch {
            watch.begin();
        }
    }

    fn ended(&mut self, attempt: Attempt) {
        if let Some(watch) = &mut self.watch {
            watch.end();
        }
        self.tell(&Fact::Attempted(attempt));
    }
}
