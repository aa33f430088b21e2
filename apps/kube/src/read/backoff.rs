//! Delays between attempts to restart a watch.

use std::time::Duration;

use kube::runtime::utils::Backoff;

const FIRST: Duration = Duration::from_millis(200);
const LONGEST: Duration = Duration::from_secs(2);

/// Delays that double up to 2 s, so that a replica acts soon after the API server is available
/// again.
pub(crate) struct Delays(Duration);

impl Default for Delays {
    fn default() -> Delays {
        Delays(FIRST)
    }
}

impl Iterator for Delays {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        let delay = self.0;
        self.0 = (2 * delay).min(LONGEST);
        Some(delay)
    }
}

impl Backoff for Delays {
    fn reset(&mut self) {
        self.0 = FIRST;
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
        assert_eq!(delays.next(), Some(FIRST));
    }
}
