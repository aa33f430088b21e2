//! The service's clock.
#![allow(clippy::disallowed_methods, reason = "the service's only clock")]

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// A clock that counts milliseconds since 1970. It reads the wall clock only once, so it does not
/// jump while the service runs. On Linux, it also stops while the system is suspended. Clones share
/// the same time.
#[derive(Clone, Debug)]
pub struct ServiceClock {
    /// The wall-clock time at creation.
    wall_ms: u64,
    created: Instant,
    /// The offset added to the elapsed time, in milliseconds.
    base_ms: Arc<AtomicI64>,
}

impl Default for ServiceClock {
    fn default() -> ServiceClock {
        ServiceClock::new()
    }
}

impl ServiceClock {
    /// Returns a clock set to the current wall-clock time.
    pub fn new() -> ServiceClock {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        ServiceClock::at(since.as_millis() as u64)
    }

    /// Returns a clock set to the given time.
    pub fn at(wall_ms: u64) -> ServiceClock {
        let base_ms = Arc::new(AtomicI64::new(signed(wall_ms)));
        ServiceClock { wall_ms, created: Instant::now(), base_ms }
    }

    /// Returns the time in milliseconds since 1970.
    pub fn now_ms(&self) -> u64 {
        let now = self.base_ms.load(Ordering::Acquire).saturating_add(signed(self.elapsed_ms()));
        u64::try_from(now).unwrap_or(0)
    }

    /// Returns the wall-clock time, ignoring any adjustments to the wall clock since startup.
    pub fn wall_ms(&self) -> u64 {
        self.wall_ms.saturating_add(self.elapsed_ms())
    }

    /// Sets the clock to the given time, from which it continues to run.
    pub fn set_ms(&self, ms: u64) {
        self.base_ms.store(signed(ms).saturating_sub(signed(self.elapsed_ms())), Ordering::Release);
    }

    /// Returns the number of microseconds since the clock was created, for measuring durations.
    pub fn micros(&self) -> u64 {
        self.created.elapsed().as_micros() as u64
    }

    fn elapsed_ms(&self) -> u64 {
        self.created.elapsed().as_millis() as u64
    }
}

fn signed(ms: u64) -> i64 {
    i64::try_from(ms).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_continues_from_the_time_that_is_set() {
        let clock = ServiceClock::at(5_000_000_000);
        assert!(clock.now_ms() >= 5_000_000_000 && clock.wall_ms() >= 5_000_000_000);
        clock.clone().set_ms(1000);
        assert!((1000..100_000).contains(&clock.now_ms()), "copies are one clock");
        assert!(clock.wall_ms() >= 5_000_000_000);
        clock.set_ms(u64::MAX);
        assert!(clock.now_ms() > 1 << 60);
    }
}
