//! The time by the API server's clock, which may differ from the own one.
//!
//! When Jobs began is written by the API server. A copy whose clock is an hour late would take them
//! for Jobs that run an hour yet, and would start all others before one that needs their nodes.

use std::collections::VecDeque;

/// The latest objects that count.
const LATEST: usize = 32;
/// Smaller differences may be the time that news take, in seconds.
const LEAST: i64 = 60;

/// How far the API server's clock was ahead of the own one when it was asked, and when news came of
/// objects just made.
#[derive(Debug, Default)]
pub(crate) struct Clock {
    ahead: VecDeque<i64>,
}

impl Clock {
    /// News of an object that was just made, at `created` by the API server's clock.
    pub(crate) fn see(&mut self, created: i64, now: i64) {
        if self.ahead.len() == LATEST {
            self.ahead.pop_front();
        }
        self.ahead.push_back(created.saturating_sub(now));
    }

    /// The time by the API server's clock, in seconds since 1970, when it is `now` by the own one.
    /// News can be late, and never early: of what was seen the largest is the nearest.
    pub(crate) fn now(&self, now: i64) -> i64 {
        let ahead = self.ahead.iter().copied().max().unwrap_or(0);
        if ahead.abs() < LEAST { now } else { now.saturating_add(ahead) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_is_wrong_is_put_right_and_late_news_are_no_wrong_clock() {
        for wrong in [3600, -3600] {
            let mut clock = Clock::default();
            assert_eq!(clock.now(wrong), wrong, "nothing is known yet");
            for (at, late) in [(100, 40), (200, 0), (300, 2000)] {
                clock.see(at, at + late + wrong);
            }
            assert_eq!(clock.now(400 + wrong), 400);
        }
        let mut clock = Clock::default();
        (0..40).for_each(|at| clock.see(at, at + 30));
        assert_eq!((clock.now(50), clock.ahead.len()), (50, LATEST));
    }
}
