//! A stand-in for Kueue in the model cluster.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::model::{Model, condition};
use crate::objects::{
    AdmissionCheckState, CONTROLLER, CheckState, Job, Object as _, Uid, Workload,
};

/// A stand-in for Kueue that assigns quota by priority and creation time, preempts, handles checks,
/// and resumes and suspends Jobs. Cohorts and borrowing are not modeled.
pub(super) struct Kueue {
    quota: u32,
    /// Node labels of the flavor.
    labels: Value,
    /// The number of pods missing from each assignment.
    pub(super) missing_pods: u32,
    pub(super) preempts: bool,
    /// The time at which each Workload is retried. Until then, Kueue 0.17 keeps the quota.
    retry_at: HashMap<Uid, i64>,
    /// The time at which a check last evicted each Workload. The queue order depends on this time.
    evicted: HashMap<Uid, i64>,
}

impl Kueue {
    pub(super) fn new(model: &mut Model, quota: u32, labels: Value) -> Kueue {
        let check = json!({
            "metadata": { "name": "place", "uid": "check", "resourceVersion": "1" },
            "spec": { "controllerName": CONTROLLER },
        });
        let flavor = json!({
            "metadata": { "name": "fast", "uid": "flavor" }, "spec": { "nodeLabels": labels },
        });
        let kueue = &mut model.world.kueue;
        kueue.checks.insert("place".into(), serde_json::from_value(check).unwrap());
        kueue.flavors.insert("fast".into(), serde_json::from_value(flavor).unwrap());
        Kueue {
            quota,
            labels,
            missing_pods: 0,
            preempts: false,
            retry_at: HashMap::new(),
            evicted: HashMap::new(),
        }
    }

    /// Creates a suspended Job in a queue.
    pub(super) fn submit(model: &mut Model, name: &str, shape: &str, priority: i64) -> Uid {
        let job = model.add_job(name, shape, &json!({}));
        model.suspend(&job, true);
        let (uid, made) = (model.uid(), &model.world.jobs[&job]);
        let other = json!({ "name": "theirs", "state": "Pending", "message": "" });
        let check = json!({ "name": "place", "state": "Pending", "message": "" });
        let workload = json!({
            "metadata": {
                "name": name, "namespace": "default", "uid": uid, "resourceVersion": "1",
                "labels": { "kueue.x-k8s.io/job-uid": job.0 },
                "creationTimestamp": made.metadata.creation_timestamp,
            },
            "spec": { "priority": priority },
            "status": { "admissionChecks": [other, check] },
        });
        let workload: Workload = serde_json::from_value(workload).unwrap();
        model.world.kueue.workloads.insert(Uid(uid), workload);
        job
    }

    /// Processes every Workload once, in queue order.
    pub(super) fn step(&mut self, model: &mut Model, now: i64) {
        let mut queue: Vec<Workload> = model.world.kueue.workloads.values().cloned().collect();
        let evicted_at = |workload: &Workload| self.evicted.get(&workload.uid()).copied();
        queue.sort_by_cached_key(|workload| {
            let priority = workload.spec.priority.unwrap_or(0);
            (-priority, evicted_at(workload), workload.created(), workload.uid())
        });
        for workload in &queue {
            let job = workload.job().and_then(|uid| model.world.jobs.get(&uid)).cloned();
            let mut workload = model.world.kueue.workloads[&workload.uid()].clone();
            let Some(job) = job else { continue };
            let state = our_check(&mut workload).state;
            if job.is_finished() {
                set_conditions(model, &mut workload, &["Finished"]);
            } else if !workload.is_reserved() {
                if self.preempts && !self.has_quota_for(model, &job) {
                    self.preempt(model, &workload, &job, &queue);
                }
                if self.has_quota_for(model, &job) {
                    self.reserve(model, &mut workload, &job);
                }
            } else if state == CheckState::Retry {
                self.retry(model, &mut workload, &job, now);
            } else if state == CheckState::Ready && job.is_suspended() {
                let labels = serde_json::from_value(self.labels.clone()).unwrap();
                model.resume(&job.uid(), &labels);
            }
        }
    }

    /// Evicts a Workload when its retry is due.
    fn retry(&mut self, model: &mut Model, workload: &mut Workload, job: &Job, now: i64) {
        let uid = workload.uid();
        let delay_s = model.retry_delays_s.remove(&uid).unwrap_or(0);
        if *self.retry_at.entry(uid.clone()).or_insert(now + delay_s) <= now {
            self.retry_at.remove(&uid);
            self.evicted.insert(uid, now);
            evict(model, workload, job);
        }
    }

    /// Evicts the last lower-priority Workload whose eviction frees enough quota for a Job.
    fn preempt(&self, model: &mut Model, workload: &Workload, job: &Job, queue: &[Workload]) {
        let needed = Kueue::used(model) + job.remaining();
        let suffices = |other: &Workload| {
            let job = other.job().and_then(|uid| model.world.jobs.get(&uid));
            needed <= self.quota + job.map_or(0, Job::remaining)
        };
        let victim = queue.iter().rev().find(|other| {
            other.spec.priority < workload.spec.priority
                && model.world.kueue.workloads[&other.uid()].is_reserved()
                && suffices(other)
        });
        let Some(victim) = victim else { return };
        let mut victim = model.world.kueue.workloads[&victim.uid()].clone();
        let job = model.world.jobs[&victim.job().unwrap()].clone();
        evict(model, &mut victim, &job);
    }

    /// Reserves quota for a Job's unfinished pods.
    fn reserve(&self, model: &mut Model, workload: &mut Workload, job: &Job) {
        let count = job.remaining() - self.missing_pods;
        let assignment = json!({ "flavors": { "pods": "fast" }, "count": count });
        let admission = json!({ "podSetAssignments": [assignment] });
        workload.status.admission = Some(serde_json::from_value(admission).unwrap());
        let ended = json!([{ "count": job.status.succeeded.unwrap_or(0) }]);
        workload.status.reclaimable_pods = serde_json::from_value(ended).unwrap();
        set_conditions(model, workload, &["QuotaReserved"]);
    }

    fn has_quota_for(&self, model: &Model, job: &Job) -> bool {
        Kueue::used(model) + job.remaining() <= self.quota
    }

    pub(super) fn used(model: &Model) -> u32 {
        let reserved = model.world.kueue.workloads.values().filter(|one| one.is_reserved());
        let job = |one: &Workload| one.job().and_then(|uid| model.world.jobs.get(&uid));
        reserved.filter_map(|one| Some(job(one)?.remaining())).sum()
    }
}

/// Returns our check, which comes after another program's check.
pub(super) fn our_check(workload: &mut Workload) -> &mut AdmissionCheckState {
    &mut workload.status.admission_checks[1]
}

/// Sets a Workload's conditions to the given ones, all of which are true.
fn set_conditions(model: &mut Model, one: &mut Workload, holds: &[&str]) {
    one.status.conditions = holds.iter().map(|kind| condition(kind)).collect();
    model.put_workload(one.clone());
}

fn evict(model: &mut Model, one: &mut Workload, job: &Job) {
    one.status.admission = None;
    let check = our_check(one);
    check.state = CheckState::Pending;
    check.message = "Reset to Pending after eviction.".into();
    set_conditions(model, one, &["Evicted"]);
    model.suspend(&job.uid(), true);
}
