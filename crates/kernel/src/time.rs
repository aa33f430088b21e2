//! Simulated time as a count of ticks.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

/// An instant, or a length, in integer ticks since the start of a run.
///
/// What a tick stands for is the business of whoever runs the simulation: a microsecond of a log, a
/// millionth of the papers' time unit, or a network cycle. Integers make equal times equal, so that
/// "at the same instant" has one meaning on every processor.
///
/// ```
/// use pavior_kernel::Time;
/// assert_eq!(Time(3) + Time(4), Time(7));
/// assert!(Time(3) < Time(4));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub u64);

impl Time {
    /// The start of a run.
    pub const ZERO: Time = Time(0);
    /// Later than every event.
    pub const MAX: Time = Time(u64::MAX);

    /// The length from `earlier` to `self`, or zero if `earlier` is later.
    pub fn since(self, earlier: Time) -> Time {
        Time(self.0.saturating_sub(earlier.0))
    }

    /// The sum, or [`Time::MAX`] where it would overflow.
    pub fn saturating_add(self, length: Time) -> Time {
        Time(self.0.saturating_add(length.0))
    }

    /// The count of ticks as a float, for metrics.
    pub fn ticks(self) -> f64 {
        self.0 as f64
    }
}

impl Add for Time {
    type Output = Time;
    fn add(self, length: Time) -> Time {
        Time(self.0 + length.0)
    }
}

impl AddAssign for Time {
    fn add_assign(&mut self, length: Time) {
        self.0 += length.0;
    }
}

impl Sub for Time {
    type Output = Time;
    fn sub(self, earlier: Time) -> Time {
        Time(self.0 - earlier.0)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
