//! What Kueue is told: `Ready` when a Job has its place, why it waits, and that quota is given back
//! by a Job that has waited long. An admitted Job that lost its place is told of only then: with a
//! check that is `Pending` Kueue would stop it, and leave it the quota.

use std::collections::HashMap;

use pavior::time::Date;

use super::act::{Act, Seen};
use super::queue::Waiting;
use super::records::Record;
use super::{Memory, Plot};
use crate::objects::{Job, Known as _, Placement};
use crate::quota::{Quota, quota};
use crate::world::Index;

/// How long a Job may hold quota without a place, where the operator says nothing, in seconds.
const QUOTA_S: u64 = 300;

/// How long at most a Job that gave its quota back does without, in seconds. Kueue would give it
/// the same quota again at once, before others that ask for less.
const AGAIN_S: u64 = 60;

/// Tells Kueue.
pub(super) fn tell(
    plot: &Plot<'_>,
    index: &Index<'_>,
    records: &[Record<'_>],
    waiting: &[Waiting],
    memory: &mut Memory,
    now: i64,
) -> Vec<Act> {
    let Some(machine) = index.world.machines.get(plot.name) else { return Vec::new() };
    let mut acts = Vec::new();
    let name = machine.spec.admission_check.as_deref();
    let check = name.and_then(|name| index.world.kueue.checks.get(name));
    if let Some(check) = check.filter(|check| check.is_ours() && !check.is_active()) {
        acts.push(Act::Activate { check: Seen::of(check) });
    }
    let most = machine.spec.quota_seconds.unwrap_or(QUOTA_S);
    acts.extend(name.map(|name| boxless(index, name, most)).into_iter().flatten());
    let mut holds = HashMap::new();
    let with_quota: Vec<(&Job, &Quota)> = with_quota(plot, index).collect();
    if with_quota.is_empty() {
        // Most clusters have no Kueue: then no table is made.
        memory.quota = holds;
        return acts;
    }
    let (standing, waiting) = (standing(records), by_job(waiting));
    for (job, quota) in with_quota {
        if job.is_over() {
            // Kueue stopped it when its last pod had ended. Kubernetes writes that a Job is
            // complete only when it is resumed.
            if job.is_suspended() && quota.state == "Pending" {
                let message = "none of its pods has still to run".to_string();
                acts.push(told_to(quota, "Ready", message, most, None));
            }
            continue;
        }
        let placed = standing.get(job.id()).copied();
        let (state, message) = if let Some(record) = placed {
            if !job.is_suspended() {
                continue;
            }
            ("Ready", format!("its box is {}", record.spec.at))
        } else {
            // A place that is only proposed is none: it may be withdrawn, again and again.
            let uid = quota.workload.uid.clone();
            let since = memory.quota.get(&uid).copied().unwrap_or(now);
            holds.insert(uid, since);
            let Some(waits) = waiting.get(job.id()) else { continue };
            let told = told(waits, since.saturating_add(most as i64), now);
            if !job.is_suspended() && told.0 != "Retry" {
                continue;
            }
            told
        };
        // Kueue itself takes back a Retry, together with the quota.
        let same = quota.state == state && quota.message == message;
        if !same && quota.state != "Retry" {
            let record = placed.map(Seen::of);
            acts.push(told_to(quota, state, message, most, record));
        }
    }
    memory.quota = holds;
    acts
}

/// The Jobs of a machine that hold quota.
fn with_quota<'a>(
    plot: &Plot<'_>,
    index: &Index<'a>,
) -> impl Iterator<Item = (&'a Job, &'a Quota)> {
    let jobs = index.world.jobs.values().filter(|job| job.has_quota());
    let here = jobs.filter(|job| index.is_on(job, plot.name));
    here.filter_map(|job| Some((job, job.quota.as_ref()?)))
}

/// The record of each Job that has one which stands; of several, the oldest.
fn standing<'a>(records: &[Record<'a>]) -> HashMap<&'a str, &'a Placement> {
    let mut by_job = HashMap::new();
    for placement in records.iter().filter(|one| one.stands).map(|one| one.placement) {
        for job in placement.spec.jobs() {
            by_job.entry(job.0.as_str()).or_insert(placement);
        }
    }
    by_job
}

/// The Jobs that wait by uid.
fn by_job(waiting: &[Waiting]) -> HashMap<&str, &Waiting> {
    // The first one counts.
    waiting.iter().rev().map(|one| (one.job.uid.0.as_str(), one)).collect()
}

/// What those are told that are of no machine, where a queue asks all of them for our check.
fn boxless(index: &Index<'_>, check: &str, most: u64) -> Vec<Act> {
    let (kueue, jobs) = (&index.world.kueue, &index.world.jobs);
    let mut strays = None;
    let mut acts = Vec::new();
    for workload in kueue.workloads.values() {
        let quota = quota(kueue, workload).filter(|quota| quota.reserved && quota.check == check);
        let Some(quota) = quota.filter(|quota| quota.state == "Pending") else { continue };
        let job = workload.job().and_then(|uid| jobs.get(&uid));
        let mut owners = workload.metadata.owner_references.iter().flatten();
        let (state, message) = match job {
            Some(job) if job.shape().is_some() => {
                let strays = strays.get_or_insert_with(|| super::strays(index));
                let Some(stray) = strays.iter().find(|one| one.job.uid.0 == job.id()) else {
                    continue;
                };
                told(stray, i64::MAX, 0)
            }
            // The Job may be younger than what was read of Jobs.
            None if owners.any(|owner| owner.kind == "Job") => continue,
            Some(_) | None => ("Ready", "it asks for no box itself".to_string()),
        };
        acts.push(told_to(&quota, state, message, most, None));
    }
    acts
}

/// The state of the check of a Job that waits.
fn told(waits: &Waiting, until: i64, now: i64) -> (&'static str, String) {
    let why: String = waits.why.chars().take(1024).collect();
    if waits.never {
        return ("Retry", format!("it is not placed as it is: {why}"));
    }
    if now >= until {
        return ("Retry", format!("its quota is given back, because it waits for long: {why}"));
    }
    let date = |at: u64| Date(std::time::Duration::from_secs(at)).to_string();
    let when = waits.starts.map_or(String::new(), |at| {
        format!(" By the time limits alone it starts at {}.", date(at))
    });
    ("Pending", format!("it waits for its place: {why}{when}"))
}

fn told_to(
    quota: &Quota,
    state: &'static str,
    message: String,
    most: u64,
    record: Option<Seen>,
) -> Act {
    Act::Check {
        workload: quota.workload.clone(),
        at: quota.at,
        check: quota.check.clone(),
        state,
        message,
        again_s: (state == "Retry").then(|| most.clamp(1, AGAIN_S)),
        record,
    }
}
