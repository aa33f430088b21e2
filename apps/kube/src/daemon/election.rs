//! The election of the active replica.
//!
//! The Lease only saves work: placements stay correct even if two replicas act at the same time.
//! Clocks are not compared. A replica takes the Lease if it has not changed for its whole duration
//! by the replica's own clock.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use kube::runtime::WatchStreamExt as _;
use kube::runtime::watcher::{self, Event, watcher};
use kube::{Api, Client};
use pavior::text::shown;
use serde_json::json;
use tokio::sync::watch;

use super::log;
use crate::objects::{LEASE_NAME as NAME, LEASE_TIME as LASTS, Lease, NAMESPACE, Object as _};
use crate::page::Health;
use crate::read::{Delays, WATCH_S};
use crate::write::{WriteError, Writer};

const RENEW: Duration = Duration::from_secs(5);
/// The time between attempts.
const PAUSE: Duration = Duration::from_secs(1);

/// The next step of a replica.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Wait(Duration),
    Create,
    /// Acquires or renews the Lease; `taken` is true if another replica held it.
    Hold {
        taken: bool,
    },
}

/// The state of the Lease as observed by a replica.
#[derive(Debug, Default)]
struct Election {
    own: String,
    lease: Option<Lease>,
    /// The time when the Lease last changed.
    since: Option<Instant>,
    renewed: Option<Instant>,
    tried: Option<Instant>,
}

impl Election {
    fn observe(&mut self, lease: Option<Lease>, now: Instant) {
        let version = |lease: &Option<Lease>| lease.as_ref().map(Lease::version_number);
        if self.since.is_none() || version(&lease) != version(&self.lease) {
            self.since = Some(now);
        }
        self.lease = lease;
    }

    /// Returns whether this replica is active.
    fn leads(&self, now: Instant) -> bool {
        let own = self.lease.as_ref().and_then(Lease::holder) == Some(&self.own);
        own && self.renewed.is_some_and(|at| now < at + LASTS)
    }

    /// Returns the next step; until the Lease has been read, that is to wait.
    fn step(&self, now: Instant) -> Step {
        let Some(since) = self.since else { return Step::Wait(RENEW) };
        let pause =
            self.tried.map_or(Duration::ZERO, |at| (at + PAUSE).saturating_duration_since(now));
        if !pause.is_zero() {
            return Step::Wait(pause);
        }
        let Some(lease) = &self.lease else { return Step::Create };
        let due = match lease.holder() {
            Some(holder) if holder == self.own => self.renewed.map_or(now, |at| at + RENEW),
            Some(_) => since + LASTS,
            None => now,
        };
        match due.saturating_duration_since(now) {
            Duration::ZERO => Step::Hold { taken: lease.holder() != Some(&self.own) },
            wait => Step::Wait(wait),
        }
    }
}

/// Takes part in the election until the receiver is dropped, and reports whether this replica is
/// active.
pub(crate) fn take_part(client: Client, own: String, health: Arc<Health>) -> watch::Receiver<bool> {
    let (sender, receiver) = watch::channel(false);
    tokio::spawn(async move {
        let leases = Api::<Lease>::namespaced(client.clone(), NAMESPACE);
        let only =
            watcher::Config::default().timeout(WATCH_S).fields(&format!("metadata.name={NAME}"));
        let mut events = Box::pin(watcher(leases, only).backoff(Delays::default()));
        let writer = Writer::new(client);
        let mut election = Election { own, ..Election::default() };
        let mut found = None;
        while !sender.is_closed() {
            let now = Instant::now();
            let leads = election.leads(now);
            sender.send_if_modified(|old| std::mem::replace(old, leads) != leads);
            let wait = match election.step(now) {
                Step::Wait(wait) => wait,
                step => {
                    election.tried = Some(now);
                    let seen = election.lease.as_ref().filter(|_| step != Step::Create);
                    let taken = step == Step::Hold { taken: true };
                    let held = writer.hold(seen, &election.own, taken).await;
                    if held.is_ok() {
                        election.renewed = Some(now);
                        election.tried = None;
                    }
                    // A Lease that was just taken, or that another replica has changed.
                    if (held.is_err() || !election.leads(now))
                        && let Ok(lease) = writer.lease().await
                    {
                        election.observe(lease, Instant::now());
                    }
                    let wait = if held.is_ok() { Duration::ZERO } else { PAUSE };
                    // Conflicts with other replicas are normal.
                    if !matches!(held, Err(WriteError::Conflict)) {
                        note_fault(&health, held.err().map(|error| error.to_string()));
                    }
                    wait
                }
            };
            let next = tokio::time::timeout(wait, events.next()).await;
            if let Ok(Some(Ok(Event::Apply(_) | Event::InitDone))) = next {
                note_fault(&health, None);
            }
            match next {
                Ok(Some(Ok(Event::Apply(lease)))) => election.observe(Some(lease), Instant::now()),
                Ok(Some(Ok(Event::Delete(_)))) => election.observe(None, Instant::now()),
                Ok(Some(Ok(Event::Init))) => found = None,
                Ok(Some(Ok(Event::InitApply(lease)))) => found = Some(lease),
                Ok(Some(Ok(Event::InitDone))) => election.observe(found.take(), Instant::now()),
                Ok(None) => return,
                Ok(Some(Err(watcher::Error::WatchError(status)))) if status.code == 410 => {}
                Ok(Some(Err(error))) if election.since.is_none() => {
                    note_fault(&health, Some(shown(&error.to_string()).to_string()));
                }
                Ok(Some(Err(_))) | Err(_) => {}
            }
        }
    });
    receiver
}

/// Records why the Lease cannot be read or written, and logs the reason if it is new.
fn note_fault(health: &Health, fault: Option<String>) {
    let mut known = health.faults();
    if let Some(why) = fault.as_ref().filter(|_| known.lease != fault) {
        let more = json!({ "namespace": NAMESPACE, "name": NAME, "why": why });
        log("warn", "cannot get the Lease", more);
    }
    known.lease = fault;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lease(holder: &str, version: u32) -> Lease {
        let value = serde_json::json!({
            "metadata": { "resourceVersion": version.to_string() },
            "spec": { "holderIdentity": holder },
        });
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn a_lease_is_taken_when_it_has_not_changed_for_as_long_as_it_lasts() {
        let mut election = Election { own: "a".into(), ..Election::default() };
        let start = Instant::now();
        assert_eq!(election.step(start), Step::Wait(RENEW), "it was not read yet");
        election.observe(Some(lease("b", 7)), start);
        assert_eq!(election.step(start + LASTS / 3), Step::Wait(LASTS * 2 / 3));
        election.observe(Some(lease("b", 8)), start + LASTS / 2);
        assert_eq!(election.step(start + LASTS), Step::Wait(LASTS / 2));
        assert_eq!(election.step(start + LASTS * 3 / 2), Step::Hold { taken: true });
        assert!(!election.leads(start + LASTS * 3 / 2));
    }

    #[test]
    fn a_holder_renews_and_stops_when_it_cannot() {
        let mut election = Election { own: "a".into(), ..Election::default() };
        let start = Instant::now();
        election.observe(None, start);
        assert_eq!(election.step(start), Step::Create);
        election.renewed = Some(start);
        election.observe(Some(lease("a", 1)), start);
        assert!(election.leads(start + RENEW));
        assert_eq!(election.step(start), Step::Wait(RENEW));
        assert_eq!(election.step(start + RENEW), Step::Hold { taken: false });
        assert!(!election.leads(start + LASTS));
        // A released Lease is taken immediately.
        election.observe(Some(lease("", 2)), start + LASTS);
        assert_eq!(election.step(start + LASTS), Step::Hold { taken: true });
    }
}
