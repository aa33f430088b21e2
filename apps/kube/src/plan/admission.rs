//! Answers to Kueue: `Ready` when a Job has a box, otherwise the reason for its wait. A Job that
//! has waited too long gives its quota back. If an admitted Job has lost its box, its check does
//! not change before then, because Kueue would stop the Job while a check is `Pending`, and keep
//! its quota reserved.

use std::collections::HashMap;

use pavior_cluster::date;

use super::action::Action;
use super::layout::Layout;
use super::memory::Memory;
use super::records::Record;
use super::waiting::{Prospect, Waiting, unassigned};
use crate::objects::{Job, Object as _, ObjectRef, Placement, Quota};
use crate::world::{Index, quota};

/// The default of `quotaSeconds`.
const QUOTA_S: u64 = 300;

/// The maximum retry delay for a Job that cannot be placed, in seconds. Kueue 0.17 keeps the quota
/// until then. Other retries have no delay: Kueue releases the quota immediately, and the Job
/// queues behind others with the same priority.
const AGAIN_S: u64 = 60;

/// Returns the updates for all our checks.
pub(super) fn answer(
    layout: &Layout<'_>,
    index: &Index<'_>,
    records: &[Record<'_>],
    waiting: &[Waiting],
    memory: &mut Memory,
    now: i64,
) -> Vec<Action> {
    let Some(machine) = index.world.machines.get(layout.name) else { return Vec::new() };
    let mut actions = Vec::new();
    let name = machine.spec.admission_check.as_deref();
    let check = name.and_then(|name| index.world.kueue.checks.get(name));
    if let Some(check) = check.filter(|check| check.is_ours() && !check.is_active()) {
        actions.push(Action::Activate { check: ObjectRef::of(check) });
    }
    let most = machine.spec.quota_seconds.unwrap_or(QUOTA_S);
    actions.extend(name.map(|name| without_machine(index, name, most)).into_iter().flatten());
    let mut holds = HashMap::new();
    let with_quota: Vec<(&Job, &Quota)> = with_quota(layout, index).collect();
    if with_quota.is_empty() {
        // Most clusters have no Kueue.
        memory.quota = holds;
        return actions;
    }
    let (standing, waiting) = (standing(records), by_job(waiting));
    for (job, quota) in with_quota {
        if job.is_finished() {
            // Kueue suspended the Job after its last pod had ended. Kubernetes completes a Job only
            // after it is resumed.
            if job.is_suspended() && quota.state == "Pending" {
                let message = "all its pods have ended".to_string();
                actions.push(check_action(quota, "Ready", message, None, None));
            }
            continue;
        }
        let placed = standing.get(job.id()).copied();
        let (state, message, again_s) = if let Some(record) = placed {
            if !job.is_suspended() {
                continue;
            }
            ("Ready", format!("its box is {}", record.spec.at.replacen('@', " at ", 1)), None)
        } else {
            // Proposals do not count, because they may be withdrawn repeatedly.
            let uid = quota.workload.uid.clone();
            let since = memory.quota.get(&uid).copied().unwrap_or(now);
            holds.insert(uid, since);
            let Some(waits) = waiting.get(job.id()) else { continue };
            let (state, message) = state_of(waits, since.saturating_add(most as i64), now);
            if !job.is_suspended() && state == "Pending" {
                continue;
            }
            (state, message, delay(waits, most))
        };
        // Kueue itself resets a Retry, together with the quota.
        let same = quota.state == state && quota.message == message;
        if !same && quota.state != "Retry" {
            let record = placed.map(ObjectRef::of);
            actions.push(check_action(quota, state, message, again_s, record));
        }
    }
    memory.quota = holds;
    actions
}

/// Returns the Jobs of a machine that hold quota.
fn with_quota<'a>(
    layout: &Layout<'_>,
    index: &Index<'a>,
) -> impl Iterator<Item = (&'a Job, &'a Quota)> {
    let jobs = index.world.jobs.values().filter(|job| job.has_quota());
    let here = jobs.filter(|job| index.is_on(job, layout.name));
    here.filter_map(|job| Some((job, job.quota.as_ref()?)))
}

/// Returns the valid placement of each Job, or the oldest if several are valid.
fn standing<'a>(records: &[Record<'a>]) -> HashMap<&'a str, &'a Placement> {
    let mut by_job = HashMap::new();
    for placement in records.iter().filter(|one| one.stands).map(|one| one.placement) {
        for job in placement.spec.jobs() {
            by_job.entry(job.0.as_str()).or_insert(placement);
        }
    }
    by_job
}

/// Returns waiting Jobs by uid.
fn by_job(waiting: &[Waiting]) -> HashMap<&str, &Waiting> {
    // The first reason takes precedence.
    waiting.iter().rev().map(|one| (one.job.uid.0.as_str(), one)).collect()
}

/// Answers the checks on Workloads that do not belong to a machine, in queues that require our
/// check.
fn without_machine(index: &Index<'_>, check: &str, most: u64) -> Vec<Action> {
    let (kueue, jobs) = (&index.world.kueue, &index.world.jobs);
    let mut found = None;
    let mut actions = Vec::new();
    for workload in kueue.workloads.values() {
        let quota = quota(kueue, workload).filter(|quota| quota.reserved && quota.check == check);
        let Some(quota) = quota.filter(|quota| quota.state == "Pending") else { continue };
        let job = workload.job().and_then(|uid| jobs.get(&uid));
        let mut owners = workload.metadata.owner_references.iter().flatten();
        let (state, message, again_s) = match job {
            Some(job) if job.shape().is_some() => {
                let found = found.get_or_insert_with(|| unassigned(index));
                let Some(stray) = found.iter().find(|one| one.job.uid.0 == job.id()) else {
                    continue;
                };
                let (state, message) = state_of(stray, i64::MAX, 0);
                (state, message, delay(stray, most))
            }
            // The Job may be newer than the list of Jobs that was read.
            None if owners.any(|owner| owner.kind == "Job") => continue,
            Some(_) | None => ("Ready", "it has no shape itself".to_string(), None),
        };
        actions.push(check_action(&quota, state, message, again_s, None));
    }
    actions
}

/// Returns the state and message for the check on a waiting Job.
fn state_of(waits: &Waiting, until: i64, now: i64) -> (&'static str, String) {
    let why: String = waits.why.chars().take(1024).collect();
    if waits.is_stuck() {
        let state = if waits.prospect == Prospect::Impossible { "Rejected" } else { "Retry" };
        return (state, format!("it cannot be placed: {why}"));
    }
    if now >= until {
        return ("Retry", format!("its quota is released because it has waited too long: {why}"));
    }
    let when = waits
        .starts
        .map_or(String::new(), |at| format!(" Based on time limits, it starts at {}.", date(at)));
    ("Pending", format!("waiting for a box: {why}{when}"))
}

/// Returns the retry delay for a Job that cannot be placed.
fn delay(waits: &Waiting, most: u64) -> Option<u64> {
    waits.is_stuck().then(|| most.clamp(1, AGAIN_S))
}

fn check_action(
    quota: &Quota,
    state: &'static str,
    message: String,
    again_s: Option<u64>,
    record: Option<ObjectRef>,
) -> Action {
    Action::Check {
        workload: quota.workload.clone(),
        at: quota.at,
        check: quota.check.clone(),
        state,
        message,
        again_s: again_s.filter(|_| state == "Retry"),
        record,
    }
}
