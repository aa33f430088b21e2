//! Leases that have ended, which are remembered for a while so that their former holders can be
//! distinguished from strangers.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

/// The maximum number of leases to remember.
const MOST: usize = 10_000;

/// The most recently ended leases. If there are too many, the oldest lease of the tenant with the
/// most is forgotten, so no tenant displaces the leases of tenants with fewer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ended {
    /// Leases and their tenants, in the order in which the leases ended.
    order: BTreeMap<u64, (u64, String)>,
    next: u64,
    leases: HashMap<u64, u64>,
    /// The positions in `order`, by tenant, and the tenants by number of leases.
    shares: HashMap<String, VecDeque<u64>>,
    by_count: BTreeSet<(usize, String)>,
}

impl Ended {
    /// Remembers the end of a lease.
    pub(crate) fn add(&mut self, id: u64, tenant: String) {
        let place = self.next;
        self.next += 1;
        self.change(&tenant, |share| share.push_back(place));
        self.leases.insert(id, place);
        self.order.insert(place, (id, tenant));
        if self.order.len() > MOST {
            let (_, most) = self.by_count.last().cloned().expect("there are some");
            let oldest = self.change(&most, |share| share.pop_front().expect("it has the most"));
            if let Some((id, _)) = self.order.remove(&oldest)
                && self.leases.get(&id) == Some(&oldest)
            {
                self.leases.remove(&id);
            }
        }
    }

    fn change<T>(&mut self, tenant: &str, change: impl FnOnce(&mut VecDeque<u64>) -> T) -> T {
        let share = self.shares.entry(tenant.to_string()).or_default();
        self.by_count.remove(&(share.len(), tenant.to_string()));
        let result = change(share);
        if share.is_empty() {
            self.shares.remove(tenant);
        } else {
            self.by_count.insert((share.len(), tenant.to_string()));
        }
        result
    }

    /// Returns the tenant of a lease that has ended, if it is remembered.
    pub(crate) fn tenant(&self, id: u64) -> Option<&str> {
        let place = self.leases.get(&id)?;
        self.order.get(place).map(|(_, tenant)| tenant.as_str())
    }

    /// Returns the leases and their tenants, in the order in which the leases ended.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, &str)> {
        self.order.values().map(|(id, tenant)| (*id, tenant.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_pushes_out_the_ends_of_others() {
        let mut ended = Ended::default();
        (0..100).for_each(|id| ended.add(id, "b".to_string()));
        (100..50_000).for_each(|id| ended.add(id, "a".to_string()));
        assert!((0..100).all(|id| ended.tenant(id) == Some("b")));
        assert_eq!(ended.iter().count(), MOST);
        assert_eq!((ended.tenant(100), ended.tenant(49_999)), (None, Some("a")));
    }
}
