//! The service's clock.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970 that never go back, nor jump while the service runs: the wall clock is
/// read once.
#[derive(Clone, Copy, Debug)]
pub struct ServiceClock {
    base_ms: u64,
    began: Instant,
}

impl Default for ServiceClock {
    fn default() -> ServiceClock {
        ServiceClock::new()
    }
}

impl ServiceClock {
    /// A clock that shows the time of now.
    pub fn new() -> ServiceClock {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        ServiceClock { base_ms: since.as_millis() as u64, began: Instant::now() }
    }

    /// The time.
    pub fn now_ms(&self) -> u64 {
        self.base_ms + self.began.elapsed().as_millis() as u64
    }

    /// Microseconds since the clock was made, to measure lengths.
    pub fn micros(&self) -> u64 {
        self.began.elapsed().as_micros() as u64
    }
}
