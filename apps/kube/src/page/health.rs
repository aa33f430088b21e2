//! Health of the daemon, for probes.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use pavior_board::{http, probes};
use serde_json::json;

use crate::client::{KubeError, now};

/// The default address of probes.
pub const PROBES: &str = "0.0.0.0:9324";

/// The time after which a reconciliation is considered hung; it normally takes seconds.
const HANGS: Duration = Duration::from_mins(5);

#[derive(Debug, Default)]
pub(crate) struct Health {
    /// True after the cluster was read completely.
    whole: AtomicBool,
    /// The start of the current reconciliation.
    looks: Mutex<Option<Instant>>,
}

impl Health {
    /// Notes the beginning or end of a reconciliation.
    pub(crate) fn looks(&self, begins: bool) {
        self.whole.store(true, Ordering::Relaxed);
        let mut looks = self.looks.lock().unwrap_or_else(PoisonError::into_inner);
        *looks = begins.then(Instant::now);
    }

    /// Returns true unless a reconciliation hangs. An idle daemon is alive.
    fn is_alive(&self) -> bool {
        let looks = self.looks.lock().unwrap_or_else(PoisonError::into_inner);
        looks.is_none_or(|since| since.elapsed() < HANGS)
    }

    /// Serves probes at an address.
    pub(crate) fn serve(self: &Arc<Health>, address: &str) -> Result<(), KubeError> {
        let (alive, ready) = (Arc::clone(self), Arc::clone(self));
        let site = probes(move || alive.is_alive(), move || ready.whole.load(Ordering::Relaxed));
        let bound = http::serve(address, site).map_err(|error| KubeError::Address {
            address: address.to_string(),
            why: error.to_string(),
        })?;
        let now = now().max(0) as u64;
        let more = json!({ "address": bound.to_string() });
        pavior::json::log(now, "info", "probes", more);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_ready_when_it_has_read_and_alive_while_it_does_not_hang() {
        let health = Health::default();
        assert!(health.is_alive() && !health.whole.load(Ordering::Relaxed));
        health.looks(true);
        assert!(health.is_alive() && health.whole.load(Ordering::Relaxed));
        *health.looks.lock().unwrap() = Instant::now().checked_sub(2 * HANGS);
        assert!(!health.is_alive());
        health.looks(false);
        assert!(health.is_alive());
    }
}
