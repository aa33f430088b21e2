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

/// The time after which work on one machine is considered hung. This work normally takes seconds,
/// or less than a minute if the API server never answers.
const HANG_TIME: Duration = Duration::from_mins(5);

/// The time for which a permission counts as missing after the API server rejects a write. Writes
/// are retried within this time.
const MISSING_PERMISSION_TIME: Duration = Duration::from_mins(1);

/// The maximum number of faults to list and of permissions to record.
const MAX_FAULTS: usize = 16;

/// The daemon's current activity.
#[derive(Debug, Default)]
enum Progress {
    /// The cluster has not been read completely yet.
    #[default]
    Reading,
    Idle,
    /// A reconciliation is in progress. Its work on the current machine began at this time.
    Reconciling(Instant),
}

#[derive(Debug, Default)]
pub(crate) struct Health {
    progress: Mutex<Progress>,
    faults: Mutex<Faults>,
}

/// Faults that prevent some or all of the daemon's actions.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    /// Kinds of objects that cannot be read, each with the reason.
    pub(crate) kinds: BTreeMap<String, String>,
    /// Faulty Machines, with the reasons.
    pub(crate) machines: BTreeMap<String, String>,
    /// True if there are machines and all of them are faulty.
    pub(crate) all_machines_faulty: bool,
    /// The reason why the Lease cannot be read or written.
    pub(crate) lease: Option<String>,
    /// Missing permissions, each with the time of the latest rejected write.
    permissions: BTreeMap<String, Instant>,
}

impl Faults {
    /// Records the permission that the API server reports as missing, if any.
    pub(crate) fn note_rejection(&mut self, message: &str) {
        self.expire();
        let Some(permission) = missing_permission(message) else { return };
        if self.permissions.len() < MAX_FAULTS || self.permissions.contains_key(&permission) {
            self.permissions.insert(permission, Instant::now());
        }
    }

    /// Removes permissions that no longer count as missing.
    fn expire(&mut self) {
        self.permissions.retain(|_, at| at.elapsed() < MISSING_PERMISSION_TIME);
    }

    /// Describes the faults, one per line.
    fn lines(&self) -> String {
        let lease = self.lease.iter().map(|why| format!("the Lease: {why}"));
        let kinds = self.kinds.iter().map(|(kind, why)| format!("cannot read {kind}: {why}"));
        let machines = self.machines.iter().map(|(name, why)| format!("Machine {name}: {why}"));
        let permissions =
            self.permissions.keys().map(|permission| format!("the account cannot {permission}"));
        let mut all: Vec<String> = lease.chain(kinds).chain(machines).chain(permissions).collect();
        let unlisted = all.len().saturating_sub(MAX_FAULTS);
        all.truncate(MAX_FAULTS);
        all.extend((unlisted > 0).then(|| format!("and {unlisted} more")));
        all.iter().flat_map(|text| [shown(text).to_string(), "\n".to_string()]).collect()
    }
}

/// Parses an API server message, `... is forbidden: User "..." cannot VERB resource "..." in API
/// group "..." ...`, and returns the part from the verb to the API group. The rest is dropped
/// because it may name users' objects.
fn missing_permission(message: &str) -> Option<String> {
    let (_, message) = message.split_once(" is forbidden: User \"")?;
    let (_, message) = message.split_once("\" cannot ")?;
    let (verb, message) = message.split_once(" resource \"")?;
    let (resource, message) = message.split_once("\" in API group \"")?;
    let (group, _) = message.split_once('"')?;
    let permission = || format!("{verb} resource \"{resource}\" in API group \"{group}\"");
    [verb, resource, group].iter().all(|word| !word.contains(' ')).then(permission)
}

impl Health {
    /// Records that a reconciliation, or its work on another machine, has begun.
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

    /// Returns true if this replica can act, along with one line per fault. A replica cannot act if
    /// it has not read the cluster yet, if it has no access to the Lease, or if every machine is
    /// faulty.
    fn readiness(&self) -> (bool, String) {
        let mut faults = self.faults();
        let can_act = !faults.all_machines_faulty && faults.lease.is_none();
        faults.expire();
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
        health.begin();
        assert!(health.is_alive(), "it continues with the next machine");
        health.end();
        assert!(health.is_alive());
    }

    #[test]
    fn a_permission_is_missing_for_a_minute_after_its_latest_rejection() {
        let mut faults = Faults { lease: Some("forbidden".into()), ..Faults::default() };
        let permission = |verb| format!("v{verb} resource \"pods\" in API group \"\"");
        let why = |verb| format!("x is forbidden: User \"a\" cannot {}", permission(verb));
        (0..MAX_FAULTS).for_each(|verb| faults.note_rejection(&why(verb)));
        assert!(faults.lines().ends_with("\nand 1 more\n"), "{}", faults.lines());
        for _ in 0..2 {
            faults.note_rejection(&why(3));
            let earlier = |at: &Instant| at.checked_sub(MISSING_PERMISSION_TIME * 2 / 3).unwrap();
            faults.permissions.values_mut().for_each(|at| *at = earlier(at));
        }
        faults.expire();
        assert!(faults.permissions.keys().eq([&permission(3)]), "{:?}", faults.permissions);
    }

    #[test]
    fn an_invalid_address_is_named() {
        let error = Arc::new(Health::default()).serve("nowhere").unwrap_err().to_string();
        assert!(error.starts_with("cannot listen on nowhere: "), "{error}");
    }

    #[test]
    fn faults_are_listed_and_a_replica_is_unready_if_it_cannot_act() {
        let health = Health::default();
        health.faults().kinds.insert("pods".into(), "forbidden".into());
        assert_eq!(health.readiness(), (false, "cannot read pods: forbidden\n".into()));
        health.begin();
        let why = "placements \"secret\" is forbidden: User \"a\" cannot delete resource \
                   \"placements\" in API group \"pavior.dev\" in the namespace \"team\"";
        health.faults().note_rejection(why);
        health.faults().note_rejection("placements \"x\" is forbidden: exceeded quota");
        let webhook =
            "admission webhook \"p\" denied the request: alice cannot use resource pool x";
        health.faults().note_rejection(webhook);
        let machine = ("pod".into(), format!("grid:\u{1b}{}", "x".repeat(1000)));
        health.faults().machines.extend([machine]);
        let (is_ready, lines) = health.readiness();
        assert!(is_ready && lines.lines().count() == 3 && lines.len() < 700, "{lines}");
        assert!(lines.contains("the account cannot delete resource \"placements\" in API group"));
        assert!(!lines.contains("secret") && !lines.contains("team") && !lines.contains('\u{1b}'));
        health.faults().all_machines_faulty = true;
        assert!(!health.readiness().0);
        *health.faults() = Faults { lease: Some("forbidden".into()), ..Faults::default() };
        assert_eq!(health.readiness(), (false, "the Lease: forbidden\n".into()));
    }
}
