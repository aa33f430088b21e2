//! Elects the active replica.
//!
//! The Lease only avoids duplicate work: placements stay correct even if two replicas act at the
//! same time. Clocks are not compared. A replica takes over the Lease once the Lease has not
//! changed for its full duration, as measured by that replica's own clock.

use std::sync::Arc;
use std::time::{Duration, Instant};

use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use k8s_openapi::jiff::Timestamp;
use kube::Client;
use serde_json::json;
use tokio::sync::watch;

use crate::health::Health;
use crate::log::log;
use crate::write::{LEASE, NAMESPACE, WriteError, Writer};

/// The time after which a Lease expires unless it is renewed.
const LEASE_DURATION: Duration = Duration::from_secs(15);
/// The time between renewals of the Lease by the replica that holds it.
const RENEW_INTERVAL: Duration = Duration::from_secs(5);
/// The time between attempts to acquire or renew the Lease.
const TURN_INTERVAL: Duration = Duration::from_secs(2);
/// The time before the next attempt after a failure.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);

/// The state of the Lease, as a replica observed it.
#[derive(Debug, Default)]
struct Candidate {
    /// The name under which the replica holds the Lease.
    identity: String,
    lease: Option<Lease>,
    changed_at: Option<Instant>,
    /// A time just before the last successful renewal was sent, so that this replica stops before
    /// another one takes over the Lease.
    renewed_at: Option<Instant>,
}

impl Candidate {
    fn observe(&mut self, lease: Option<Lease>, now: Instant) {
        let version = |lease: &Option<Lease>| lease.as_ref()?.metadata.resource_version.clone();
        if self.changed_at.is_none() || version(&lease) != version(&self.lease) {
            self.changed_at = Some(now);
        }
        self.lease = lease;
    }

    /// Returns the holder, or `None` if the Lease was released.
    fn holder(&self) -> Option<&str> {
        let holder = self.lease.as_ref()?.spec.as_ref()?.holder_identity.as_deref();
        holder.filter(|holder| !holder.is_empty())
    }

    fn is_holder(&self) -> bool {
        self.holder() == Some(&self.identity)
    }

    /// Returns true if this replica holds an unexpired Lease.
    fn is_leader(&self, now: Instant) -> bool {
        self.is_holder() && self.renewed_at.is_some_and(|at| now < at + LEASE_DURATION)
    }

    /// Returns true if this replica should try to acquire or renew the Lease now.
    fn is_due(&self, now: Instant) -> bool {
        match (self.changed_at, self.holder()) {
            // The Lease has not been read yet.
            (None, _) => false,
            (_, Some(holder)) if holder == self.identity => {
                self.renewed_at.is_none_or(|at| now >= at + RENEW_INTERVAL)
            }
            (Some(changed_at), Some(_)) => now >= changed_at + LEASE_DURATION,
            (_, None) => true,
        }
    }

    /// Returns the Lease with this replica as its holder.
    fn held(&self) -> Lease {
        let mut lease = self.lease.clone().unwrap_or_default();
        lease.metadata.name = Some(LEASE.to_string());
        lease.metadata.namespace = Some(NAMESPACE.to_string());
        let changes_holder = self.lease.is_some() && !self.is_holder();
        let before = lease.spec.unwrap_or_default();
        let (transitions, now) =
            (before.lease_transitions.unwrap_or(0), MicroTime(Timestamp::now()));
        let acquired = before.acquire_time.filter(|_| self.is_holder());
        lease.spec = Some(LeaseSpec {
            holder_identity: Some(self.identity.clone()),
            lease_duration_seconds: Some(LEASE_DURATION.as_secs() as i32),
            lease_transitions: Some(transitions.saturating_add(changes_holder.into())),
            acquire_time: acquired.or_else(|| Some(now.clone())),
            renew_time: Some(now),
            ..LeaseSpec::default()
        });
        lease
    }

    /// Reads the Lease unless this replica holds it, and acquires or renews it when due.
    async fn try_acquire_or_renew(&mut self, writer: &Writer) -> Result<(), WriteError> {
        if !self.is_holder() {
            let lease = writer.lease().await?;
            self.observe(lease, Instant::now());
        }
        let now = Instant::now();
        if !self.is_due(now) {
            return Ok(());
        }
        match writer.write_lease(&self.held()).await {
            Ok(lease) => {
                self.observe(Some(lease), now);
                self.renewed_at = Some(now);
                Ok(())
            }
            Err(WriteError::Conflict) => {
                // Another replica was faster, which is to be expected.
                let lease = writer.lease().await?;
                self.observe(lease, Instant::now());
                Ok(())
            }
            Err(error) => Err(error),
        }
    }
}

/// Takes part in the election until the receiver is dropped. After each attempt, reports whether
/// this replica is active. A slow request may delay the report until after the Lease expires.
pub(crate) fn run(client: Client, identity: String, health: Arc<Health>) -> watch::Receiver<bool> {
    let (sender, receiver) = watch::channel(false);
    tokio::spawn(async move {
        let writer = Writer::new(client);
        let mut candidate = Candidate { identity, ..Candidate::default() };
        while !sender.is_closed() {
            let turn = candidate.try_acquire_or_renew(&writer).await;
            let is_leader = candidate.is_leader(Instant::now());
            sender.send_if_modified(|old| std::mem::replace(old, is_leader) != is_leader);
            let pause = if turn.is_ok() { TURN_INTERVAL } else { RETRY_INTERVAL };
            note_fault(&health, turn.err().map(|error| error.to_string()));
            tokio::time::sleep(pause).await;
        }
    });
    receiver
}

/// Records why the Lease cannot be read or written, and logs any new reason.
fn note_fault(health: &Health, fault: Option<String>) {
    let before = std::mem::replace(&mut health.faults().lease, fault.clone());
    if let Some(why) = fault.filter(|why| before.as_ref() != Some(why)) {
        let more = json!({ "namespace": NAMESPACE, "name": LEASE, "why": why });
        log("warn", "cannot access the Lease", more);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lease(holder: &str, version: u32) -> Option<Lease> {
        let value = json!({
            "metadata": { "resourceVersion": version.to_string() },
            "spec": {
                "holderIdentity": holder, "leaseTransitions": 4,
                "acquireTime": "1970-01-01T00:00:07.000000Z",
            },
        });
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn an_expired_lease_is_acquired() {
        let mut candidate = Candidate { identity: "a".into(), ..Candidate::default() };
        let start = Instant::now();
        assert!(!candidate.is_due(start), "it has not been read yet");
        candidate.observe(lease("b", 7), start);
        assert!(!candidate.is_due(start + LEASE_DURATION / 3));
        candidate.observe(lease("b", 8), start + LEASE_DURATION / 2);
        candidate.observe(lease("b", 8), start + LEASE_DURATION);
        assert!(!candidate.is_due(start + LEASE_DURATION * 4 / 3));
        assert!(candidate.is_due(start + LEASE_DURATION * 3 / 2));
        assert!(!candidate.is_leader(start + LEASE_DURATION * 3 / 2));
        assert_eq!(candidate.held().spec.unwrap().lease_transitions, Some(5));
        assert_ne!(candidate.held().spec.unwrap().acquire_time.unwrap().0.as_second(), 7);
    }

    #[test]
    fn a_holder_renews_and_stops_after_expiry() {
        let mut candidate = Candidate { identity: "a".into(), ..Candidate::default() };
        let start = Instant::now();
        candidate.observe(None, start);
        assert!(candidate.is_due(start));
        assert_eq!(candidate.held().spec.unwrap().lease_transitions, Some(0), "it is new");
        candidate.renewed_at = Some(start);
        candidate.observe(lease("a", 1), start);
        assert!(candidate.is_leader(start + RENEW_INTERVAL));
        assert!(!candidate.is_due(start));
        assert!(candidate.is_due(start + RENEW_INTERVAL));
        assert_eq!(candidate.held().spec.unwrap().lease_transitions, Some(4));
        assert_eq!(candidate.held().spec.unwrap().acquire_time.unwrap().0.as_second(), 7);
        assert!(!candidate.is_leader(start + LEASE_DURATION));
        // A released Lease is taken immediately.
        candidate.observe(lease("", 2), start + LEASE_DURATION);
        assert!(candidate.is_due(start + LEASE_DURATION));
    }
}
