//! Simulated time as a count of ticks.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

/// A point in time, in integer ticks since the start of a run, or a duration in ticks.
///
/// The meaning of a tick depends on the simulation: a microsecond for logs, a millionth of the time
/// unit used in papers, or a network cycle. Because times are integers, comparisons are exact, and
/// every processor agrees on which events are simultaneous.
///
/// ```
/// # use pavior_kernel as pavior;
/// use pavior::Time;
/// assert_eq!(Time(3) + Time(4), Time(7));
/// assert!(Time(3) < Time(4));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub u64);

impl Time {
    /// The start of a run.
    pub const ZERO: Time = Time(0);
    /// A time later than every event.
    pub const MAX: Time = Time(u64::MAX);

    /// The latest time that a simulation can reach: 146,000 years, if a tick is a microsecond. A
    /// later event causes an error that names the job. Larger times are not used, so that the sum
    /// of two times cannot overflow.
    pub const LATEST: Time = Time(1 << 62);

    /// Adds a duration to a time. Returns `None` if the sum is later than [`Time::LATEST`].
    #[inline]
    pub fn checked_add(self, length: Time) -> Option<Time> {
        self.0.checked_add(length.0).map(Time).filter(|&sum| sum <= Time::LATEST)
    }

    /// Returns the time from `earlier` to `self`, or zero if `earlier` is later.
    #[inline]
    pub fn since(self, earlier: Time) -> Time {
        Time(self.0.saturating_sub(earlier.0))
    }

    /// Adds a duration to a time. Returns [`Time::MAX`] on overflow.
    #[inline]
    pub fn saturating_add(self, length: Time) -> Time {
        Time(self.0.saturating_add(length.0))
    }

    /// Returns the number of ticks as a float, for metrics.
    #[inline]
    pub fn ticks(self) -> f64 {
        self.0 as f64
    }
}

impl Add for Time {
    type Output = Time;
    #[inline]
    fn add(self, length: Time) -> Time {
        // Check for overflow even in release builds, because a wrapped sum would be a time in the
        // past.
        Time(self.0.checked_add(length.0).expect("times are at most Time::LATEST"))
    }
}

impl AddAssign for Time {
    #[inline]
    fn add_assign(&mut self, length: Time) {
        *self = *self + length;
    }
}

impl Sub for Time {
    type Output = Time;
    #[inline]
    fn sub(self, earlier: Time) -> Time {
        Time(self.0.checked_sub(earlier.0).expect("the earlier time is not the later one"))
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
