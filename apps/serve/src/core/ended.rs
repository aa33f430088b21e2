//! Remembers recently ended leases and canceled requests, so that their tenants can learn that they
//! have ended.

use std::collections::HashMap;

use super::shares::Shares;

/// The maximum number of leases to remember.
const MAX_LEASES: usize = 10_000;

/// The most recently ended leases, shared fairly among tenants (see [`Shares`]).
#[derive(Clone, Debug, Default)]
pub(crate) struct Ended {
    /// The ended leases by tenant, in the order in which they ended.
    order: Shares<String, u64, 1>,
    /// The position of each lease in `order`.
    leases: HashMap<u64, u64>,
}

impl Ended {
    pub(crate) fn add(&mut self, id: u64, tenant: String) {
        self.leases.insert(id, self.order.add(tenant, [1], id));
        if self.order.total() > [MAX_LEASES]
            && let Some((_, oldest)) = self.order.remove_from_largest(0)
        {
            self.leases.remove(&oldest);
        }
    }

    /// Returns the tenant that held an ended lease, if the lease is still remembered.
    pub(crate) fn tenant(&self, id: u64) -> Option<&str> {
        let (tenant, _) = self.order.get(*self.leases.get(&id)?)?;
        Some(tenant)
    }

    /// Returns the leases and their tenants, in the order in which the leases ended.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, &str)> {
        self.order.iter().map(|(_, tenant, id)| (*id, tenant.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenant_does_not_displace_the_ended_leases_of_others() {
        let mut ended = Ended::default();
        (0..100).for_each(|id| ended.add(id, "b".to_string()));
        (100..50_000).for_each(|id| ended.add(id, "a".to_string()));
        assert!((0..100).all(|id| ended.tenant(id) == Some("b")));
        assert_eq!(ended.iter().count(), MAX_LEASES);
        assert_eq!((ended.tenant(100), ended.tenant(49_999)), (None, Some("a")));
    }
}
