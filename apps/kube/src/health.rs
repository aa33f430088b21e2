//! The daemon's health, as reported to probes.
#![allow(clippy::disallowed_methods, reason = "the clock detects hung reconciliations")]

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use pavior::text::shown;
use pavior_cluster::{http, probes};
use serde_json::json;

use crate::error::KubeError;
use crate::log::log;

/// The default probe address.
pub const PROBES: &str = "0.0.0.0:9324";

/// The time after which a reconciliation is considered hung. Normally, it takes seconds.
const HANG_TIME: Duration = Duration::from_mins(5);

/// The time for which a permission counts as missing after the API server rejects a write. Writes
/// are retried sooner.
const MISSING_PERMISSION_TIME: Duration = Duration::from_mins(1);

const MAX_FAULTS: usize = 16;

/// The daemon's current activity.
#[derive(Debug, Default)]
enum Progress {
    /// The cluster has not been read completely yet.
    #[default]
    Reading,
    Idle,
    /// A reconciliation is in progress. It began at this time.
    Reconciling(Instant),
}

#[derive(Debug, Default)]
pub(crate) struct Health {
    progress: Mutex<Progress>,
    faults: Mutex<Faults>,
}

/// Faults that keep the daemon from acting, either fully or in part.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    /// Kinds of objects that cannot be read, with the reasons.
    pub(crate) kinds: BTreeMap<String, String>,
    /// Faulty Machines, with the reasons.
    pub(crate) machines: BTreeMap<String, String>,
    /// True if there are machines and all of them are faulty.
    pub(crate) no_machine: bool,
    /// The reason why the Lease cannot be read or written.
    pub(crate) lease: Option<String>,
    /// Missing permissions and, for each, the time of the latest write that was rejected.
    permissions: BTreeMap<String, Instant>,
}

impl Faults {
    /// Records a permission that the API server reports as missing: `... cannot VERB resource ...
    /// in the namespace ...`. The rest of the message is dropped because it may name users'
    /// objects. Other messages are ignored.
    pub(crate) fn note_rejection(&mut self, message: &str) {
        let permission = message.split_once(" cannot ").map_or("", |(_, permission)| permission);
        let permission = permission.split(" in the namespace").next().unwrap_or(permission);
        if permission.contains(" resource ") && self.permissions.len() < MAX_FAULTS {
            self.permissions.insert(permission.to_string(), Instant::now());
        }
    }

    /// Describes the faults, one per line.
    fn lines(&mut self) -> String {
        self.permissions.retain(|_, at| at.elapsed() < MISSING_PERMISSION_TIME);
        let lease = self.lease.iter().map(|why| format!("the Lease: {why}"));
        let kinds = self.kinds.iter().map(|(kind, why)| format!("{kind} cannot be read: {why}"));
        let machines = self.machines.iter().map(|(name, why)| format!("Machine {name}: {why}"));
        let permissions =
            self.permissions.keys().map(|permission| format!("the account cannot {permission}"));
        let all = lease.chain(kinds).chain(machines).chain(permissions).take(MAX_FAULTS);
        all.flat_map(|text| [shown(&text).to_string(), "\n".to_string()]).collect()
    }
}

impl Health {
    /// Records that a reconciliation has begun.
    pub(crate) fn begin(&self) {
        *self.progress() = Progress::Reconciling(Instant::now());
    }

    /// Records that the reconciliation has ended.
    pub(crate) fn end(&self) {
        *self.progress() = Progress::Idle;
    }

    /// Returns true unless a reconciliation is hung.
    fn is_alive(&self) -> bool {
        !matches!(*self.progress(), Progress::Reconciling(at) if at.elapsed() >= HANG_TIME)
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn faults(&self) -> MutexGuard<'_, Faults> {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns true if this replica is able to act, and a line for each fault. A replica cannot act
    /// before it has read the cluster, without access to the Lease, or if every machine is faulty.
    fn readiness(&self) -> (bool, String) {
        let mut faults = self.faults();
        let can_act = !faults.no_machine && faults.lease.is_none();
        (can_act && !matches!(*self.progress(), Progress::Reading), faults.lines())
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
    fn a_replica_is_ready_once_it_has_read_and_alive_unless_it_hangs() {
        let health = Health::default();
        assert!(health.is_alive() && !health.readiness().0);
        health.begin();
        assert!(health.is_alive() && health.readiness().0);
        let long_ago = Instant::now().checked_sub(2 * HANG_TIME).unwrap();
        *health.progress() = Progress::Reconciling(long_ago);
        assert!(!health.is_alive());
        health.end();
        assert!(health.is_alive());
    }

    #[test]
    fn faults_are_listed_and_a_replica_is_unready_if_it_cannot_act() {
        let health = Health::default();
        health.faults().kinds.insert("pods".into(), "forbidden".into());
        assert_eq!(health.readiness(), (false, "pods cannot be read: forbidden\n".into()));
        health.begin();
        let why = "placements \"secret\" is forbidden: User \"a\" cannot delete resource \
                   \"placements\" in API group \"pavior.dev\" in the namespace \"team\"";
        health.faults().note_rejection(why);
        health.faults().note_rejection("placements \"x\" is forbidden: exceeded quota");
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
