//! Tests of plans in a cluster with Kueue, which assigns quota while we assign boxes.

use std::cell::RefCell;
use std::collections::HashMap;

use serde_json::{Value, json};

use super::model::Model;
use super::small::{planned_at, words};
use crate::objects::{CONTROLLER, Job, Object as _, ObjectRef, PlacementSpec, Uid, Workload};
use crate::plan::{Action, Memory, Plan};

/// A stand-in for Kueue that assigns quota by priority and creation time, preempts, handles checks,
/// and resumes and suspends Jobs.
pub(super) struct Kueue {
    quota: u32,
    /// Node labels of the flavor.
    labels: Value,
    /// The number of pods missing from each assignment.
    cut: u32,
    pub(super) preempts: bool,
    /// The time when each Workload is retried; until then, Kueue 0.17 keeps the quota.
    until: RefCell<HashMap<Uid, i64>>,
    /// The time of each Workload's latest eviction by a check, which determines the queue order.
    evicted: RefCell<HashMap<Uid, i64>>,
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
            cut: 0,
            preempts: false,
            until: RefCell::default(),
            evicted: RefCell::default(),
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

    /// Processes every Workload once.
    pub(super) fn step(&self, model: &mut Model, now: i64) {
        let mut until = self.until.borrow_mut();
        let mut all: Vec<Workload> = model.world.kueue.workloads.values().cloned().collect();
        let mut evicted = self.evicted.borrow_mut();
        let since = |one: &Workload| evicted.get(&one.uid()).copied();
        all.sort_by_cached_key(|one| {
            (-one.spec.priority.unwrap_or(0), since(one), one.created(), one.uid())
        });
        // Pods that have ended need no quota.
        let pods = |job: &Job| job.remaining();
        for one in &all {
            let Some(job) = one.job().and_then(|uid| model.world.jobs.get(&uid)).cloned() else {
                continue;
            };
            let mut one = model.world.kueue.workloads[&one.uid()].clone();
            let state = one.status.admission_checks[1].state.clone();
            if job.is_finished() {
                set(model, &mut one, &["Finished"]);
            } else if one.is_reserved() && state == "Retry" {
                let delay = model.again.remove(&one.uid()).unwrap_or(0);
                if *until.entry(one.uid()).or_insert(now + delay) <= now {
                    until.remove(&one.uid());
                    evicted.insert(one.uid(), now);
                    evict(model, &mut one, &job);
                }
            } else if one.is_reserved() && state == "Ready" && job.is_suspended() {
                let labels = serde_json::from_value(self.labels.clone()).unwrap();
                model.resume(&job.uid(), &labels);
            } else if !one.is_reserved() {
                if self.preempts && Kueue::used(model) + pods(&job) > self.quota {
                    let used = Kueue::used(model);
                    let suffices = |other: &Workload| {
                        let theirs = other.job().and_then(|uid| model.world.jobs.get(&uid));
                        used + pods(&job) <= self.quota + theirs.map_or(0, pods)
                    };
                    let lower = all.iter().rev().find(|other| {
                        other.spec.priority < one.spec.priority
                            && model.world.kueue.workloads[&other.uid()].is_reserved()
                            && suffices(other)
                    });
                    if let Some(other) = lower {
                        let mut other = model.world.kueue.workloads[&other.uid()].clone();
                        let job = model.world.jobs[&other.job().unwrap()].clone();
                        evict(model, &mut other, &job);
                    }
                }
                if Kueue::used(model) + pods(&job) <= self.quota {
                    let set_of = json!({
                        "flavors": { "pods": "fast" }, "count": pods(&job) - self.cut,
                    });
                    let admission = json!({ "podSetAssignments": [set_of] });
                    one.status.admission = Some(serde_json::from_value(admission).unwrap());
                    let ended = json!([{ "count": job.status.succeeded.unwrap_or(0) }]);
                    one.status.reclaimable_pods = serde_json::from_value(ended).unwrap();
                    set(model, &mut one, &["QuotaReserved"]);
                }
            }
        }
    }

    fn used(model: &Model) -> u32 {
        let reserved = model.world.kueue.workloads.values().filter(|one| one.is_reserved());
        let job = |one: &Workload| one.job().and_then(|uid| model.world.jobs.get(&uid));
        reserved.filter_map(|one| Some(job(one)?.remaining())).sum()
    }
}

/// Sets exactly the conditions that hold.
fn set(model: &mut Model, one: &mut Workload, holds: &[&str]) {
    let conditions = holds.iter().map(|kind| json!({ "type": kind, "status": "True" }));
    let conditions: Vec<Value> = conditions.collect();
    one.status.conditions = serde_json::from_value(json!(conditions)).unwrap();
    model.put_workload(one.clone());
}

fn evict(model: &mut Model, one: &mut Workload, job: &Job) {
    one.status.admission = None;
    one.status.admission_checks[1].state = "Pending".into();
    one.status.admission_checks[1].message = "Reset to Pending after eviction.".into();
    set(model, one, &["Evicted"]);
    model.suspend(&job.uid(), true);
}

fn model(spec: &Value) -> Model {
    let mut spec = spec.clone();
    spec["admissionCheck"] = json!("place");
    Model::new("mesh:4x4", &spec)
}

fn planned(model: &Model, memory: &mut Memory, now: i64) -> Plan {
    planned_at(model, memory, now).unwrap()
}

/// Runs all components for a while, and returns the last plan.
fn go(model: &mut Model, kueue: &Kueue, memory: &mut Memory, from: i64, to: i64) -> Plan {
    let mut made = planned(model, memory, from);
    for now in from..to {
        kueue.step(model, now);
        model.make_pods();
        made = planned(model, memory, now);
        for act in &made.actions {
            model.carry(act);
        }
        model.bind();
        model.end_going();
    }
    made
}

fn check(model: &Model, job: &Uid) -> (String, String) {
    let mut all = model.world.kueue.workloads.values();
    let one = all.find(|one| one.job().as_ref() == Some(job)).unwrap();
    let check = &one.status.admission_checks[1];
    (check.state.clone(), check.message.clone())
}

fn runs(model: &Model, job: &Uid) -> usize {
    model.pods(|pod| pod.owner().as_ref() == Some(job) && pod.node().is_some()).len()
}

fn end(model: &mut Model, job: &Uid) {
    for pod in model.pods(|pod| pod.owner().as_ref() == Some(job) && pod.node().is_some()) {
        model.succeed(&pod);
    }
}

#[test]
fn a_job_has_its_place_before_it_is_admitted() {
    let mut model = model(&json!({}));
    let kueue = Kueue::new(&mut model, 16, json!({}));
    let job = Kueue::submit(&mut model, "a", "2x2", 0);
    let mut memory = Memory::default();
    assert_eq!(words(&planned(&model, &mut memory, 0)), ["activate"], "it has no quota yet");
    for act in planned(&model, &mut memory, 0).actions {
        model.carry(&act);
    }
    kueue.step(&mut model, 0);
    for word in ["propose", "confirm", "check"] {
        let made = planned(&model, &mut memory, 0);
        assert_eq!(words(&made), [word]);
        assert!(model.carry(&made.actions[0]));
    }
    assert_eq!(check(&model, &job), ("Ready".into(), "its box is 2x2 at 0,0".into()));
    // The Job is still suspended, and keeps its box.
    assert!(planned(&model, &mut memory, 0).actions.is_empty());
    go(&mut model, &kueue, &mut memory, 0, 6);
    assert_eq!(runs(&model, &job), 4);
    // The other checks of the Workload stay.
    let other = &model.world.kueue.workloads.values().next().unwrap().status.admission_checks[0];
    assert_eq!((other.name.as_str(), other.state.as_str()), ("theirs", "Pending"));
}

#[test]
fn a_job_that_is_preempted_gives_its_place_to_the_winner() {
    let mut model = model(&json!({}));
    let mut kueue = Kueue::new(&mut model, 16, json!({}));
    kueue.preempts = true;
    let (mut memory, low) = (Memory::default(), Kueue::submit(&mut model, "low", "4x4", 0));
    go(&mut model, &kueue, &mut memory, 0, 10);
    assert_eq!(runs(&model, &low), 16);
    let high = Kueue::submit(&mut model, "high", "4x2", 5);
    go(&mut model, &kueue, &mut memory, 10, 30);
    assert_eq!((runs(&model, &low), runs(&model, &high)), (0, 8));
    end(&mut model, &high);
    go(&mut model, &kueue, &mut memory, 30, 50);
    assert_eq!(runs(&model, &low), 16, "and gets one again");
}

#[test]
fn what_a_flavor_demands_restricts_the_box_and_is_never_replaced() {
    let mut model = model(&json!({}));
    let labels = json!({ "pool": "fast" });
    let kueue = Kueue::new(&mut model, 16, labels);
    for name in ["n2-2", "n3-2", "n2-3", "n3-3"] {
        model.label(name, "pool", "fast");
    }
    let job = Kueue::submit(&mut model, "a", "2x2", 0);
    let (mut memory, mut patches) = (Memory::default(), Vec::new());
    for now in 0..8 {
        kueue.step(&mut model, now);
        model.make_pods();
        for act in planned(&model, &mut memory, now).actions {
            if let Action::Open { patch, .. } = &act {
                patches.push(patch.to_string());
            }
            model.carry(&act);
        }
        model.bind();
    }
    assert_eq!(runs(&model, &job), 4);
    let on = model.pods(|pod| pod.node().is_some());
    assert!(on.iter().all(|pod| model.world.pods[pod].spec.node_selector["pool"] == "fast"));
    let record = model.world.placements.values().next().unwrap();
    assert_eq!(record.spec.at, "2x2@2,2");
    assert!(!patches.is_empty() && patches.iter().all(|patch| !patch.contains("nodeSelector\"")));
}

#[test]
fn who_gets_quota_of_another_flavor_gets_another_box_before_it_is_admitted() {
    let mut model = model(&json!({}));
    let kueue = Kueue::new(&mut model, 16, json!({ "pool": "fast" }));
    for name in ["n2-2", "n3-2", "n2-3", "n3-3"] {
        model.label(name, "pool", "fast");
    }
    for name in ["n0-2", "n1-2", "n0-3", "n1-3"] {
        model.label(name, "pool", "slow");
    }
    let job = Kueue::submit(&mut model, "a", "2x2", 0);
    let mut memory = Memory::default();
    let mut carried = |model: &mut Model| {
        let made = planned(model, &mut memory, 0);
        for act in &made.actions {
            model.carry(act);
        }
        words(&made)
    };
    carried(&mut model);
    kueue.step(&mut model, 0);
    for word in ["propose", "confirm", "check"] {
        assert_eq!(carried(&mut model), [word]);
    }
    // The Job's quota was revoked and reassigned with another flavor, and no replica saw it without
    // quota.
    let slow = json!({
        "metadata": { "name": "slow", "uid": "slow" },
        "spec": { "nodeLabels": { "pool": "slow" } },
    });
    model.world.kueue.flavors.insert("slow".into(), serde_json::from_value(slow).unwrap());
    let mut one = model.world.kueue.workloads.values().next().unwrap().clone();
    let admission = json!({ "podSetAssignments": [{ "flavors": { "pods": "slow" }, "count": 4 }] });
    one.status.admission = Some(serde_json::from_value(admission).unwrap());
    one.status.admission_checks[1].state = "Pending".into();
    model.put_workload(one);
    let words: Vec<Vec<&str>> = (0..4).map(|_| carried(&mut model)).collect();
    assert!(words[0].contains(&"withdraw"), "{words:?}");
    assert_eq!(check(&model, &job), ("Ready".into(), "its box is 2x2 at 0,2".into()), "{words:?}");
}

#[test]
fn a_job_that_kueue_places_itself_is_left_alone() {
    let asked = |template: Value| {
        let mut model = model(&json!({}));
        let job = model.add_job("a", "2x2", &json!({}));
        model.change_template(&job, template);
        model.make_pods();
        planned(&model, &mut Memory::default(), 0)
    };
    let annotation = "kueue.x-k8s.io/podset-required-topology";
    let marked = json!({ "metadata": { "annotations": { annotation: "rack" } }, "spec": {} });
    let made = asked(marked);
    assert!(made.actions.is_empty() && made.waiting[0].is_stuck(), "{made:?}");
    assert!(made.waiting[0].why.contains("topology-aware"), "{made:?}");
    assert_eq!(asked(json!({ "metadata": {}, "spec": {} })).actions.len(), 1);
    // The queue enables topology-aware scheduling without an annotation: the pods have a gate.
    let mut model = model(&json!({}));
    model.add_job("a", "2x2", &json!({}));
    model.make_pods();
    model.gate_all("kueue.x-k8s.io/topology");
    assert!(planned(&model, &mut Memory::default(), 0).actions.is_empty());
}

#[test]
fn a_job_that_is_cut_to_a_count_that_is_no_box_gives_its_quota_back() {
    let mut model = model(&json!({}));
    let mut kueue = Kueue::new(&mut model, 16, json!({}));
    kueue.cut = 1;
    let job = Kueue::submit(&mut model, "a", "2x2", 0);
    let mut memory = Memory::default();
    kueue.step(&mut model, 0);
    let made = planned(&model, &mut memory, 0);
    assert!(made.actions.iter().all(|act| act.word() != "propose"), "{made:?}");
    for act in &made.actions {
        model.carry(act);
    }
    let (state, message) = check(&model, &job);
    assert_eq!(state, "Retry");
    assert!(message.contains("different number of pods"), "{message}");
    kueue.step(&mut model, 0);
    assert_eq!(Kueue::used(&model), 4, "until the time of the retry");
    kueue.step(&mut model, 60);
    assert_eq!(Kueue::used(&model), 0);
    kueue.cut = 0;
    go(&mut model, &kueue, &mut memory, 61, 70);
    assert_eq!(runs(&model, &job), 4);
}

#[test]
fn who_waits_for_a_place_says_why_and_gives_its_quota_back_after_a_while() {
    let mut model = model(&json!({ "quotaSeconds": 20 }));
    let kueue = Kueue::new(&mut model, 100, json!({}));
    let first = Kueue::submit(&mut model, "first", "4x3", 0);
    let mut memory = Memory::default();
    go(&mut model, &kueue, &mut memory, 0, 10);
    let second = Kueue::submit(&mut model, "second", "2x2", 0);
    go(&mut model, &kueue, &mut memory, 10, 15);
    let (state, message) = check(&model, &second);
    assert_eq!(state, "Pending");
    assert!(message.contains("waiting for a box") && message.contains("first"), "{message}");
    let mut given_back = false;
    for now in 15..40 {
        go(&mut model, &kueue, &mut memory, now, now + 1);
        given_back |= check(&model, &second).0 == "Retry";
    }
    assert!(given_back, "{:?}", check(&model, &second));
    end(&mut model, &first);
    go(&mut model, &kueue, &mut memory, 40, 60);
    assert_eq!(runs(&model, &second), 4);
}

#[test]
fn a_proposal_that_is_withdrawn_does_not_make_patience_begin_anew() {
    let mut model = model(&json!({ "quotaSeconds": 20 }));
    let kueue = Kueue::new(&mut model, 100, json!({}));
    Kueue::submit(&mut model, "first", "4x3", 0);
    let mut memory = Memory::default();
    go(&mut model, &kueue, &mut memory, 0, 10);
    let second = Kueue::submit(&mut model, "second", "2x2", 0);
    go(&mut model, &kueue, &mut memory, 10, 20);
    // A replica that has not seen the first Job's record proposes some of its nodes.
    let job = ObjectRef::of(&model.world.jobs[&second]);
    let placement = PlacementSpec {
        machine: "m".into(),
        job_uid: second.clone(),
        shape: "2x2".into(),
        at: "2x2@0,0".into(),
        nodes: ["n0-0", "n1-0", "n0-1", "n1-1"].map(String::from).into(),
        ..PlacementSpec::default()
    };
    assert!(model.carry(&Action::Propose { job, placement }));
    let mut given_back = false;
    for now in 20..34 {
        go(&mut model, &kueue, &mut memory, now, now + 1);
        given_back |= check(&model, &second).0 == "Retry";
    }
    assert!(given_back, "{:?}", check(&model, &second));
}

#[test]
fn a_job_that_is_preempted_when_a_pod_of_it_has_ended_is_placed_again() {
    let mut model = model(&json!({}));
    let mut kueue = Kueue::new(&mut model, 16, json!({}));
    kueue.preempts = true;
    let (mut memory, low) = (Memory::default(), Kueue::submit(&mut model, "low", "4x4", 0));
    go(&mut model, &kueue, &mut memory, 0, 10);
    let first = model.pods(|pod| pod.owner().as_ref() == Some(&low)).remove(0);
    model.succeed(&first);
    let high = Kueue::submit(&mut model, "high", "4x2", 5);
    go(&mut model, &kueue, &mut memory, 10, 30);
    assert_eq!((runs(&model, &low), runs(&model, &high)), (0, 8));
    end(&mut model, &high);
    // The quota is now for 15 pods, but the box has 16 nodes.
    go(&mut model, &kueue, &mut memory, 30, 50);
    assert_eq!(runs(&model, &low), 15, "{:?}", check(&model, &low));
}

#[test]
fn an_admitted_job_that_lost_its_place_gives_its_quota_back() {
    let mut model = model(&json!({ "quotaSeconds": 20 }));
    let kueue = Kueue::new(&mut model, 16, json!({}));
    let large = Kueue::submit(&mut model, "large", "4x4", 0);
    let mut memory = Memory::default();
    go(&mut model, &kueue, &mut memory, 0, 10);
    assert_eq!(runs(&model, &large), 16);
    model.delete_node("n3-3");
    let small = Kueue::submit(&mut model, "small", "2x2", 0);
    go(&mut model, &kueue, &mut memory, 10, 28);
    assert_eq!((check(&model, &large).0.as_str(), runs(&model, &small)), ("Ready", 0));
    go(&mut model, &kueue, &mut memory, 28, 45);
    assert_eq!((runs(&model, &large), runs(&model, &small)), (0, 4), "{:?}", check(&model, &large));
}

#[test]
fn who_gave_its_quota_back_queues_behind_others_of_its_priority() {
    let mut model = model(&json!({ "quotaSeconds": 10 }));
    let kueue = Kueue::new(&mut model, 12, json!({}));
    let holder = model.add_job("holder", "4x2", &json!({}));
    let mut memory = Memory::default();
    go(&mut model, &kueue, &mut memory, 0, 5);
    let large = Kueue::submit(&mut model, "large", "4x3", 0);
    let small = Kueue::submit(&mut model, "small", "2x2", 0);
    go(&mut model, &kueue, &mut memory, 5, 40);
    assert_eq!(
        (runs(&model, &holder), runs(&model, &small)),
        (8, 4),
        "{:?}",
        check(&model, &large)
    );
}

#[test]
fn who_asks_for_no_box_is_let_go_and_who_is_of_no_machine_is_told_so() {
    let mut model = model(&json!({}));
    let kueue = Kueue::new(&mut model, 16, json!({}));
    let plain = Kueue::submit(&mut model, "plain", "2x2", 0);
    let stray = Kueue::submit(&mut model, "stray", "2x2", 0);
    let annotation = |model: &mut Model, job: &Uid, name: &str, value: Option<&str>| {
        let mut changed = model.world.jobs[job].clone();
        let all = changed.metadata.annotations.get_or_insert_default();
        match value {
            Some(value) => drop(all.insert(name.to_string(), value.to_string())),
            None => drop(all.remove(name)),
        }
        model.put_job(changed);
    };
    annotation(&mut model, &plain, "pavior.dev/shape", None);
    annotation(&mut model, &stray, "pavior.dev/machine", Some("none"));
    // A JobSet, and a Job that has not been read yet.
    let set = Kueue::submit(&mut model, "set", "2x2", 0);
    let unread = Kueue::submit(&mut model, "unread", "2x2", 0);
    for (job, kind) in [(&set, "JobSet"), (&unread, "Job")] {
        let mut all = model.world.kueue.workloads.values();
        let mut one = all.find(|one| one.job().as_ref() == Some(job)).unwrap().clone();
        let owner = json!([{ "apiVersion": "v1", "kind": kind, "name": "a", "uid": job }]);
        one.metadata.owner_references = serde_json::from_value(owner).unwrap();
        model.put_workload(one);
    }
    kueue.step(&mut model, 0);
    model.delete_job(&set);
    model.delete_job(&unread);
    for act in planned(&model, &mut Memory::default(), 0).actions {
        model.carry(&act);
    }
    assert_eq!(check(&model, &plain).0, "Ready");
    assert_eq!(check(&model, &set).0, "Ready");
    assert_eq!(check(&model, &unread).0, "Pending");
    let (state, message) = check(&model, &stray);
    assert_eq!(state, "Retry");
    assert!(message.contains("does not name a Machine"), "{message}");
}

#[test]
fn a_job_that_is_stopped_when_its_last_pod_has_ended_is_let_go() {
    let mut model = model(&json!({}));
    let kueue = Kueue::new(&mut model, 16, json!({}));
    let job = Kueue::submit(&mut model, "a", "2x2", 0);
    kueue.step(&mut model, 0);
    let mut ended = model.world.jobs[&job].clone();
    ended.status.succeeded = Some(4);
    let met = json!({ "type": "SuccessCriteriaMet", "status": "True" });
    ended.status.conditions = serde_json::from_value(json!([met])).unwrap();
    model.put_job(ended);
    for act in planned(&model, &mut Memory::default(), 0).actions {
        assert_ne!(act.word(), "propose", "it needs no place");
        model.carry(&act);
    }
    assert_eq!(check(&model, &job).0, "Ready");
}

#[test]
fn what_no_state_of_the_machine_could_hold_is_rejected_and_only_that() {
    let mut model = model(&json!({}));
    let kueue = Kueue::new(&mut model, 100, json!({}));
    let jobs = ["5x1", "4x4"].map(|shape| Kueue::submit(&mut model, shape, shape, 0));
    model.cordon("n1-1", true);
    kueue.step(&mut model, 0);
    for act in planned(&model, &mut Memory::default(), 0).actions {
        model.carry(&act);
    }
    let (state, message) = check(&model, &jobs[0]);
    assert_eq!(state, "Rejected", "{message}");
    assert!(message.contains("does not fit on mesh:4x4"), "{message}");
    assert_eq!(check(&model, &jobs[1]).0, "Pending", "a node may come back");
}

#[test]
fn a_workload_in_retry_gets_no_box() {
    let mut model = model(&json!({}));
    let kueue = Kueue::new(&mut model, 16, json!({}));
    Kueue::submit(&mut model, "a", "2x2", 0);
    kueue.step(&mut model, 0);
    let proposes = |model: &Model| {
        let made = planned(model, &mut Memory::default(), 0);
        made.actions.iter().any(|act| act.word() == "propose")
    };
    assert!(proposes(&model));
    let mut one = model.world.kueue.workloads.values().next().unwrap().clone();
    one.status.admission_checks[1].state = "Retry".into();
    model.put_workload(one);
    assert!(!proposes(&model), "it is about to lose its quota");
}
