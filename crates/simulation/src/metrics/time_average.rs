//! Averages over time, for quantities that change in steps.

use pavior_allocation::Placement;
use pavior_kernel::Time;
use pavior_mesh::{Grid, Occupancy};
use pavior_workload::Job;

use super::Metric;
use crate::{Fact, Interest, Observer};

/// The integral of a step function since counting started.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TimeAverage {
    level: f64,
    since: Time,
    from: Time,
    integral: f64,
}

impl TimeAverage {
    /// Restarts the average, keeping the current level.
    pub(super) fn restart(&mut self, now: Time) {
        (self.since, self.from, self.integral) = (now, now, 0.0);
    }

    #[inline]
    pub(super) fn step(&mut self, now: Time, step: f64) {
        self.set(now, self.level + step);
    }

    #[inline]
    pub(super) fn set(&mut self, now: Time, level: f64) {
        self.integral += self.level * now.since(self.since).ticks();
        (self.since, self.level) = (now, level);
    }

    /// Returns the average up to `now`, or `None` if no time has passed.
    pub(super) fn value(&self, now: Time) -> Option<f64> {
        let span = now.since(self.from).ticks();
        let integral = self.integral + self.level * now.since(self.since).ticks();
        (span > 0.0).then(|| integral / span)
    }
}

/// The time average of a quantity summed over running jobs, divided by `whole`.
pub(super) struct HeldOverTime<F> {
    whole: f64,
    /// A function that returns a job's contribution to the quantity.
    of: F,
    held: TimeAverage,
    end: Time,
}

impl<F: Fn(&Job, &Placement) -> f64 + Send + 'static> HeldOverTime<F> {
    pub(super) fn boxed(whole: f64, of: F) -> Box<dyn Metric> {
        Box::new(HeldOverTime { whole, of, held: TimeAverage::default(), end: Time::ZERO })
    }
}

impl<F: Fn(&Job, &Placement) -> f64 + Send> Observer for HeldOverTime<F> {
    fn interest(&self) -> Interest {
        Interest::HOLDINGS
    }

    fn see(&mut self, now: Time, fact: &Fact<'_>) {
        match fact {
            Fact::CountingStarts => self.held.restart(now),
            Fact::Started { job, placement, .. } => self.held.step(now, (self.of)(job, placement)),
            Fact::Departed { job, placement, .. } | Fact::Interrupted { job, placement, .. } => {
                self.held.step(now, -(self.of)(job, placement));
            }
            Fact::Ended => self.end = now,
            _ => {}
        }
    }
}

impl<F: Fn(&Job, &Placement) -> f64 + Send> Metric for HeldOverTime<F> {
    fn value(&self) -> Option<f64> {
        self.held.value(self.end).map(|held| held / self.whole)
    }
}

/// The time average of a quantity that depends on the free nodes, divided by `whole`. The quantity
/// is recomputed whenever the free nodes change.
pub(super) struct FreeOverTime<F> {
    whole: f64,
    /// A function that returns the quantity, or always `None` if the quantity does not apply.
    of: F,
    level: TimeAverage,
    applies: bool,
    end: Time,
}

impl<F: FnMut(&Occupancy) -> Option<f64> + Send + 'static> FreeOverTime<F> {
    pub(super) fn boxed(grid: Grid, whole: f64, mut of: F) -> Box<dyn Metric> {
        let first = of(&Occupancy::all_free(grid));
        let mut level = TimeAverage::default();
        level.set(Time::ZERO, first.unwrap_or_default());
        let applies = first.is_some();
        Box::new(FreeOverTime { whole, of, level, applies, end: Time::ZERO })
    }
}

impl<F: FnMut(&Occupancy) -> Option<f64> + Send> Observer for FreeOverTime<F> {
    fn interest(&self) -> Interest {
        Interest::HOLDINGS
    }

    fn see(&mut self, now: Time, fact: &Fact<'_>) {
        match fact {
            Fact::CountingStarts => self.level.restart(now),
            Fact::Started { free, .. }
            | Fact::Moved { free, .. }
            | Fact::Departed { free, .. }
            | Fact::Interrupted { free, .. } => {
                self.level.set(now, (self.of)(free).unwrap_or_default());
            }
            Fact::Ended => self.end = now,
            _ => {}
        }
    }
}

impl<F: FnMut(&Occupancy) -> Option<f64> + Send> Metric for FreeOverTime<F> {
    fn value(&self) -> Option<f64> {
        self.level.value(self.end).filter(|_| self.applies).map(|level| level / self.whole)
    }
}
