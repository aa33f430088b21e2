//! Tests for plans in a cluster where Kueue assigns quota while we assign boxes.

use serde_json::{Value, json};

use super::kueue::{Kueue, our_check};
use super::model::Model;
use super::small::{kinds, planned, planned_at};
use crate::objects::{CheckState, MACHINE, Object as _, SHAPE, Uid, Workload};
use crate::plan::{Action, Memory, Plan};

/// A cluster with Kueue and one replica of the daemon.
struct Cluster {
    model: Model,
    kueue: Kueue,
    memory: Memory,
}

impl Cluster {
    fn new(spec: &Value, quota: u32, labels: Value) -> Cluster {
        let mut spec = spec.clone();
        spec["admissionCheck"] = json!("place");
        let mut model = Model::new("mesh:4x4", &spec);
        let kueue = Kueue::new(&mut model, quota, labels);
        Cluster { model, kueue, memory: Memory::default() }
    }

    fn submit(&mut self, name: &str, shape: &str, priority: i64) -> Uid {
        Kueue::submit(&mut self.model, name, shape, priority)
    }

    fn step(&mut self, now: i64) {
        self.kueue.step(&mut self.model, now);
    }

    fn planned(&mut self, now: i64) -> Plan {
        planned_at(&self.model, &mut self.memory, now).unwrap()
    }

    /// Plans once, applies the plan, and returns the kinds of actions.
    fn plan_and_apply(&mut self, now: i64) -> Vec<&'static str> {
        let made = self.planned(now);
        self.model.apply_all(&made);
        kinds(&made)
    }

    /// Runs all components once per second from `from` to `to`.
    fn go(&mut self, from: i64, to: i64) {
        for now in from..to {
            self.step(now);
            self.model.make_pods();
            self.plan_and_apply(now);
            self.model.bind();
            self.model.end_terminating();
        }
    }

    fn workload(&self, job: &Uid) -> &Workload {
        let mut all = self.model.world.kueue.workloads.values();
        all.find(|one| one.job().as_ref() == Some(job)).unwrap()
    }

    fn change_workload(&mut self, job: &Uid, change: impl FnOnce(&mut Workload)) {
        let mut workload = self.workload(job).clone();
        change(&mut workload);
        self.model.put_workload(workload);
    }

    fn check(&self, job: &Uid) -> (String, String) {
        let check = &self.workload(job).status.admission_checks[1];
        (check.state.name().to_string(), check.message.clone())
    }

    fn pods(&self, job: &Uid) -> Vec<Uid> {
        self.model.pods(|pod| pod.owner().as_ref() == Some(job) && pod.node().is_some())
    }

    fn runs(&self, job: &Uid) -> usize {
        self.pods(job).len()
    }

    /// Returns true if a Job's check becomes `Retry` between `from` and `to`.
    fn retries(&mut self, job: &Uid, from: i64, to: i64) -> bool {
        (from..to).fold(false, |retries, now| {
            self.go(now, now + 1);
            retries | (self.check(job).0 == "Retry")
        })
    }
}

#[test]
fn a_job_gets_its_box_before_admission() {
    let mut cluster = Cluster::new(&json!({}), 16, json!({}));
    let job = cluster.submit("a", "2x2", 0);
    assert_eq!(cluster.plan_and_apply(0), ["activate"], "it has no quota yet");
    cluster.step(0);
    for word in ["propose", "confirm", "check"] {
        let made = cluster.planned(0);
        assert_eq!(kinds(&made), [word]);
        assert!(cluster.model.apply(&made.actions[0]));
    }
    assert_eq!(cluster.check(&job), ("Ready".into(), "its box is 2x2 at 0,0".into()));
    // The Job is still suspended, and keeps its box.
    assert!(cluster.planned(0).actions.is_empty());
    cluster.go(0, 6);
    assert_eq!(cluster.runs(&job), 4);
    // The other checks of the Workload are unchanged.
    let other = &cluster.workload(&job).status.admission_checks[0];
    assert_eq!((other.name.as_str(), other.state.name()), ("theirs", "Pending"));
}

#[test]
fn a_preempted_job_loses_its_box_to_the_winner_and_is_placed_again() {
    // If a pod has finished, the new quota is for 15 pods, but the box has 16 nodes.
    for finished in [0, 1] {
        let mut cluster = Cluster::new(&json!({}), 16, json!({}));
        cluster.kueue.preempts = true;
        let low = cluster.submit("low", "4x4", 0);
        cluster.go(0, 10);
        let pods = cluster.pods(&low);
        assert_eq!(pods.len(), 16);
        pods[..finished].iter().for_each(|pod| cluster.model.succeed(pod));
        let high = cluster.submit("high", "4x2", 5);
        cluster.go(10, 30);
        assert_eq!((cluster.runs(&low), cluster.runs(&high)), (0, 8));
        cluster.model.end(&high);
        cluster.go(30, 50);
        assert_eq!(cluster.runs(&low), 16 - finished, "{:?}", cluster.check(&low));
    }
}

#[test]
fn a_flavor_restricts_the_box_and_keeps_its_selector() {
    let mut cluster = Cluster::new(&json!({}), 16, json!({ "pool": "fast" }));
    cluster.model.label(&["n2-2", "n3-2", "n2-3", "n3-3"], "pool", "fast");
    let job = cluster.submit("a", "2x2", 0);
    let mut patches = Vec::new();
    for now in 0..8 {
        cluster.step(now);
        cluster.model.make_pods();
        for action in cluster.planned(now).actions {
            if let Action::Open { patch, .. } = &action {
                patches.push(patch.to_string());
            }
            cluster.model.apply(&action);
        }
        cluster.model.bind();
    }
    assert_eq!(cluster.runs(&job), 4);
    let world = &cluster.model.world;
    let mut pods = world.pods.values().filter(|pod| pod.node().is_some());
    assert!(pods.all(|pod| pod.spec.node_selector["pool"] == "fast"));
    assert_eq!(world.placements.values().next().unwrap().spec.at, "2x2@2,2");
    assert!(!patches.is_empty() && patches.iter().all(|patch| !patch.contains("nodeSelector\"")));
}

#[test]
fn a_change_of_flavor_replaces_the_box_before_admission() {
    let mut cluster = Cluster::new(&json!({}), 16, json!({ "pool": "fast" }));
    cluster.model.label(&["n2-2", "n3-2", "n2-3", "n3-3"], "pool", "fast");
    cluster.model.label(&["n0-2", "n1-2", "n0-3", "n1-3"], "pool", "slow");
    let job = cluster.submit("a", "2x2", 0);
    cluster.plan_and_apply(0);
    cluster.step(0);
    for word in ["propose", "confirm", "check"] {
        assert_eq!(cluster.plan_and_apply(0), [word]);
    }
    // The Job's quota was revoked and reassigned with another flavor, but no replica saw the Job
    // without quota.
    let slow = json!({
        "metadata": { "name": "slow", "uid": "slow" },
        "spec": { "nodeLabels": { "pool": "slow" } },
    });
    let flavors = &mut cluster.model.world.kueue.flavors;
    flavors.insert("slow".into(), serde_json::from_value(slow).unwrap());
    let admission = json!({ "podSetAssignments": [{ "flavors": { "pods": "slow" }, "count": 4 }] });
    cluster.change_workload(&job, |one| {
        one.status.admission = Some(serde_json::from_value(admission).unwrap());
        our_check(one).state = CheckState::Pending;
    });
    let words: Vec<Vec<&str>> = (0..4).map(|_| cluster.plan_and_apply(0)).collect();
    assert!(words[0].contains(&"withdraw"), "{words:?}");
    assert_eq!(cluster.check(&job), ("Ready".into(), "its box is 2x2 at 0,2".into()), "{words:?}");
}

#[test]
fn jobs_with_topology_aware_scheduling_are_left_to_kueue() {
    let asked = |template: Value| {
        let mut model = Model::new("mesh:4x4", &json!({ "admissionCheck": "place" }));
        let job = model.add_job("a", "2x2", &json!({}));
        let template = serde_json::from_value(template).unwrap();
        model.change_job(&job, |job| job.spec.template = template);
        model.make_pods();
        planned(&model)
    };
    let annotation = "kueue.x-k8s.io/podset-required-topology";
    let marked = json!({ "metadata": { "annotations": { annotation: "rack" } }, "spec": {} });
    let made = asked(marked);
    assert!(made.actions.is_empty() && made.waiting[0].is_blocked(), "{made:?}");
    assert!(made.waiting[0].why.contains("topology-aware"), "{made:?}");
    assert_eq!(asked(json!({ "metadata": {}, "spec": {} })).actions.len(), 1);
    // Topology-aware scheduling is enabled by the queue, not by an annotation, so the pods have
    // Kueue's gate.
    let mut model = Model::new("mesh:4x4", &json!({ "admissionCheck": "place" }));
    model.add_waiting_job("a", "2x2");
    model.gate_all("kueue.x-k8s.io/topology");
    assert!(planned(&model).actions.is_empty());
}

#[test]
fn other_workloads_do_not_hide_a_jobs_quota() {
    let mut cluster = Cluster::new(&json!({}), 16, json!({}));
    let job = cluster.submit("a", "2x2", 0);
    cluster.step(0);
    let real = cluster.workload(&job).clone();
    let owner = json!([{ "apiVersion": "batch/v1", "kind": "Job", "name": "b", "uid": "b" }]);
    let [mut unchecked, mut unreserved, mut owned] = [(); 3].map(|()| real.clone());
    unchecked.status.admission_checks.clear();
    unreserved.status.conditions.clear();
    owned.metadata.owner_references = serde_json::from_value(owner).unwrap();
    for mut other in [unchecked, unreserved, owned] {
        // Workloads are examined in order of uid.
        for uid in ["", "~"] {
            other.metadata.uid = Some(uid.to_string());
            let world = &mut cluster.model.world;
            world.kueue.workloads.insert(other.uid(), other.clone());
            world.join_quota();
            let quota = world.jobs[&job].quota.as_ref().unwrap();
            assert_eq!(quota.workload.uid, real.uid());
            assert!(quota.reserved);
            world.kueue.workloads.remove(&other.uid());
        }
    }
    let world = &mut cluster.model.world;
    world.kueue.workloads.get_mut(&real.uid()).unwrap().status.conditions.clear();
    let mut deleted = real.clone();
    deleted.metadata.uid = Some("~".to_string());
    deleted.metadata.deletion_timestamp =
        serde_json::from_value(json!("2026-01-01T00:00:00Z")).unwrap();
    world.kueue.workloads.insert(deleted.uid(), deleted);
    world.join_quota();
    assert_eq!(world.jobs[&job].quota.as_ref().unwrap().workload.uid, real.uid());
}

#[test]
fn a_partially_admitted_job_returns_its_quota() {
    let mut cluster = Cluster::new(&json!({}), 16, json!({}));
    cluster.kueue.missing_pods = 1;
    let job = cluster.submit("a", "2x2", 0);
    cluster.step(0);
    assert!(!cluster.plan_and_apply(0).contains(&"propose"));
    let (state, message) = cluster.check(&job);
    assert_eq!(state, "Retry");
    assert!(message.contains("fewer pods"), "{message}");
    cluster.step(0);
    assert_eq!(Kueue::used(&cluster.model), 4, "until the time of the retry");
    cluster.step(60);
    assert_eq!(Kueue::used(&cluster.model), 0);
    cluster.kueue.missing_pods = 0;
    cluster.go(61, 70);
    assert_eq!(cluster.runs(&job), 4);
}

#[test]
fn a_waiting_job_reports_the_reason_and_returns_its_quota_after_a_while() {
    let mut cluster = Cluster::new(&json!({ "quotaSeconds": 20 }), 100, json!({}));
    let first = cluster.submit("first", "4x3", 0);
    cluster.go(0, 10);
    let second = cluster.submit("second", "2x2", 0);
    cluster.go(10, 15);
    let (state, message) = cluster.check(&second);
    assert_eq!(state, "Pending");
    assert!(message.contains("waiting for a box") && message.contains("first"), "{message}");
    assert!(cluster.retries(&second, 15, 40), "{:?}", cluster.check(&second));
    cluster.model.end(&first);
    cluster.go(40, 60);
    assert_eq!(cluster.runs(&second), 4);
}

#[test]
fn a_withdrawn_proposal_does_not_restart_the_quota_timeout() {
    let mut cluster = Cluster::new(&json!({ "quotaSeconds": 20 }), 100, json!({}));
    cluster.submit("first", "4x3", 0);
    cluster.go(0, 10);
    let second = cluster.submit("second", "2x2", 0);
    cluster.go(10, 20);
    // A replica that has not seen the first Job's placement proposes some of the same nodes.
    cluster.model.propose(&second, &["n0-0", "n1-0", "n0-1", "n1-1"]);
    assert!(cluster.retries(&second, 20, 34), "{:?}", cluster.check(&second));
}

#[test]
fn an_admitted_job_without_a_box_returns_its_quota() {
    let mut cluster = Cluster::new(&json!({ "quotaSeconds": 20 }), 16, json!({}));
    let large = cluster.submit("large", "4x4", 0);
    cluster.go(0, 10);
    assert_eq!(cluster.runs(&large), 16);
    cluster.model.delete_node("n3-3");
    let small = cluster.submit("small", "2x2", 0);
    cluster.go(10, 28);
    assert_eq!((cluster.check(&large).0.as_str(), cluster.runs(&small)), ("Ready", 0));
    cluster.go(28, 45);
    assert_eq!((cluster.runs(&large), cluster.runs(&small)), (0, 4), "{:?}", cluster.check(&large));
}

#[test]
fn a_job_that_returned_its_quota_queues_behind_its_priority() {
    let mut cluster = Cluster::new(&json!({ "quotaSeconds": 10 }), 12, json!({}));
    let holder = cluster.model.add_job("holder", "4x2", &json!({}));
    cluster.go(0, 5);
    let large = cluster.submit("large", "4x3", 0);
    let small = cluster.submit("small", "2x2", 0);
    cluster.go(5, 40);
    let runs = [&holder, &small].map(|job| cluster.runs(job));
    assert_eq!(runs, [8, 4], "{:?}", cluster.check(&large));
}

#[test]
fn jobs_without_a_shape_are_admitted_and_jobs_without_a_machine_are_retried() {
    let mut cluster = Cluster::new(&json!({}), 16, json!({}));
    let plain = cluster.submit("plain", "2x2", 0);
    let stray = cluster.submit("stray", "2x2", 0);
    for (job, annotations) in
        [(&plain, json!({})), (&stray, json!({ SHAPE: "2x2", MACHINE: "none" }))]
    {
        let annotations = serde_json::from_value(annotations).unwrap();
        cluster.model.change_job(job, |job| job.metadata.annotations = annotations);
    }
    // One of these Workloads belongs to a JobSet, the other to a Job that has not been read yet.
    let set = cluster.submit("set", "2x2", 0);
    let unread = cluster.submit("unread", "2x2", 0);
    for (job, kind) in [(&set, "JobSet"), (&unread, "Job")] {
        let owner = json!([{ "apiVersion": "v1", "kind": kind, "name": "a", "uid": job }]);
        let owner = serde_json::from_value(owner).unwrap();
        cluster.change_workload(job, |one| one.metadata.owner_references = owner);
    }
    cluster.step(0);
    cluster.model.delete_job(&set);
    cluster.model.delete_job(&unread);
    cluster.plan_and_apply(0);
    assert_eq!(cluster.check(&plain).0, "Ready");
    assert_eq!(cluster.check(&set).0, "Ready");
    assert_eq!(cluster.check(&unread).0, "Pending");
    let (state, message) = cluster.check(&stray);
    assert_eq!(state, "Retry");
    assert!(message.contains("does not name a Machine"), "{message}");
}

#[test]
fn a_job_suspended_after_its_last_pod_is_admitted() {
    let mut cluster = Cluster::new(&json!({}), 16, json!({}));
    let job = cluster.submit("a", "2x2", 0);
    cluster.step(0);
    let met = json!({ "type": "SuccessCriteriaMet", "status": "True" });
    let status = json!({ "succeeded": 4, "conditions": [met] });
    cluster.model.change_job(&job, |job| job.status = serde_json::from_value(status).unwrap());
    assert!(!cluster.plan_and_apply(0).contains(&"propose"), "it needs no place");
    assert_eq!(cluster.check(&job).0, "Ready");
}

#[test]
fn shapes_larger_than_the_machine_are_rejected() {
    let mut cluster = Cluster::new(&json!({}), 100, json!({}));
    let jobs = ["5x1", "4x4"].map(|shape| cluster.submit(shape, shape, 0));
    cluster.model.cordon("n1-1", true);
    cluster.step(0);
    cluster.plan_and_apply(0);
    let (state, message) = cluster.check(&jobs[0]);
    assert_eq!(state, "Rejected", "{message}");
    assert!(message.contains("does not fit on mesh:4x4"), "{message}");
    assert_eq!(cluster.check(&jobs[1]).0, "Pending", "a node may come back");
}

#[test]
fn a_workload_in_retry_gets_no_box() {
    let mut cluster = Cluster::new(&json!({}), 16, json!({}));
    let job = cluster.submit("a", "2x2", 0);
    cluster.step(0);
    assert!(kinds(&cluster.planned(0)).contains(&"propose"));
    cluster.change_workload(&job, |one| our_check(one).state = CheckState::Retry);
    let made = cluster.planned(0);
    assert!(!kinds(&made).contains(&"propose"), "it is about to lose its quota");
}
