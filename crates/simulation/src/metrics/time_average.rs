//! The time average of a quantity that changes in steps.

use pavior_kernel::Time;

/// The integral of a step function since counting started.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TimeAverage {
    level: f64,
    since: Time,
    from: Time,
    integral: f64,
}

impl TimeAverage {
    /// Averages start here; the level stays.
    pub(super) fn restart(&mut self, now: Time) {
        (self.since, self.from, self.integral) = (now, now, 0.0);
    }

    /// The level changes by `step`.
    pub(super) fn step(&mut self, now: Time, step: f64) {
        self.set(now, self.level + step);
    }

    /// The level becomes `level`.
    pub(super) fn set(&mut self, now: Time, level: f64) {
        self.integral += self.level * now.since(self.since).ticks();
        (self.since, self.level) = (now, level);
    }

    /// The average up to `now`; none if no time has passed.
    pub(super) fn value(&self, now: Time) -> Option<f64> {
        let span = now.since(self.from).ticks();
        let integral = self.integral + self.level * now.since(self.since).ticks();
        (span > 0.0).then(|| integral / span)
    }
}
