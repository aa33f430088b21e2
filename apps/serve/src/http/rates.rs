//! Limits on the request rate of each tenant.

use std::collections::HashMap;
use std::time::Duration;

use parking_lot::Mutex;

/// The maximum burst: a tenant may send this many seconds' worth of requests at once.
const BURST_S: f64 = 2.0;
/// The maximum number of tenants tracked individually; all others share one allowance. A tenant is
/// forgotten once its allowance is full again.
const MAX_TENANTS: usize = 65_536;
/// The minimum number of entries before full allowances are removed.
const MIN_CLEANUP: usize = 1024;

/// The times at which the tenants' allowances will be full again, in microseconds. Each request
/// postpones its tenant's time. A tenant without an entry has a full allowance.
#[derive(Default)]
pub(crate) struct Allowances {
    full_at: HashMap<String, u64>,
    /// The latest time seen. Earlier times, which slower threads may report, are ignored.
    now: u64,
    /// The number of entries at which full allowances are next removed.
    cleanup_at: usize,
}

/// The rate limit for each tenant.
pub(crate) struct Rates {
    allowances: Mutex<Allowances>,
    /// The cost of a request, in microseconds.
    request_us: u64,
    /// The cost of a maximum-size burst, in microseconds.
    burst_us: u64,
}

impl Rates {
    /// Returns rate limits that allow each tenant `rate` requests per second on average.
    pub(crate) fn new(rate: f64) -> Rates {
        let request_us = ((1e6 / rate) as u64).max(1);
        let burst_us = ((BURST_S * 1e6) as u64).max(request_us);
        let allowances = Allowances { cleanup_at: MIN_CLEANUP, ..Allowances::default() };
        Rates { allowances: Mutex::new(allowances), request_us, burst_us }
    }

    /// Charges a tenant for `count` requests, in addition to `paid` requests already charged. A
    /// tenant with a full allowance may exceed the maximum burst, but then has to wait longer.
    ///
    /// # Errors
    /// Returns the time to wait if the tenant exceeds its rate.
    pub(crate) fn charge(
        &self,
        tenant: &str,
        count: u64,
        paid: u64,
        clock: impl FnOnce() -> u64,
    ) -> Result<(), Duration> {
        let cost = |count: u64| self.request_us.saturating_mul(count);
        let needed = cost(count.saturating_add(paid)).min(self.burst_us).saturating_sub(cost(paid));
        let mut allowances = self.allowances.lock();
        allowances.now = allowances.now.max(clock());
        let now = allowances.now;
        let full_at = allowances.entry(tenant);
        let used = full_at.saturating_sub(now);
        let excess = used.saturating_add(needed).saturating_sub(self.burst_us);
        if excess > 0 {
            return Err(Duration::from_micros(excess));
        }
        *full_at = now.saturating_add(used).saturating_add(cost(count));
        Ok(())
    }
}

impl Allowances {
    /// Returns a tenant's entry, or the shared entry if there are too many tenants.
    fn entry(&mut self, tenant: &str) -> &mut u64 {
        if self.full_at.len() >= self.cleanup_at {
            let now = self.now;
            self.full_at.retain(|_, full_at| *full_at > now);
            self.cleanup_at = (2 * self.full_at.len()).max(MIN_CLEANUP);
        }
        let is_shared = self.full_at.len() >= MAX_TENANTS && !self.full_at.contains_key(tenant);
        let name = if is_shared { "" } else { tenant };
        self.full_at.entry(name.to_string()).or_insert(0)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn a_tenant_may_send_its_rate_after_a_burst() {
        let rates = Rates::new(10.0);
        let sent = |at| (0..100).filter(|_| rates.charge("a", 1, 0, || at).is_ok()).count();
        assert_eq!(sent(0), 20);
        assert!(rates.charge("b", 1, 0, || 0).is_ok());
        assert_eq!(sent(1_000_000), 10);
        assert_eq!(rates.charge("a", 1, 0, || 1_050_000), Err(Duration::from_millis(50)));
        // An earlier time, read by a slower thread, leaves the allowance unchanged.
        assert_eq!(rates.charge("a", 1, 0, || 0), Err(Duration::from_millis(50)));
    }

    #[test]
    fn a_full_allowance_accepts_more_than_a_burst_and_leaves_a_debt() {
        let rates = Rates::new(10.0);
        assert!(rates.charge("a", 1, 0, || 0).is_ok());
        assert!(rates.charge("a", 100, 0, || 0).is_err(), "its allowance is not full");
        // The first operation was charged when the batch arrived, and the others after the batch
        // was parsed.
        assert!(rates.charge("a", 1, 0, || 200_000).is_ok());
        assert!(rates.charge("a", 99, 1, || 200_000).is_ok());
        let after = Err(Duration::from_millis(8100));
        assert_eq!(rates.charge("a", 1, 0, || 200_000), after);
        assert!(rates.charge("a", 1, 0, || 8_300_000).is_ok());
    }

    #[test]
    fn entries_of_full_allowances_are_removed() {
        let rates = Rates::new(1000.0);
        for tenant in 0..200_000u64 {
            assert!(rates.charge(&tenant.to_string(), 1, 0, || tenant * 10).is_ok());
        }
        assert!(rates.allowances.lock().full_at.len() <= 2 * MIN_CLEANUP);
        for tenant in 0..100_000u64 {
            let _ = rates.charge(&tenant.to_string(), 5000, 0, || 10_000_000);
        }
        assert!(rates.allowances.lock().full_at.len() <= MAX_TENANTS + 1);
    }

    #[test]
    fn threads_together_do_not_exceed_the_rate() {
        for _ in 0..pavior_trials::size(500, 500, 100_000) {
            let (rates, clock, accepted) =
                (Rates::new(1.0), AtomicU64::new(0), AtomicUsize::new(0));
            // The threads read an advancing clock in any order, and send as many requests as they
            // can.
            let send = || {
                for _ in 0..3 {
                    let now = clock.fetch_add(100_000, Ordering::SeqCst);
                    let is_accepted = rates.charge("a", 1, 0, || now).is_ok();
                    accepted.fetch_add(usize::from(is_accepted), Ordering::SeqCst);
                }
            };
            std::thread::scope(|scope| (0..3).for_each(|_| drop(scope.spawn(send))));
            // Two requests are accepted initially, and none in the following 0.9 s.
            assert_eq!(accepted.into_inner(), 2);
        }
    }
}
