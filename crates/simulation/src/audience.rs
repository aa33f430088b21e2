//! Those who watch a run: observers, and the stopwatch.

use pavior_kernel::Time;
use pavior_scheduling::{Attempt, Witness};

use crate::{Fact, Observer, Stopwatch};

/// The observers, told of facts at the present instant.
pub(crate) struct Audience<'a, 'o> {
    pub(crate) now: Time,
    observers: &'a mut [&'o mut dyn Observer],
    watch: Option<Stopwatch>,
}

impl<'a, 'o> Audience<'a, 'o> {
    pub(crate) fn new(
        now: Time,
        observers: &'a mut [&'o mut dyn Observer],
        timing: bool,
    ) -> Audience<'a, 'o> {
        Audience { now, observers, watch: timing.then(Stopwatch::new) }
    }

    pub(crate) fn tell(&mut self, fact: &Fact<'_>) {
        if let (Fact::CountingStarts, Some(watch)) = (fact, &mut self.watch) {
            watch.reset();
        }
        for observer in self.observers.iter_mut() {
            if observer.interest().covers(fact) {
                observer.see(self.now, fact);
            }
        }
    }

    /// The mean measured time of an attempt.
    pub(crate) fn attempt_ns(&self) -> Option<f64> {
        self.watch.as_ref().and_then(Stopwatch::mean_ns)
    }
}

impl Witness for Audience<'_, '_> {
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
