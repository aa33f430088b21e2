//! Limits on each tenant's request rate.

use std::collections::HashMap;
use std::time::Duration;

use parking_lot::Mutex;

/// A tenant's maximum burst, in seconds at its rate.
const BURST_S: f64 = 2.0;
/// The maximum number of tenants tracked separately; all others share one allowance. A tenant whose
/// allowance is full again is forgotten.
const TENANTS: usize = 65_536;
/// The minimum number of entries before full allowances are removed.
const MIN_TIDY: usize = 1024;

/// The time when each tenant's allowance will be full again, in microseconds. Each request
/// postpones that time. A tenant without an entry has a full allowance.
#[derive(Default)]
pub(crate) struct Allowances {
    whole_at: HashMap<String, u64>,
    /// The latest time seen; threads may report earlier times, which are ignored.
    now: u64,
    /// The number of entries at which full allowances are next removed.
    tidy_at: usize,
}

/// The rate limit of each tenant.
pub(crate) struct Rates {
    allowances: Mutex<Allowances>,
    /// The cost of a request, in microseconds.
    each: u64,
    /// The cost of a maximum burst, in microseconds.
    most: u64,
}

impl Rates {
    /// Limits each tenant to `rate` requests per second on average.
    pub(crate) fn new(rate: f64) -> Rates {
        let each = ((1e6 / rate) as u64).max(1);
        let most = ((BURST_S * 1e6) as u64).max(each);
        let allowances = Mutex::new(Allowances { tidy_at: MIN_TIDY, ..Allowances::default() });
        Rates { allowances, each, most }
    }

    /// Charges a tenant for `count` requests in addition to `paid` ones charged before. A full
    /// allowance accepts more than the maximum burst, which leaves a debt.
    ///
    /// # Errors
    /// Returns the time to wait if the tenant exceeds its rate.
    pub(crate) fn take(
        &self,
        tenant: &str,
        count: u64,
        paid: u64,
        clock: impl FnOnce() -> u64,
    ) -> Result<(), Duration> {
        let cost = |count: u64| self.each.saturating_mul(count);
        let needed = cost(count.saturating_add(paid)).min(self.most).saturating_sub(cost(paid));
        let mut all = self.allowances.lock();
        all.now = all.now.max(clock());
        let now = all.now;
        let whole_at = all.of(tenant);
        let used = whole_at.saturating_sub(now);
        let lacks = used.saturating_add(needed).saturating_sub(self.most);
        if lacks > 0 {
            return Err(Duration::from_micros(lacks));
        }
        *whole_at = now.saturating_add(used).saturating_add(cost(count));
        Ok(())
    }
}

impl Allowances {
    /// Returns the entry of a tenant, or the shared entry if there are too many tenants.
    fn of(&mut self, tenant: &str) -> &mut u64 {
        if self.whole_at.len() >= self.tidy_at {
            let now = self.now;
            self.whole_at.retain(|_, whole_at| *whole_at > now);
            self.tidy_at = (2 * self.whole_at.len()).max(MIN_TIDY);
        }
        let full = self.whole_at.len() >= TENANTS && !self.whole_at.contains_key(tenant);
        let name = if full { "" } else { tenant };
        self.whole_at.entry(name.to_string()).or_insert(0)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn a_tenant_sends_so_many_requests_a_second() {
        let rates = Rates::new(10.0);
        let sent = |at| (0..100).filter(|_| rates.take("a", 1, 0, || at).is_ok()).count();
        assert_eq!(sent(0), 20);
        assert!(rates.take("b", 1, 0, || 0).is_ok());
        assert_eq!(sent(1_000_000), 10);
        assert_eq!(rates.take("a", 1, 0, || 1_050_000), Err(Duration::from_millis(50)));
        // An earlier time, read by a slower thread, does not change the allowance.
        assert_eq!(rates.take("a", 1, 0, || 0), Err(Duration::from_millis(50)));
    }

    #[test]
    fn more_than_fits_at_once_is_taken_from_a_whole_allowance_and_leaves_a_debt() {
        let rates = Rates::new(10.0);
        assert!(rates.take("a", 1, 0, || 0).is_ok());
        assert!(rates.take("a", 100, 0, || 0).is_err(), "its allowance is not whole");
        // One operation was charged when the batch arrived, and the others when it was parsed.
        assert!(rates.take("a", 1, 0, || 200_000).is_ok());
        assert!(rates.take("a", 99, 1, || 200_000).is_ok());
        let after = Err(Duration::from_millis(8100));
        assert_eq!(rates.take("a", 1, 0, || 200_000), after);
        assert!(rates.take("a", 1, 0, || 8_300_000).is_ok());
    }

    #[test]
    fn tenants_without_a_debt_are_forgotten() {
        let rates = Rates::new(1000.0);
        for tenant in 0..200_000u64 {
            assert!(rates.take(&tenant.to_string(), 1, 0, || tenant * 10).is_ok());
        }
        assert!(rates.allowances.lock().whole_at.len() <= 2 * MIN_TIDY);
        for tenant in 0..100_000u64 {
            let _ = rates.take(&tenant.to_string(), 5000, 0, || 10_000_000);
        }
        assert!(rates.allowances.lock().whole_at.len() <= TENANTS + 1);
    }

    #[test]
    fn threads_together_take_no_more_than_the_rate() {
        for _ in 0..pavior_trials::size(500, 500, 100_000) {
            let (rates, clock, taken) = (Rates::new(1.0), AtomicU64::new(0), AtomicUsize::new(0));
            // The threads read an advancing clock in any order, and take as many requests as they
            // can.
            let taker = || {
                for _ in 0..3 {
                    let read = clock.fetch_add(100_000, Ordering::SeqCst);
                    let is_taken = rates.take("a", 1, 0, || read).is_ok();
                    taken.fetch_add(usize::from(is_taken), Ordering::SeqCst);
                }
            };
            std::thread::scope(|scope| (0..3).for_each(|_| drop(scope.spawn(taker))));
            // Two requests at the beginning, and no more during the following 0.9 s.
            assert_eq!(taken.into_inner(), 2);
        }
    }
}
