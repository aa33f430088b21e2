//! The election of the active replica.
//!
//! The Lease only saves work: placements stay correct even if two replicas act at the same time.
//! Clocks are not compared. A replica takes the Lease if it has not changed for its whole duration
//! by the replica's own clock.

use std::sync::Arc;
use std::time::{Duration, Instant};

use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use k8s_openapi::jiff::Timestamp;
use kube::Client;
use serde_json::json;
use tokio::sync::watch;

use crate::client::log;
use crate::page::Health;
use crate::write::{LEASE, NAMESPACE, WriteError, Writer};

/// The time before an unrenewed Lease expires.
const LEASE_DURATION: Duration = Duration::from_secs(15);
/// The time between renewals of the Lease by its holder.
const RENEW_INTERVAL: Duration = Duration::from_secs(5);
/// The time between turns.
const TURN_INTERVAL: Duration = Duration::from_secs(2);
/// The time before the next turn after a failure.
const RETRY_PERIOD: Duration = Duration::from_secs(1);

/// The state of the Lease as observed by a replica.
#[derive(Debug, Default)]
struct Election {
    own: String,
    lease: Option<Lease>,
    /// The time when the Lease last changed.
    changed_at: Option<Instant>,
    renewed_at: Option<Instant>,
}

impl Election {
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

    fn holds(&self) -> bool {
        self.holder() == Some(&self.own)
    }

    /// Returns true if this replica is active.
    fn is_leader(&self, now: Instant) -> bool {
        self.holds() && self.renewed_at.is_some_and(|at| now < at + LEASE_DURATION)
    }

    /// Returns true if this replica must acquire or renew the Lease now.
    fn is_due(&self, now: Instant) -> bool {
        match (self.changed_at, self.holder()) {
            // The Lease has not been read yet.
            (None, _) => false,
            (_, Some(holder)) if holder == self.own => {
                self.renewed_at.is_none_or(|at| now >= at + RENEW_INTERVAL)
            }
            (Some(changed_at), Some(_)) => now >= changed_at + LEASE_DURATION,
            (_, None) => true,
        }
    }

    /// Returns the Lease as held by this replica.
    fn held(&self) -> Lease {
        let mut lease = self.lease.clone().unwrap_or_default();
        lease.metadata.name = Some(LEASE.to_string());
        lease.metadata.namespace = Some(NAMESPACE.to_string());
        let is_taken = self.lease.is_some() && !self.holds();
        let before = lease.spec.and_then(|spec| spec.lease_transitions).unwrap_or(0);
        lease.spec = Some(LeaseSpec {
            holder_identity: Some(self.own.clone()),
            lease_duration_seconds: Some(LEASE_DURATION.as_secs() as i32),
            lease_transitions: Some(before.saturating_add(is_taken.into())),
            renew_time: Some(MicroTime(Timestamp::now())),
            ..LeaseSpec::default()
        });
        lease
    }

    /// Reads the Lease unless this replica holds it, and acquires or renews it if due.
    async fn take_turn(&mut self, writer: &Writer) -> Result<(), WriteError> {
        if !self.holds() {
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
                // Another replica was faster, which is normal.
                let lease = writer.lease().await?;
                self.observe(lease, Instant::now());
                Ok(())
            }
            Err(error) => Err(error),
        }
    }
}

/// Takes part in the election until the receiver is dropped, and reports whether this replica is
/// active.
pub(crate) fn run(client: Client, own: String, health: Arc<Health>) -> watch::Receiver<bool> {
    let (sender, receiver) = watch::channel(false);
    tokio::spawn(async move {
        let writer = Writer::new(client);
        let mut election = Election { own, ..Election::default() };
        while !sender.is_closed() {
            let turn = election.take_turn(&writer).await;
            let is_leader = election.is_leader(Instant::now());
            sender.send_if_modified(|old| std::mem::replace(old, is_leader) != is_leader);
            let pause = if turn.is_ok() { TURN_INTERVAL } else { RETRY_PERIOD };
            note_fault(&health, turn.err().map(|error| error.to_string()));
            tokio::time::sleep(pause).await;
        }
    });
    receiver
}

/// Records why the Lease cannot be read or written, and logs the reason if it is new.
fn note_fault(health: &Health, fault: Option<String>) {
    let mut known = health.faults();
    if let Some(why) = fault.as_ref().filter(|_| known.lease != fault) {
        let more = json!({ "namespace": NAMESPACE, "name": LEASE, "why": why });
        log("warn", "cannot get the Lease", more);
    }
    known.lease = fault;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lease(holder: &str, version: u32) -> Option<Lease> {
        let value = serde_json::json!({
            "metadata": { "resourceVersion": version.to_string() },
            "spec": { "holderIdentity": holder, "leaseTransitions": 4 },
        });
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn a_lease_is_taken_when_it_has_not_changed_for_as_long_as_it_lasts() {
        let mut election = Election { own: "a".into(), ..Election::default() };
        let start = Instant::now();
        assert!(!election.is_due(start), "it was not read yet");
        election.observe(lease("b", 7), start);
        assert!(!election.is_due(start + LEASE_DURATION / 3));
        election.observe(lease("b", 8), start + LEASE_DURATION / 2);
        election.observe(lease("b", 8), start + LEASE_DURATION);
        assert!(!election.is_due(start + LEASE_DURATION * 4 / 3));
        assert!(election.is_due(start + LEASE_DURATION * 3 / 2));
        assert!(!election.is_leader(start + LEASE_DURATION * 3 / 2));
        assert_eq!(election.held().spec.unwrap().lease_transitions, Some(5));
    }

    #[test]
    fn a_holder_renews_and_stops_when_it_cannot() {
        let mut election = Election { own: "a".into(), ..Election::default() };
        let start = Instant::now();
        election.observe(None, start);
        assert!(election.is_due(start));
        assert_eq!(election.held().spec.unwrap().lease_transitions, Some(0), "it is new");
        election.renewed_at = Some(start);
        election.observe(lease("a", 1), start);
        assert!(election.is_leader(start + RENEW_INTERVAL));
        assert!(!election.is_due(start));
        assert!(election.is_due(start + RENEW_INTERVAL));
        assert_eq!(election.held().spec.unwrap().lease_transitions, Some(4));
        assert!(!election.is_leader(start + LEASE_DURATION));
        // A released Lease is taken immediately.
        election.observe(lease("", 2), start + LEASE_DURATION);
        assert!(election.is_due(start + LEASE_DURATION));
    }
}
