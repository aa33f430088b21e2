//! Answers to Kueue: `Ready` when a Job has a box, otherwise the reason for its wait. A Job that
//! has waited for `quotaSeconds` returns its quota. If an admitted Job loses its box, its check
//! keeps its state for that long: Kueue would stop a Job with a `Pending` check, but keep its quota
//! reserved.

use std::collections::HashMap;

use pavior_cluster::date;

use super::action::Action;
use super::layout::Layout;
use super::memory::Memory;
use super::records::Record;
use super::waiting::{Prospect, Waiting, unassigned};
use crate::objects::{Job, Object as _, ObjectRef, Placement, Quota};
use crate::world::{Index, quota};

/// The default `quotaSeconds`.
const DEFAULT_QUOTA_S: u64 = 300;

/// The maximum retry delay for a Job that cannot be placed. Kueue 0.17 keeps the quota until then.
/// Other retries have no delay: Kueue releases the quota immediately, and the Job queues behind
/// others with the same priority.
const MAX_RETRY_DELAY_S: u64 = 60;

/// Returns the updates to our checks.
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
    let quota_s = machine.spec.quota_seconds.unwrap_or(DEFAULT_QUOTA_S);
    actions.extend(name.map(|name| without_machine(index, name, quota_s)).into_iter().flatten());
    let mut quota_since = HashMap::new();
    let with_quota: Vec<(&Job, &Quota)> = with_quota(layout, index).collect();
    if with_quota.is_empty() {
        // Most clusters have no Kueue.
        memory.quota_since = quota_since;
        return actions;
    }
    let (placements, waiting) = (valid_placements(records), by_job(waiting));
    for (job, quota) in with_quota {
        if job.is_finished() {
            // If Kueue suspends a Job after its last pod has ended, Kubernetes completes the Job
            // only after it is resumed.
            if job.is_suspended() && quota.state == "Pending" {
                let message = "all its pods have ended".to_string();
                actions.push(check_action(quota, "Ready", message, None, None));
            }
            continue;
        }
        let placed = placements.get(job.id()).copied();
        let (state, message, again_s) = if let Some(placement) = placed {
            if !job.is_suspended() {
                continue;
            }
            ("Ready", format!("its box is {}", placement.spec.at.replacen('@', " at ", 1)), None)
        } else {
            // Proposals do not count, because they may be withdrawn repeatedly.
            let uid = quota.workload.uid.clone();
            let since = memory.quota_since.get(&uid).copied().unwrap_or(now);
            quota_since.insert(uid, since);
            let Some(waits) = waiting.get(job.id()) else { continue };
            let answer = answer_for(waits, quota_s, since, now);
            if !job.is_suspended() && answer.0 == "Pending" {
                continue;
            }
            answer
        };
        // Kueue itself resets a Retry, together with the quota.
        let is_current = quota.state == state && quota.message == message;
        if !is_current && quota.state != "Retry" {
            let placement = placed.map(ObjectRef::of);
            actions.push(check_action(quota, state, message, again_s, placement));
        }
    }
    memory.quota_since = quota_since;
    actions
}

/// Returns the Jobs on a machine that hold quota, with their quota.
fn with_quota<'a>(
    layout: &Layout<'_>,
    index: &Index<'a>,
) -> impl Iterator<Item = (&'a Job, &'a Quota)> {
    let jobs = index.world.jobs.values().filter(|job| job.has_quota());
    let here = jobs.filter(|job| index.is_on(job, layout.name));
    here.filter_map(|job| Some((job, job.quota.as_ref()?)))
}

/// Returns each Job's valid placement, or its oldest if several are valid.
fn valid_placements<'a>(records: &[Record<'a>]) -> HashMap<&'a str, &'a Placement> {
    let mut by_job = HashMap::new();
    for placement in records.iter().filter(|one| one.is_valid).map(|one| one.placement) {
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

/// Answers the checks on Workloads without a machine, in queues that require our check.
fn without_machine(index: &Index<'_>, check: &str, quota_s: u64) -> Vec<Action> {
    let (kueue, jobs) = (&index.world.kueue, &index.world.jobs);
    let mut strays = None;
    let mut actions = Vec::new();
    for workload in kueue.workloads.values() {
        let quota = quota(kueue, workload).filter(|quota| quota.reserved && quota.check == check);
        let Some(quota) = quota.filter(|quota| quota.state == "Pending") else { continue };
        let job = workload.job().and_then(|uid| jobs.get(&uid));
        let mut owners = workload.metadata.owner_references.iter().flatten();
        let (state, message, again_s) = match job {
            Some(job) if job.shape().is_some() => {
                let strays = strays.get_or_insert_with(|| unassigned(index));
                let Some(stray) = strays.iter().find(|one| one.job.uid.0 == job.id()) else {
                    continue;
                };
                // The times do not matter, because the Job is blocked.
                answer_for(stray, quota_s, 0, 0)
            }
            // The Job may be newer than the latest list of Jobs.
            None if owners.any(|owner| owner.kind == "Job") => continue,
            Some(_) | None => ("Ready", "it has no shape".to_string(), None),
        };
        actions.push(check_action(&quota, state, message, again_s, None));
    }
    actions
}

/// The state, message and retry delay of a check.
type Answer = (&'static str, String, Option<u64>);

/// Answers the check on a Job that has held quota without a box since the given time.
fn answer_for(waits: &Waiting, quota_s: u64, since: i64, now: i64) -> Answer {
    let why: String = waits.why.chars().take(1024).collect();
    let message = format!("it cannot be placed: {why}");
    match waits.prospect {
        Prospect::Invalid => return ("Rejected", message, None),
        Prospect::Blocked => return ("Retry", message, Some(quota_s.clamp(1, MAX_RETRY_DELAY_S))),
        Prospect::Waits => {}
    }
    if now >= since.saturating_add(quota_s as i64) {
        let message = format!("its quota is released because it has waited too long: {why}");
        return ("Retry", message, None);
    }
    let start = waits
        .starts_at
        .map_or(String::new(), |at| format!(" Based on time limits, it starts at {}.", date(at)));
    ("Pending", format!("waiting for a box: {why}{start}"), None)
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
        again_s,
        record,
    }
}
