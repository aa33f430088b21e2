//! The memory that bodies and replies may take: together, and of each tenant.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::core::Caller;

/// What a body or a reply takes without being counted. That many times the connections is the most
/// that is not counted.
pub(crate) const FREE: usize = 16 << 10;

/// A number of bytes that callers share. A tenant may have a quarter, tenants together seven
/// eighths. What is larger than that is let through alone.
pub(crate) struct Budget {
    most: usize,
    used: Mutex<Used>,
}

#[derive(Default)]
struct Used {
    all: usize,
    by: HashMap<Option<String>, usize>,
}

/// Bytes in use, until it is dropped.
pub(crate) struct Charge {
    budget: Arc<Budget>,
    caller: Caller,
    bytes: usize,
}

impl Budget {
    pub(crate) fn new(most: usize) -> Arc<Budget> {
        Arc::new(Budget { most, used: Mutex::new(Used::default()) })
    }

    /// A charge of a caller, of no bytes yet.
    pub(crate) fn charge(self: &Arc<Budget>, caller: &Caller) -> Charge {
        Charge { budget: self.clone(), caller: caller.clone(), bytes: 0 }
    }

    /// Whether a caller may use more.
    pub(crate) fn is_open(&self, caller: &Caller) -> bool {
        self.fits(&self.lock(), caller, 1)
    }

    fn fits(&self, used: &Used, caller: &Caller, bytes: usize) -> bool {
        let own = used.by.get(&caller.tenant).copied().unwrap_or(0);
        let (share, together) = match caller.tenant {
            None => (self.most, self.most),
            Some(_) => (self.most / 4, self.most / 8 * 7),
        };
        (own == 0 || own + bytes <= share) && (used.all == 0 || used.all + bytes <= together)
    }

    fn lock(&self) -> MutexGuard<'_, Used> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Charge {
    /// Uses more, if the caller may.
    pub(crate) fn try_add(&mut self, bytes: usize) -> bool {
        let mut used = self.budget.lock();
        let fits = self.budget.fits(&used, &self.caller, bytes);
        if fits {
            used.add(&self.caller, bytes);
            self.bytes += bytes;
        }
        fits
    }

    /// Uses more, whatever is in use.
    pub(crate) fn add(&mut self, bytes: usize) {
        self.budget.lock().add(&self.caller, bytes);
        self.bytes += bytes;
    }
}

impl Used {
    fn add(&mut self, caller: &Caller, bytes: usize) {
        self.all += bytes;
        *self.by.entry(caller.tenant.clone()).or_default() += bytes;
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        if self.bytes == 0 {
            return;
        }
        let mut used = self.budget.lock();
        used.all -= self.bytes;
        if let Some(own) = used.by.get_mut(&self.caller.tenant) {
            *own -= self.bytes;
            if *own == 0 {
                used.by.remove(&self.caller.tenant);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenant_has_a_quarter_and_the_operator_the_rest() {
        let budget = Budget::new(800);
        let of = |name: &str| Caller { tenant: Some(name.to_string()) };
        let mut a = budget.charge(&of("a"));
        assert!(a.try_add(150) && !a.try_add(51) && a.try_add(50) && !budget.is_open(&of("a")));
        let others: Vec<_> = ["b", "c", "d"]
            .iter()
            .map(|name| {
                let mut charge = budget.charge(&of(name));
                (charge.try_add(180), charge)
            })
            .collect();
        assert_eq!(others.iter().filter(|(fits, _)| *fits).count(), 2);
        let mut operator = budget.charge(&Caller::OPERATOR);
        assert!(operator.try_add(240) && !operator.try_add(1));
        drop(a);
        assert!(budget.is_open(&of("a")));
        drop((others, operator));
        assert!(budget.lock().by.is_empty() && budget.lock().all == 0);
        // What is larger than all comes through alone.
        let mut large = budget.charge(&of("a"));
        assert!(large.try_add(5000) && !large.try_add(1));
        assert!(!budget.charge(&of("b")).try_add(1));
    }
}
