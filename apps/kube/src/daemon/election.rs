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
use tokio::task::JoinHandle;
use tokio::time::{sleep_until, timeout, timeout_at};

use crate::health::Health;
use crate::log::log;
use crate::write::{LEASE, NAMESPACE, WriteError, Writer};

/// The time after which a Lease expires unless it is renewed.
const LEASE_DURATION: Duration = Duration::from_secs(15);
/// The minimum time between renewals of the Lease by the replica that holds it.
const RENEW_INTERVAL: Duration = Duration::from_secs(5);
/// The time between attempts to acquire or renew the Lease.
const TURN_INTERVAL: Duration = Duration::from_secs(2);
/// The delay before the next attempt after a failure.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);

/// The Lease as a replica last read it.
#[derive(Debug)]
struct Observation {
    /// The Lease, or `None` if it does not exist.
    lease: Option<Lease>,
    /// The time at which the replica first read this version.
    changed_at: Instant,
}

/// A replica that takes part in the election.
#[derive(Debug, Default)]
struct Candidate {
    /// The name under which the replica holds the Lease.
    identity: String,
    /// The Lease, or `None` until it has been read.
    observation: Option<Observation>,
    /// A time just before the last successful renewal was sent, so that this replica's Lease
    /// expires before another replica takes it over.
    renewed_at: Option<Instant>,
}

impl Candidate {
    fn observe(&mut self, lease: Option<Lease>, now: Instant) {
        let version = |lease: &Option<Lease>| lease.as_ref()?.metadata.resource_version.clone();
        let before = self.observation.take();
        let same = before.filter(|before| version(&before.lease) == version(&lease));
        let changed_at = same.map_or(now, |before| before.changed_at);
        self.observation = Some(Observation { lease, changed_at });
    }

    fn lease(&self) -> Option<&Lease> {
        self.observation.as_ref()?.lease.as_ref()
    }

    /// Returns the holder, or `None` if the Lease does not exist or was released.
    fn holder(&self) -> Option<&str> {
        let holder = self.lease()?.spec.as_ref()?.holder_identity.as_deref();
        holder.filter(|holder| !holder.is_empty())
    }

    fn is_holder(&self) -> bool {
        self.holder() == Some(&self.identity)
    }

    /// Returns the time at which this replica's Lease expires, if it holds an unexpired one.
    fn expires_at(&self, now: Instant) -> Option<Instant> {
        let expires_at = self.renewed_at.filter(|_| self.is_holder())? + LEASE_DURATION;
        Some(expires_at).filter(|at| now < *at)
    }

    /// Returns true if this replica holds an unexpired Lease.
    fn is_leader(&self, now: Instant) -> bool {
        self.expires_at(now).is_some()
    }

    /// Returns true if this replica should try to acquire or renew the Lease now.
    fn is_due(&self, now: Instant) -> bool {
        let Some(Observation { changed_at, .. }) = &self.observation else { return false };
        match self.holder() {
            Some(holder) if holder == self.identity => {
                self.renewed_at.is_none_or(|at| now >= at + RENEW_INTERVAL)
            }
            Some(_) => now >= *changed_at + LEASE_DURATION,
            None => true,
        }
    }

    /// Returns the Lease with this replica as its holder.
    fn held(&self) -> Lease {
        let mut lease = self.lease().cloned().unwrap_or_default();
        lease.metadata.name = Some(LEASE.to_string());
        lease.metadata.namespace = Some(NAMESPACE.to_string());
        let changes_holder = self.lease().is_some() && !self.is_holder();
        let before = lease.spec.unwrap_or_default();
        let transitions = before.lease_transitions.unwrap_or(0);
        let now = MicroTime(Timestamp::now());
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

    /// Reads the Lease unless this replica holds it, and acquires or renews the Lease when due.
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
                // Another replica acquired the Lease first, which is expected.
                let lease = writer.lease().await?;
                self.observe(lease, Instant::now());
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// Runs one turn of the election. If this replica is active, the turn times out when its Lease
    /// expires.
    async fn take_turn(&mut self, writer: &Writer) -> Result<(), WriteError> {
        let expires_at = self.expires_at(Instant::now());
        let turn = self.try_acquire_or_renew(writer);
        match expires_at {
            Some(at) => timeout_at(at.into(), turn).await.unwrap_or(Err(WriteError::Unavailable)),
            None => turn.await,
        }
    }

    /// Takes election turns in a loop, and reports whether this replica is active.
    async fn run(&mut self, writer: &Writer, sender: &watch::Sender<bool>, health: &Health) {
        loop {
            let turn = self.take_turn(writer).await;
            self.report(sender);
            let pause = if turn.is_ok() { TURN_INTERVAL } else { RETRY_INTERVAL };
            note_fault(health, turn.err().map(|error| error.to_string()));
            let next = Instant::now() + pause;
            if let Some(at) = self.expires_at(Instant::now()).filter(|at| *at < next) {
                sleep_until(at.into()).await;
                self.report(sender);
            }
            sleep_until(next.into()).await;
        }
    }

    fn report(&self, sender: &watch::Sender<bool>) {
        let is_leader = self.is_leader(Instant::now());
        sender.send_if_modified(|old| std::mem::replace(old, is_leader) != is_leader);
    }

    /// Releases the Lease if this replica is active. If that fails, the Lease expires on its own.
    async fn release(&self, writer: &Writer) {
        let is_leader = self.is_leader(Instant::now());
        let Some(mut lease) = self.lease().filter(|_| is_leader).cloned() else { return };
        if let Some(spec) = &mut lease.spec {
            spec.holder_identity = None;
        }
        let _ = timeout(TURN_INTERVAL, writer.write_lease(&lease)).await;
    }
}

/// An election in which this replica takes part.
pub(super) struct Election {
    /// True while this replica is active.
    pub(super) is_leader: watch::Receiver<bool>,
    task: JoinHandle<()>,
}

impl Election {
    pub(super) fn start(client: Client, identity: String, health: Arc<Health>) -> Election {
        let (sender, is_leader) = watch::channel(false);
        let task = tokio::spawn(async move {
            let writer = Writer::new(client);
            let mut candidate = Candidate { identity, ..Candidate::default() };
            tokio::select! {
                () = candidate.run(&writer, &sender, &health) => {}
                () = sender.closed() => {}
            }
            candidate.release(&writer).await;
        });
        Election { is_leader, task }
    }

    /// Withdraws from the election, so that another replica can take over before the Lease expires.
    /// All other receivers must have been dropped.
    pub(super) async fn end(self) {
        drop(self.is_leader);
        let _ = self.task.await;
    }
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
    use std::sync::Mutex;

    use serde_json::Value;

    use super::*;
    use crate::daemon::stub_server::{Reply, Request, StubServer};

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
        // A released Lease is acquired immediately.
        candidate.observe(lease("", 2), start + LEASE_DURATION);
        assert!(candidate.is_due(start + LEASE_DURATION));
    }

    /// Emulates how the API server stores the Lease.
    fn store(stored: &mut Option<Value>, request: &Request) -> Reply {
        let version = |lease: &Value| lease["metadata"]["resourceVersion"].clone();
        let old = stored.as_ref().map_or(Value::Null, version);
        if request.method == "GET" {
            return stored.clone().map_or_else(|| Reply::error(404, "not found"), Reply::ok);
        }
        if version(&request.body) != old {
            return Reply::error(409, "the Lease has changed");
        }
        let mut lease = request.body.clone();
        let next = old.as_str().map_or(0, |old| old.parse().unwrap()) + 1;
        lease["metadata"]["resourceVersion"] = json!(next.to_string());
        Reply::ok(stored.insert(lease).clone())
    }

    #[tokio::test]
    async fn a_replica_that_ends_releases_the_lease() {
        let mut stored = None;
        let server = StubServer::start(move |request| store(&mut stored, request)).await;
        for name in ["a", "b"] {
            let (client, health) = (server.client.clone(), Arc::default());
            let mut election = Election::start(client, name.to_string(), health);
            let elected = election.is_leader.wait_for(|is_leader| *is_leader);
            let elected = timeout(LEASE_DURATION / 2, elected).await;
            assert!(elected.is_ok(), "{name} does not wait until the Lease expires");
            drop(elected);
            election.end().await;
        }
        let last = server.requests("leases").pop().unwrap();
        assert_eq!(last.body["spec"]["holderIdentity"], Value::Null);
        assert_eq!(last.body["spec"]["leaseTransitions"], 1);
    }

    #[tokio::test]
    async fn a_replica_that_is_slower_than_another_follows_it() {
        let mut stored = None;
        let mut is_first = true;
        let server = StubServer::start(move |request| {
            if std::mem::take(&mut is_first) {
                let reply = store(&mut stored, request);
                stored = lease("b", 3).map(|lease| json!(lease));
                return reply;
            }
            store(&mut stored, request)
        })
        .await;
        let mut candidate = Candidate { identity: "a".into(), ..Candidate::default() };
        assert!(candidate.take_turn(&server.writer()).await.is_ok());
        let methods = server.requests("leases").into_iter().map(|request| request.method);
        assert_eq!(methods.collect::<Vec<_>>(), ["GET", "POST", "GET"]);
        assert_eq!(candidate.holder(), Some("b"));
        assert!(!candidate.is_leader(Instant::now()));
    }

    #[tokio::test]
    async fn a_holder_renews_again_after_a_reply_is_lost() {
        let is_lossy = Arc::new(Mutex::new(false));
        let (is_losing, mut stored) = (Arc::clone(&is_lossy), None);
        let server = StubServer::start(move |request| {
            let reply = store(&mut stored, request);
            let is_lost = std::mem::take(&mut *is_losing.lock().unwrap());
            if is_lost { Reply::error(500, "lost") } else { reply }
        })
        .await;
        let (writer, start) = (server.writer(), Instant::now());
        let mut candidate = Candidate { identity: "a".into(), ..Candidate::default() };
        candidate.take_turn(&writer).await.unwrap();
        *is_lossy.lock().unwrap() = true;
        let before = start.checked_sub(RENEW_INTERVAL);
        candidate.renewed_at = before;
        assert!(candidate.take_turn(&writer).await.is_err());
        assert!(candidate.is_leader(Instant::now()), "the Lease has not expired");
        // The first turn reads the stored Lease, and the second one renews it.
        candidate.take_turn(&writer).await.unwrap();
        assert_eq!(candidate.renewed_at, before);
        candidate.take_turn(&writer).await.unwrap();
        assert!(candidate.renewed_at > before);
    }

    #[tokio::test]
    async fn a_renewal_ends_when_the_lease_expires() {
        let server = StubServer::start(|_| Reply::Silence).await;
        let now = Instant::now();
        let renewed_at = now.checked_sub(LEASE_DURATION.mul_f64(0.995));
        let mut candidate = Candidate { identity: "a".into(), renewed_at, ..Candidate::default() };
        candidate.observe(lease("a", 1), now);
        assert!(candidate.is_leader(now));
        let writer = server.writer();
        let turn = timeout(LEASE_DURATION / 3, candidate.take_turn(&writer)).await;
        assert!(matches!(turn, Ok(Err(WriteError::Unavailable))), "{turn:?}");
        assert!(!candidate.is_leader(Instant::now()));
    }
}
