//! Delays between attempts to restart a watch.

use std::time::{Duration, Instant};

use kube::runtime::utils::Backoff;

const FIRST_DELAY: Duration = Duration::from_millis(200);
const MAX_DELAY: Duration = Duration::from_secs(2);

/// The length of a fault-free period after which the delays start over. An event alone does not
/// count as success, because even a list that fails begins with an event.
const RESET_AFTER: Duration = Duration::from_secs(5);

/// Delays that double up to 2 s, so that a replica acts soon after the API server recovers.
pub(super) struct Delays {
    next: Duration,
    latest: Option<Instant>,
}

impl Default for Delays {
    fn default() -> Delays {
        Delays { next: FIRST_DELAY, latest: None }
    }
}

impl Iterator for Delays {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        let delay = self.next;
        self.next = (2 * delay).min(MAX_DELAY);
        self.latest = Some(Instant::now());
        Some(delay)
    }
}

impl Backoff for Delays {
    fn reset(&mut self) {
        if self.latest.is_none_or(|at| at.elapsed() > RESET_AFTER) {
            self.next = FIRST_DELAY;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_double_up_to_two_seconds() {
        let mut delays = Delays::default();
        let all: Vec<u128> = delays.by_ref().take(6).map(|delay| delay.as_millis()).collect();
        assert_eq!(all, [200, 400, 800, 1600, 2000, 2000]);
        delays.reset();
        assert_eq!(delays.next(), Some(MAX_DELAY), "a list that fails begins with an event");
        delays.latest = Instant::now().checked_sub(2 * RESET_AFTER);
        delays.reset();
        assert_eq!(delays.next(), Some(FIRST_DELAY));
    }
}
