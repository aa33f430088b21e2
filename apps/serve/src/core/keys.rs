//! Stored replies, for clients that repeat a request. They are limited by age, number and size. If
//! there are too many or they are too large, the tenant with the most loses its oldest reply. Each
//! of T tenants thus keeps at least a T-th of the total, because tenants with more lose replies
//! first.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::{KeptReply, ServiceLimits, Written};

/// The lifetime of a stored reply, in milliseconds: one day.
const KEEP_MS: u64 = 24 * 3600 * 1000;
/// The approximate overhead of a stored reply in bytes: names, numbers and table entries.
const OVERHEAD: usize = 256;

/// Stored replies by tenant and key.
#[derive(Clone, Debug, Default)]
pub(crate) struct Keys {
    /// The replies of each tenant.
    shares: HashMap<String, Share>,
    /// The time, tenant and key of each reply, in order of creation.
    order: BTreeMap<u64, (u64, String, String)>,
    /// The next key in `order`.
    next: u64,
    /// The total size of the replies in bytes.
    bytes: usize,
    /// Tenants by the number and by the total size of their replies.
    by_count: BTreeSet<(usize, String)>,
    by_bytes: BTreeSet<(usize, String)>,
}

/// The replies of one tenant.
#[derive(Clone, Debug, Default)]
struct Share {
    known: HashMap<String, KeptReply>,
    /// The positions of the replies in the common order.
    order: BTreeSet<u64>,
    bytes: usize,
}

/// Returns the number of bytes counted for a reply.
fn size(kept: &KeptReply) -> usize {
    kept.body.len() + kept.key.len() + kept.tenant.len() + OVERHEAD
}

impl Keys {
    /// Returns the digest of the command and the reply, if the key is known.
    pub(crate) fn get(&self, tenant: &str, key: &str) -> Option<(u64, Result<Written, String>)> {
        let kept = self.shares.get(tenant)?.known.get(key)?;
        let reply = kept.body.read().map(|body| Written { status: kept.status, body });
        Some((kept.digest, reply))
    }

    /// Stores a reply, and removes replies that are too old or too many.
    pub(crate) fn keep(&mut self, now_ms: u64, kept: &KeptReply, limits: &ServiceLimits) {
        self.add(now_ms, kept);
        while let Some((&number, &(at, ..))) = self.order.first_key_value()
            && at.saturating_add(KEEP_MS) <= now_ms
        {
            self.forget(number);
        }
        while self.order.len() > limits.keys {
            self.forget_of(self.by_count.last().cloned());
        }
        while self.bytes > limits.key_bytes && !self.order.is_empty() {
            self.forget_of(self.by_bytes.last().cloned());
        }
    }

    fn add(&mut self, now_ms: u64, kept: &KeptReply) {
        // A key identifies one reply, because a command with a known key is not decided twice.
        if self.shares.get(&kept.tenant).is_some_and(|share| share.known.contains_key(&kept.key)) {
            return;
        }
        let (number, bytes) = (self.next, size(kept));
        self.next += 1;
        self.change(&kept.tenant, |share| {
            share.known.insert(kept.key.clone(), kept.clone());
            share.order.insert(number);
            share.bytes += bytes;
        });
        self.order.insert(number, (now_ms, kept.tenant.clone(), kept.key.clone()));
        self.bytes += bytes;
    }

    /// Removes a tenant's oldest reply.
    fn forget_of(&mut self, most: Option<(usize, String)>) {
        let oldest = most.and_then(|(_, tenant)| self.shares[&tenant].order.first().copied());
        self.forget(oldest.expect("a tenant with replies has an oldest reply"));
    }

    fn forget(&mut self, number: u64) {
        let (_, tenant, key) = self.order.remove(&number).expect("it is one of them");
        let mut bytes = 0;
        self.change(&tenant, |share| {
            share.order.remove(&number);
            bytes = share.known.remove(&key).as_ref().map_or(0, size);
            share.bytes -= bytes;
        });
        self.bytes -= bytes;
    }

    /// Changes a tenant's share, and updates its rank among the tenants.
    fn change(&mut self, tenant: &str, change: impl FnOnce(&mut Share)) {
        let share = self.shares.entry(tenant.to_string()).or_default();
        let before = (share.order.len(), share.bytes);
        change(share);
        let after = (share.order.len(), share.bytes);
        self.by_count.remove(&(before.0, tenant.to_string()));
        self.by_bytes.remove(&(before.1, tenant.to_string()));
        if after.0 == 0 {
            self.shares.remove(tenant);
        } else {
            self.by_count.insert((after.0, tenant.to_string()));
            self.by_bytes.insert((after.1, tenant.to_string()));
        }
    }

    /// Returns all replies in order of creation, with their times.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, KeptReply)> + '_ {
        self.order.values().map(|(at, tenant, key)| (*at, self.shares[tenant].known[key].clone()))
    }
}
