//! The observers of a run, and the stopwatch for allocation attempts.

use pavior_kernel::{Stream, Time};
use pavior_scheduling::{Attempt, AttemptObserver};

use crate::{Fact, Interest, Observer, Stopwatch};

/// The maximum gap between timed attempts. Each gap is drawn uniformly from 1 to this maximum.
/// Timing every attempt would double the cost of fast attempts.
const APART: u64 = 31;

/// The observers to notify of facts, and the current time.
pub(crate) struct Observers<'a, 'o> {
    pub(crate) now: Time,
    told: &'a mut [&'o mut dyn Observer],
    /// For each kind of fact, the indices in `told` of the observers that want it.
    wanting: [Box<[usize]>; Interest::KINDS],
    watch: Option<Sampled>,
    attempts: u64,
}

/// A stopwatch that times one attempt in sixteen on average. Attempts are sampled at random because
/// schedulers often repeat the same sequence of queries.
struct Sampled {
    watch: Stopwatch,
    gaps: Stream,
    /// The number of attempts remaining until one is timed, including that one.
    ahead: u64,
}

impl<'a, 'o> Observers<'a, 'o> {
    pub(crate) fn new(
        now: Time,
        observers: &'a mut [&'o mut dyn Observer],
        watch: Option<Stream>,
    ) -> Observers<'a, 'o> {
        let mut wanting: [Vec<usize>; Interest::KINDS] = Default::default();
        for (place, observer) in observers.iter().enumerate() {
            let interest = observer.interest();
            for kind in Interest::kinds().filter(|&kind| interest.includes(kind)) {
                wanting[kind.index()].push(place);
            }
        }
        let wanting = wanting.map(Vec::into_boxed_slice);
        let watch = watch.map(|gaps| Sampled { watch: Stopwatch::new(), gaps, ahead: 1 });
        Observers { now, told: observers, wanting, watch, attempts: 0 }
    }

    pub(crate) fn want(&self, kind: Interest) -> bool {
        !self.wanting[kind.index()].is_empty()
    }

    pub(crate) fn tell(&mut self, fact: &Fact<'_>) {
        let Some(kind) = Interest::in_fact(fact) else { return self.tell_all(fact) };
        for &place in &self.wanting[kind.index()] {
            self.told[place].see(self.now, fact);
        }
    }

    fn tell_all(&mut self, fact: &Fact<'_>) {
        if let (Fact::CountingStarts, Some(sampled)) = (fact, &mut self.watch) {
            sampled.watch.reset();
            sampled.ahead = 1;
        }
        for observer in &mut *self.told {
            observer.see(self.now, fact);
        }
    }

    pub(crate) fn attempts(&self) -> u64 {
        self.attempts
    }

    /// Returns the mean time of the timed attempts, in nanoseconds.
    pub(crate) fn attempt_ns(&self) -> Option<f64> {
        self.watch.as_ref().and_then(|sampled| sampled.watch.mean_ns())
    }
}

impl AttemptObserver for Observers<'_, '_> {
    fn begins(&mut self) {
        if let Some(Sampled { watch, ahead: 1, .. }) = &mut self.watch {
            watch.begin();
        }
    }

    fn ended(&mut self, attempt: Attempt) {
        self.attempts += 1;
        if let Some(Sampled { watch, gaps, ahead }) = &mut self.watch {
            *ahead -= 1;
            if *ahead == 0 {
                watch.end();
                *ahead = gaps.between(1, APART);
            }
        }
        self.tell(&Fact::Attempted(attempt));
    }
}
