//! Reads Kueue objects and describes the Kueue states of Jobs in words.

use std::collections::HashMap;

use kube::Client;
use pavior::text::shown;

use super::{by_name, by_uid};
use crate::error::KubeError;
use crate::objects::{
    AdmissionCheck, CheckState, Condition, Job, Object as _, QUEUE, ResourceFlavor, Uid, Workload,
};
use crate::read::list;
use crate::world::World;

/// Reads the Kueue objects that the Jobs and machines in a world need.
///
/// # Errors
/// Returns an error if some of the objects cannot be read.
pub(super) async fn read_kueue(client: &Client, world: &mut World) -> Result<(), KubeError> {
    let uses_check = world.machines.values().any(|machine| machine.spec.admission_check.is_some());
    if uses_check || world.jobs.values().any(|job| job.label(QUEUE).is_some()) {
        world.kueue.workloads = by_uid(list::<Workload>(client, "").await?);
    }
    if uses_check {
        world.kueue.checks = by_name(list::<AdmissionCheck>(client, "").await?);
        world.kueue.flavors = by_name(list::<ResourceFlavor>(client, "").await?);
    }
    Ok(())
}

/// The Workloads in a world, keyed by their namespace and the uids of their Jobs. Users can put any
/// uid into a Workload, so a Workload in another namespace does not describe a Job.
pub(super) struct WorkloadMap<'a> {
    workloads: HashMap<(&'a str, Uid), &'a Workload>,
    fault: Option<&'a str>,
}

impl<'a> WorkloadMap<'a> {
    pub(super) fn of(world: &'a World) -> WorkloadMap<'a> {
        // If a Job has several Workloads, the last one is used.
        let mut workloads: Vec<&Workload> = world.kueue.workloads.values().collect();
        workloads.sort_by_key(|workload| (!workload.is_terminating(), workload.is_reserved()));
        let keyed =
            workloads.into_iter().filter_map(|one| Some(((one.namespace(), one.job()?), one)));
        WorkloadMap { workloads: keyed.collect(), fault: world.kueue.fault.as_deref() }
    }

    /// Describes the state of a Job in a Kueue queue.
    pub(super) fn describe(&self, job: &Job) -> Option<String> {
        job.label(QUEUE)?;
        Some(match (self.workloads.get(&(job.namespace(), job.uid())), self.fault) {
            (Some(workload), _) => describe(workload),
            (None, Some(why)) => format!("Its Kueue Workload cannot be read: {why}."),
            (None, None) => "Kueue has no Workload for it.".to_string(),
        })
    }
}

/// Describes a Workload's state in text of bounded length without control characters.
fn describe(workload: &Workload) -> String {
    let status = &workload.status;
    let condition = |kind: &str| status.conditions.iter().find(|condition| condition.kind == kind);
    let holds = |kind: &str| Condition::holds(&status.conditions, kind);
    let evicted = condition("Evicted").filter(|_| holds("Evicted"));
    let evicted_why = evicted.map_or(String::new(), reason);
    let waiting_why = condition("QuotaReserved").map_or(String::new(), reason);
    let queue = status.admission.as_ref().map_or("", |admission| &admission.cluster_queue);
    let mut open_checks =
        status.admission_checks.iter().filter(|check| check.state != CheckState::Ready);
    let check = open_checks.next().map_or(String::new(), |check| {
        let (name, message) = (shown(&check.name), shown(&check.message));
        format!(" Check {name} is {}: {message}", check.state.name())
    });
    match (evicted.is_some(), holds("QuotaReserved")) {
        _ if workload.spec.active == Some(false) => {
            format!("Kueue has deactivated it{evicted_why}.")
        }
        _ if holds("Finished") => "Kueue considers it finished.".to_string(),
        (true, true) => format!("Kueue is evicting it{evicted_why}."),
        _ if holds("Admitted") => format!("Kueue has admitted it to {}.", shown(queue)),
        (false, true) => format!("Kueue has reserved quota in {} for it.{check}", shown(queue)),
        (true, false) => {
            format!("Kueue has evicted it{evicted_why}. It is waiting for quota{waiting_why}.")
        }
        (false, false) => format!("It is waiting for Kueue quota{waiting_why}."),
    }
}

/// Formats a condition's reason and message in parentheses.
fn reason(condition: &Condition) -> String {
    format!(" ({}: {})", shown(&condition.reason), shown(&condition.message))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn condition(kind: &str, status: &str, reason: &str, message: &str) -> Value {
        json!({ "type": kind, "status": status, "reason": reason, "message": message })
    }

    #[test]
    fn a_workload_in_another_namespace_does_not_describe_a_job() {
        let labels = json!({ QUEUE: "all", "kueue.x-k8s.io/job-uid": "a" });
        let object = |uid: &str, namespace: &str, spec: Value| {
            let metadata = json!({ "uid": uid, "namespace": namespace, "labels": labels });
            json!({ "metadata": metadata, "spec": spec })
        };
        let mut world = World::default();
        for (uid, namespace, active) in [("b", "team", true), ("c", "other", false)] {
            let workload = object(uid, namespace, json!({ "active": active }));
            let workload = serde_json::from_value(workload).unwrap();
            world.kueue.workloads.insert(Uid(uid.to_string()), workload);
        }
        let job = serde_json::from_value(object("a", "team", json!({}))).unwrap();
        let text = WorkloadMap::of(&world).describe(&job);
        assert_eq!(text.as_deref(), Some("It is waiting for Kueue quota."));
    }

    #[test]
    fn kueue_states_are_bounded_text() {
        let describe = |active: bool, conditions: &[&Value]| {
            let check = json!({ "name": "place", "state": "Pending", "message": "no box." });
            let admission = json!({ "clusterQueue": "all" });
            let status = json!({
                "conditions": conditions, "admission": admission, "admissionChecks": [check],
            });
            let workload =
                json!({ "metadata": {}, "spec": { "active": active }, "status": status });
            describe(&serde_json::from_value(workload).unwrap())
        };
        let pending = &condition("QuotaReserved", "False", "Pending", "no quota\u{1b}[2J");
        let reserved = &condition("QuotaReserved", "True", "QuotaReserved", "");
        let admitted = &condition("Admitted", "True", "Admitted", "");
        let evicted = &condition("Evicted", "True", "Preempted", "by another");
        let long = "x".repeat(100_000);
        let long = &condition("QuotaReserved", "False", &long, &long);
        assert_eq!(describe(true, &[]), "It is waiting for Kueue quota.");
        let text = "It is waiting for Kueue quota (Pending: no quota\\u{1b}[2J).";
        assert_eq!(describe(true, &[pending]), text);
        let text = "Kueue has reserved quota in all for it. Check place is Pending: no box.";
        assert_eq!(describe(true, &[reserved]), text);
        assert_eq!(describe(true, &[reserved, admitted]), "Kueue has admitted it to all.");
        let text = "Kueue is evicting it (Preempted: by another).";
        assert_eq!(describe(true, &[reserved, admitted, evicted]), text);
        assert!(
            describe(true, &[pending, evicted]).starts_with("Kueue has evicted it (Preempted: ")
        );
        let text = "Kueue has deactivated it (Preempted: by another).";
        assert_eq!(describe(false, &[evicted]), text);
        assert!(describe(true, &[long]).len() < 700);
    }
}
