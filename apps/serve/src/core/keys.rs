//! Stored replies for clients that repeat a request, limited by age, number and size ([`Shares`]).

use std::collections::HashMap;

use super::shares::Shares;
use super::{KeptReply, ServiceLimits, Written};

/// The lifetime of a stored reply, in milliseconds: one day.
const KEEP_MS: u64 = 24 * 3600 * 1000;
/// The approximate overhead of a stored reply in bytes: names, numbers and table entries.
const OVERHEAD: usize = 256;

/// Stored replies by tenant and key.
#[derive(Clone, Debug, Default)]
pub(crate) struct Keys {
    /// The replies with their times, oldest first. The amounts are their number and size.
    replies: Shares<String, (u64, KeptReply), 2>,
    /// The number of each reply, by tenant and key.
    known: HashMap<(String, String), u64>,
}

/// Returns the size that counts against the limits, in bytes.
fn size(kept: &KeptReply) -> usize {
    kept.body.len() + kept.key.len() + kept.tenant.len() + OVERHEAD
}

impl Keys {
    /// Returns the command's digest and the reply, if the key is known.
    pub(crate) fn get(&self, tenant: &str, key: &str) -> Option<(u64, Result<Written, String>)> {
        let number = self.known.get(&(tenant.to_string(), key.to_string()))?;
        let (_, (_, kept)) = self.replies.get(*number)?;
        let reply = kept.body.read().map(|body| Written { status: kept.status, body });
        Some((kept.digest, reply))
    }

    /// Stores a reply and removes excess ones.
    pub(crate) fn keep(&mut self, now_ms: u64, kept: &KeptReply, limits: &ServiceLimits) {
        let name = (kept.tenant.clone(), kept.key.clone());
        // A command with a known key is not decided again, so each key has one reply.
        if !self.known.contains_key(&name) {
            let (tenant, amounts) = (kept.tenant.clone(), [1, size(kept)]);
            self.known.insert(name, self.replies.add(tenant, amounts, (now_ms, kept.clone())));
        }
        let old = |replies: &Shares<_, (u64, _), 2>| {
            let (number, _, (at, _)) = replies.first()?;
            (at.saturating_add(KEEP_MS) <= now_ms).then_some(number)
        };
        while let Some(number) = old(&self.replies) {
            let removed = self.replies.remove(number);
            self.forget(removed);
        }
        for (amount, most) in [limits.keys, limits.key_bytes].into_iter().enumerate() {
            while self.replies.total()[amount] > most {
                let removed = self.replies.remove_from_largest(amount);
                self.forget(removed);
            }
        }
    }

    /// Forgets the key of a removed reply.
    fn forget(&mut self, removed: Option<(String, (u64, KeptReply))>) {
        let (tenant, (_, kept)) = removed.expect("the removed reply was stored");
        self.known.remove(&(tenant, kept.key));
    }

    /// Returns all replies with their times, oldest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, KeptReply)> + '_ {
        self.replies.iter().map(|(_, _, reply)| reply.clone())
    }
}
