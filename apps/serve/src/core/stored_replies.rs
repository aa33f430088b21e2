//! Stored replies for clients that retry requests. The replies' age, number and total size are
//! limited ([`Shares`]).

use std::collections::HashMap;

use super::shares::Shares;
use super::{FormattedReply, ServiceLimits, StoredReply};

/// The lifetime of a stored reply, in milliseconds: one day.
const LIFETIME_MS: u64 = 24 * 3600 * 1000;
/// The maximum total size of stored replies, in bytes.
const MAX_BYTES: usize = 64 << 20;
/// The approximate overhead of a stored reply in bytes: names, numbers and table entries.
const OVERHEAD_BYTES: usize = 256;

/// Stored replies by tenant and key.
#[derive(Clone, Debug, Default)]
pub(crate) struct StoredReplies {
    /// The replies with their times, oldest first. Each reply has two amounts: 1 and its size.
    replies: Shares<String, (u64, StoredReply), 2>,
    /// The number of each reply, by tenant and key.
    numbers: HashMap<(String, String), u64>,
}

impl StoredReplies {
    /// Returns the command digest and the reply that are stored under a key, unless they have
    /// expired.
    pub(crate) fn get(
        &self,
        now_ms: u64,
        tenant: &str,
        key: &str,
    ) -> Option<(u64, Result<FormattedReply, String>)> {
        let number = self.numbers.get(&(tenant.to_string(), key.to_string()))?;
        let (_, (_, stored)) =
            self.replies.get(*number).filter(|(_, (at, _))| !has_expired(*at, now_ms))?;
        let reply = stored.body.read().map(|body| FormattedReply { status: stored.status, body });
        Some((stored.digest, reply))
    }

    /// Evicts expired replies, stores a reply, and evicts old replies if the limits are exceeded.
    pub(crate) fn add(&mut self, now_ms: u64, reply: &StoredReply, limits: &ServiceLimits) {
        while let Some((number, _, &(at, _))) = self.replies.first()
            && has_expired(at, now_ms)
        {
            let removed = self.replies.remove(number);
            self.forget(removed);
        }
        let name = (reply.tenant.clone(), reply.key.clone());
        // A command with a known key is not executed again, so a key never gets a second reply.
        if !self.numbers.contains_key(&name) {
            let (tenant, amounts) = (reply.tenant.clone(), [1, size(reply)]);
            self.numbers.insert(name, self.replies.add(tenant, amounts, (now_ms, reply.clone())));
        }
        for (amount, most) in [limits.keys, MAX_BYTES].into_iter().enumerate() {
            while self.replies.total()[amount] > most {
                let removed = self.replies.remove_from_largest(amount);
                self.forget(removed);
            }
        }
    }

    /// Forgets a removed reply's key.
    fn forget(&mut self, removed: Option<(String, (u64, StoredReply))>) {
        let (tenant, (_, reply)) = removed.expect("the removed reply was stored");
        self.numbers.remove(&(tenant, reply.key));
    }

    /// Returns all replies with their times, oldest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, StoredReply)> + '_ {
        self.replies.iter().map(|(_, _, reply)| reply.clone())
    }
}

/// Returns true if a reply stored at the given time has expired.
fn has_expired(at_ms: u64, now_ms: u64) -> bool {
    at_ms.saturating_add(LIFETIME_MS) <= now_ms
}

/// Returns the size that counts against the limits, in bytes.
fn size(reply: &StoredReply) -> usize {
    reply.body.stored_bytes() + reply.key.len() + reply.tenant.len() + OVERHEAD_BYTES
}
