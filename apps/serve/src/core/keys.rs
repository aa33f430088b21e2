//! Replies that clients may ask for again, the youngest of them.

use std::collections::{HashMap, VecDeque};

use super::{KeptReply, Reply, ServiceLimits};

/// How long a reply is kept, in milliseconds: a day.
const KEEP_MS: u64 = 24 * 3600 * 1000;

/// Kept replies by tenant and key. Bounded by age, by number and by bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Keys {
    known: HashMap<(String, String), (u64, Reply)>,
    /// In the order in which they were made, with the time.
    order: VecDeque<(u64, (String, String))>,
    /// The bytes of all bodies.
    bytes: usize,
}

impl Keys {
    /// The digest of the command and the reply, if the key is known.
    pub(crate) fn get(&self, tenant: &str, key: &str) -> Option<(u64, &Reply)> {
        let found = self.known.get(&(tenant.to_string(), key.to_string()));
        found.map(|(digest, reply)| (*digest, reply))
    }

    /// Keeps a reply, and forgets those that are too old or too many.
    pub(crate) fn keep(&mut self, now_ms: u64, kept: &KeptReply, limits: &ServiceLimits) {
        let name = (kept.tenant.clone(), kept.key.clone());
        let reply = Reply { status: kept.status, body: kept.body.clone() };
        self.bytes += kept.body.len();
        match self.known.insert(name.clone(), (kept.digest, reply)) {
            None => self.order.push_back((now_ms, name)),
            Some((_, old)) => self.bytes -= old.body.len(),
        }
        while let Some((at, name)) = self.order.front() {
            let few = self.order.len() <= limits.keys && self.bytes <= limits.key_bytes;
            if few && at + KEEP_MS > now_ms {
                break;
            }
            if let Some((_, reply)) = self.known.remove(name) {
                self.bytes -= reply.body.len();
            }
            self.order.pop_front();
        }
    }

    /// All of them in the order in which they were made, with the time.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, KeptReply)> + '_ {
        self.order.iter().map(|(at, name)| {
            let (digest, reply) = &self.known[name];
            let kept = KeptReply {
                tenant: name.0.clone(),
                key: name.1.clone(),
                digest: *digest,
                status: reply.status,
                body: reply.body.clone(),
            };
            (*at, kept)
        })
    }
}
