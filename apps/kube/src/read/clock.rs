//! The time according to the API server's clock, which may differ from the local clock.
//!
//! Jobs' start times come from the API server. A replica whose clock is an hour slow would expect
//! running Jobs to last an hour longer. It would therefore backfill too many Jobs ahead of a Job
//! that needs the running Jobs' nodes.

use std::collections::VecDeque;

/// The number of recent observations that are kept.
const MAX_OBSERVATIONS: usize = 32;
/// The smallest clock difference that is corrected. Smaller differences may be due to watch delays.
const MIN_DIFFERENCE_S: i64 = 60;

/// The differences between the API server's clock and the local clock.
#[derive(Debug, Default)]
pub(crate) struct Clock {
    ahead: VecDeque<i64>,
}

impl Clock {
    /// Records that an object was created at `created`, according to the API server's clock.
    pub(crate) fn observe(&mut self, created: i64, now: i64) {
        if self.ahead.len() == MAX_OBSERVATIONS {
            self.ahead.pop_front();
        }
        self.ahead.push_back(created.saturating_sub(now));
    }

    /// Returns the time in seconds since 1970 according to the API server's clock. An observation
    /// may arrive late but never early, so the largest difference is the best estimate.
    pub(crate) fn now(&self, now: i64) -> i64 {
        let ahead = self.ahead.iter().copied().max().unwrap_or(0);
        if ahead.abs() < MIN_DIFFERENCE_S { now } else { now.saturating_add(ahead) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clock_skew_is_corrected_but_late_updates_are_not_skew() {
        for skew in [3600, -3600] {
            let mut clock = Clock::default();
            assert_eq!(clock.now(skew), skew, "nothing is known yet");
            for (at, late) in [(100, 40), (200, 0), (300, 2000)] {
                clock.observe(at, at + late + skew);
            }
            assert_eq!(clock.now(400 + skew), 400);
        }
        let mut clock = Clock::default();
        (0..40).for_each(|at| clock.observe(at, at + 30));
        assert_eq!((clock.now(50), clock.ahead.len()), (50, MAX_OBSERVATIONS));
    }
}
