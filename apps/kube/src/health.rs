//! The daemon's health, as reported to probes.
#![allow(clippy::disallowed_methods, reason = "the clock detects hung reconciliations")]

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use pavior::text::shown;
use pavior_cluster::{http, probes};
use serde_json::json;

use crate::client::{KubeError, log};

/// The default probe address.
pub const PROBES: &str = "0.0.0.0:9324";

/// The time before a reconciliation is considered hung; normally it takes seconds.
const HANG_TIME: Duration = Duration::from_mins(5);

/// The time for which a right counts as missing after a rejected write. Writes are retried sooner.
const MISSING_RIGHT_TIME: Duration = Duration::from_mins(1);

const MAX_FAULTS: usize = 16;

#[derive(Debug, Default)]
pub(crate) struct Health {
    /// True once the whole cluster has been read.
    is_read: AtomicBool,
    /// The start of the current reconciliation.
    started_at: Mutex<Option<Instant>>,
    faults: Mutex<Faults>,
}

/// Faults that prevent the daemon from acting, fully or partly.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    /// Object kinds that cannot be read, with the reasons.
    pub(crate) kinds: BTreeMap<String, String>,
    /// Faulty Machines, with the reasons.
    pub(crate) machines: BTreeMap<String, String>,
    /// True if there are machines but all of them are faulty.
    pub(crate) no_machine: bool,
    /// The reason why the Lease cannot be read or written.
    pub(crate) lease: Option<String>,
    /// Missing rights, with the time of the latest rejected write.
    rights: BTreeMap<String, Instant>,
}

impl Faults {
    /// Records a right that the API server reports as missing. The rest of the message is dropped
    /// because it may name users' objects.
    pub(crate) fn note_right(&mut self, message: &str) {
        let right = message.split_once(" cannot ").map_or("", |(_, right)| right);
        let right = right.split(" in the namespace").next().unwrap_or(right);
        if right.contains(" resource ") && self.rights.len() < MAX_FAULTS {
            self.rights.insert(right.to_string(), Instant::now());
        }
    }

    /// Describes the faults, one per line.
    fn lines(&mut self) -> String {
        self.rights.retain(|_, at| at.elapsed() < MISSING_RIGHT_TIME);
        let lease = self.lease.iter().map(|why| format!("the Lease: {why}"));
        let kinds = self.kinds.iter().map(|(kind, why)| format!("{kind} cannot be read: {why}"));
        let machines = self.machines.iter().map(|(name, why)| format!("Machine {name}: {why}"));
        let rights = self.rights.keys().map(|right| format!("the account cannot {right}"));
        let all = lease.chain(kinds).chain(machines).chain(rights).take(MAX_FAULTS);
        all.flat_map(|text| [shown(&text).to_string(), "\n".to_string()]).collect()
    }
}

impl Health {
    /// Records the beginning or end of a reconciliation.
    pub(crate) fn note_reconciliation(&self, begins: bool) {
        self.is_read.store(true, Ordering::Relaxed);
        let mut started_at = self.started_at.lock().unwrap_or_else(PoisonError::into_inner);
        *started_at = begins.then(Instant::now);
    }

    /// Returns true unless a reconciliation is hung. An idle daemon counts as alive.
    fn is_alive(&self) -> bool {
        let started_at = self.started_at.lock().unwrap_or_else(PoisonError::into_inner);
        started_at.is_none_or(|at| at.elapsed() < HANG_TIME)
    }

    pub(crate) fn faults(&self) -> MutexGuard<'_, Faults> {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns true if this replica could act, and a line for each fault. A replica cannot act
    /// before it has read the cluster, without access to the Lease, or if every machine is faulty.
    fn readiness(&self) -> (bool, String) {
        let mut faults = self.faults();
        let can_act = !faults.no_machine && faults.lease.is_none();
        (can_act && self.is_read.load(Ordering::Relaxed), faults.lines())
    }

    /// Serves the liveness and readiness probes.
    pub(crate) fn serve(self: &Arc<Health>, address: &str) -> Result<(), KubeError> {
        let (alive, ready) = (Arc::clone(self), Arc::clone(self));
        let site = probes(move || alive.is_alive(), move || ready.readiness());
        let bound = http::serve(address, site).map_err(|error| KubeError::Address {
            address: address.to_string(),
            why: error.to_string(),
        })?;
        log("info", "probes", json!({ "address": bound.to_string() }));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_ready_when_it_has_read_and_alive_while_it_does_not_hang() {
        let health = Health::default();
        assert!(health.is_alive() && !health.is_read.load(Ordering::Relaxed));
        health.note_reconciliation(true);
        assert!(health.is_alive() && health.is_read.load(Ordering::Relaxed));
        *health.started_at.lock().unwrap() = Instant::now().checked_sub(2 * HANG_TIME);
        assert!(!health.is_alive());
        health.note_reconciliation(false);
        assert!(health.is_alive());
    }

    #[test]
    fn faults_are_named_and_it_is_unready_only_if_it_cannot_act() {
        let health = Health::default();
        health.faults().kinds.insert("pods".into(), "forbidden".into());
        assert_eq!(health.readiness(), (false, "pods cannot be read: forbidden\n".into()));
        health.note_reconciliation(true);
        let why = "placements \"secret\" is forbidden: User \"a\" cannot delete resource \
                   \"placements\" in API group \"pavior.dev\" in the namespace \"team\"";
        health.faults().note_right(why);
        health.faults().note_right("placements \"x\" is forbidden: exceeded quota");
        let machine = ("pod".into(), format!("grid:\u{1b}{}", "x".repeat(1000)));
        health.faults().machines.extend([machine]);
        let (is_ready, lines) = health.readiness();
        assert!(is_ready && lines.lines().count() == 3 && lines.len() < 700, "{lines}");
        assert!(lines.contains("the account cannot delete resource \"placements\" in API group"));
        assert!(!lines.contains("secret") && !lines.contains("team") && !lines.contains('\u{1b}'));
        health.faults().no_machine = true;
        assert!(!health.readiness().0);
        *health.faults() = Faults { lease: Some("forbidden".into()), ..Faults::default() };
        assert_eq!(health.readiness(), (false, "the Lease: forbidden\n".into()));
    }
}
