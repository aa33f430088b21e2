//! Delays between attempts to restart a watch.

use std::time::{Duration, Instant};

use kube::runtime::utils::Backoff;

const FIRST: Duration = Duration::from_millis(200);
const LONGEST: Duration = Duration::from_secs(2);

/// The fault-free time after which the delays start over. A failing list begins with an event,
/// which does not count as success.
const CALM: Duration = Duration::from_secs(5);

/// Delays that double up to 2 s, so that a replica acts soon after the API server becomes available
/// again.
pub(super) struct Delays {
    next: Duration,
    latest: Option<Instant>,
}

impl Default for Delays {
    fn default() -> Delays {
        Delays { next: FIRST, latest: None }
    }
}

impl Iterator for Delays {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        let delay = self.next;
        self.next = (2 * delay).min(LONGEST);
        self.latest = Some(Instant::now());
        Some(delay)
    }
}

impl Backoff for Delays {
    fn reset(&mut self) {
        if self.latest.is_none_or(|at| at.elapsed() > CALM) {
            self.next = FIRST;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_watch_is_tried_every_two_seconds_however_long_an_outage_is() {
        let mut delays = Delays::default();
        let all: Vec<u128> = delays.by_ref().take(6).map(|one| one.as_millis()).collect();
        assert_eq!(all, [200, 400, 800, 1600, 2000, 2000]);
        delays.reset();
        assert_eq!(delays.next(), Some(LONGEST), "a list that fails begins with an event");
        delays.latest = Instant::now().checked_sub(2 * CALM);
        delays.reset();
        assert_eq!(delays.next(), Some(FIRST));
    }
}
