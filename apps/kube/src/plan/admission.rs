//! Answers Kueue's admission checks with `Ready` once a Job has a box, and until then with the
//! reason why it is waiting. A Job that has waited for `quotaSeconds` releases its quota. If an
//! admitted Job loses its box, its check stays unchanged for the same length of time, because if
//! the check were `Pending`, Kueue would stop the Job but keep its quota reserved.

use std::collections::HashMap;

use pavior_cluster::date;

use super::action::{Action, CheckAnswer, CheckUpdate};
use super::context::PlanContext;
use super::memory::Memory;
use super::records::Record;
use super::waiting::{Prospect, Waiting, unassigned_job};
use crate::objects::{CheckState, Job, Object as _, ObjectRef, Placement, Quota, Workload};
use crate::world::{Index, quota};

/// The default value of `quotaSeconds`.
const DEFAULT_QUOTA_S: u64 = 300;

/// The maximum retry delay for a Job that cannot be placed. Kueue 0.17 keeps the Job's quota during
/// this delay. Other retries have no delay: Kueue releases the quota immediately, and the Job
/// queues behind others that have the same priority.
const MAX_RETRY_DELAY_S: u64 = 60;

/// Returns the updates for our checks.
pub(super) fn answer(
    context: PlanContext<'_>,
    records: &[Record<'_>],
    waiting: &[Waiting],
    memory: &mut Memory,
) -> Vec<Action> {
    let index = context.index;
    let Some(machine) = index.world.machines.get(context.layout.name) else { return Vec::new() };
    let mut actions = Vec::new();
    let quota_s = machine.spec.quota_seconds.unwrap_or(DEFAULT_QUOTA_S);
    if let Some(name) = &machine.spec.admission_check {
        let check = index.world.kueue.checks.get(name);
        if let Some(check) = check.filter(|check| check.is_ours() && !check.is_active()) {
            actions.push(Action::Activate { check: ObjectRef::of(check) });
        }
        actions.extend(answer_strays(index, name, quota_s));
    }
    actions.extend(answer_jobs(context, quota_s, records, waiting, memory));
    actions
}

/// Answers the checks on a machine's Jobs that hold quota.
fn answer_jobs(
    context: PlanContext<'_>,
    quota_s: u64,
    records: &[Record<'_>],
    waiting: &[Waiting],
    memory: &mut Memory,
) -> Vec<Action> {
    let earlier = std::mem::take(&mut memory.quota_since);
    let mut actions = Vec::new();
    let mut with_quota = with_quota(context).peekable();
    // Most clusters have no Kueue.
    if with_quota.peek().is_none() {
        return actions;
    }
    let (placements, waiting) = (valid_placements(records), by_job(waiting));
    for (job, quota) in with_quota {
        let placement = placements.get(job.id()).copied().filter(|_| !job.is_finished());
        let answer = if job.is_finished() {
            answer_finished(job, quota)
        } else if let Some(placement) = placement {
            job.is_suspended().then(|| answer_placed(placement))
        } else {
            // Proposals do not count, because they may be withdrawn repeatedly.
            let uid = quota.workload.uid.clone();
            let since = earlier.get(&uid).copied().unwrap_or(context.now);
            memory.quota_since.insert(uid, since);
            let is_late = context.now >= since.saturating_add(quota_s as i64);
            let reason = waiting.get(job.id());
            let answer = reason.map(|reason| answer_waiting(reason, quota_s, is_late));
            answer.filter(|answer| job.is_suspended() || answer.state != CheckState::Pending)
        };
        let answer = answer.filter(|answer| !is_current(quota, answer));
        actions.extend(answer.map(|answer| check_action(quota, answer, placement)));
    }
    actions
}

/// Returns a machine's Jobs that hold quota, each with its quota.
fn with_quota(context: PlanContext<'_>) -> impl Iterator<Item = (&Job, &Quota)> {
    let jobs = context.index.world.jobs.values().filter(|job| job.has_quota());
    let here = jobs.filter(move |job| context.index.is_on(job, context.layout.name));
    here.filter_map(|job| Some((job, job.quota.as_ref()?)))
}

/// Returns each Job's valid placement, or the oldest one if several are valid.
fn valid_placements<'a>(records: &[Record<'a>]) -> HashMap<&'a str, &'a Placement> {
    let mut by_job = HashMap::new();
    for placement in records.iter().filter(|record| record.is_valid).map(|record| record.placement)
    {
        for job in placement.spec.jobs() {
            by_job.entry(job.0.as_str()).or_insert(placement);
        }
    }
    by_job
}

/// Returns waiting Jobs by uid.
fn by_job(waiting: &[Waiting]) -> HashMap<&str, &Waiting> {
    // The first reason takes precedence.
    waiting.iter().rev().map(|waiting| (waiting.job.uid.0.as_str(), waiting)).collect()
}

/// Answers the checks on Workloads that have no machine but are in a queue that requires our check.
fn answer_strays(index: &Index<'_>, check: &str, quota_s: u64) -> Vec<Action> {
    let kueue = &index.world.kueue;
    let answers = kueue.workloads.values().filter_map(|workload| {
        let quota = quota(kueue, workload).filter(|quota| quota.reserved)?;
        let is_open = quota.check.name == check && quota.check.state == CheckState::Pending;
        let answer = if is_open { answer_stray(index, workload, quota_s)? } else { return None };
        Some(check_action(&quota, answer, None))
    });
    answers.collect()
}

/// Answers the check on a Workload unless its Job has a machine.
fn answer_stray(index: &Index<'_>, workload: &Workload, quota_s: u64) -> Option<CheckAnswer> {
    match workload.job().and_then(|uid| index.job(&uid)) {
        Some(job) if job.shape().is_some() => {
            Some(answer_waiting(&unassigned_job(index, job)?, quota_s, false))
        }
        // The Job may be newer than the latest list.
        None if workload.controller().is_some_and(|owner| owner.kind == "Job") => None,
        Some(_) | None => Some(CheckAnswer::new(CheckState::Ready, "it has no shape")),
    }
}

/// Answers the check on a finished Job. If Kueue suspends a Job after its last pod has ended,
/// Kubernetes completes the Job only once it is resumed.
fn answer_finished(job: &Job, quota: &Quota) -> Option<CheckAnswer> {
    let is_stopped = job.is_suspended() && quota.check.state == CheckState::Pending;
    is_stopped.then(|| CheckAnswer::new(CheckState::Ready, "its pods have finished"))
}

fn answer_placed(placement: &Placement) -> CheckAnswer {
    let at = placement.spec.at.replacen('@', " at ", 1);
    CheckAnswer::new(CheckState::Ready, format!("its box is {at}"))
}

/// Answers the check on a Job without a box. `is_late` is true if the Job has held quota for too
/// long.
fn answer_waiting(waiting: &Waiting, quota_s: u64, is_late: bool) -> CheckAnswer {
    let why: String = waiting.why.chars().take(1024).collect();
    let impossible = || format!("it cannot be placed: {why}");
    match waiting.prospect {
        Prospect::Invalid => CheckAnswer::new(CheckState::Rejected, impossible()),
        Prospect::Blocked => CheckAnswer {
            retry_delay_s: Some(quota_s.clamp(1, MAX_RETRY_DELAY_S)),
            ..CheckAnswer::new(CheckState::Retry, impossible())
        },
        Prospect::Waits if is_late => CheckAnswer::new(
            CheckState::Retry,
            format!("its quota is released because the Job has waited too long: {why}"),
        ),
        Prospect::Waits => {
            let start = waiting.starts_at.map_or(String::new(), |at| {
                format!(" Based on time limits, it should start at {}.", date(at))
            });
            CheckAnswer::new(CheckState::Pending, format!("waiting for a box: {why}{start}"))
        }
    }
}

/// Returns true if the check already has this state and message, or is in the `Retry` state, which
/// Kueue resets on its own when it releases the quota.
fn is_current(quota: &Quota, answer: &CheckAnswer) -> bool {
    let check = &quota.check;
    check.state == CheckState::Retry
        || (check.state == answer.state && check.message == answer.message)
}

fn check_action(quota: &Quota, answer: CheckAnswer, placement: Option<&Placement>) -> Action {
    Action::Check(CheckUpdate {
        workload: quota.workload.clone(),
        index: quota.index,
        check: quota.check.name.clone(),
        answer,
        placement: placement.map(ObjectRef::of),
    })
}
