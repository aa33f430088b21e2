//! Tests for former bugs: Jobs that waited forever, and Jobs or machines that blocked others.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::model::Model;
use super::small::{fault, kinds, planned, planned_at, settle};
use crate::objects::Machine;
use crate::plan::waiting::Prospect;
use crate::plan::{Detail, Memory, Waiting, plan};
use crate::world::Index;

#[test]
fn failed_indexes_need_no_pod() {
    let mut model = Model::new("mesh:4x4", &json!({}));
    let job = model.add_job("a", "4x2", &json!({}));
    let status = json!({ "succeeded": 1, "failedIndexes": "0,2-4,9-8,x" });
    model.change_job(&job, |job| job.status = serde_json::from_value(status).unwrap());
    let ended = [0, 1, 2, 3, 4].map(|rank| (rank, "n0-0".to_string()));
    model.ended.insert(job, BTreeMap::from(ended));
    model.make_pods();
    assert_eq!(kinds(&planned(&model)), ["propose"]);
    settle(&mut model);
    assert_eq!(model.pods(|pod| pod.node().is_some()).len(), 3);
}

#[test]
fn a_rejected_placement_holds_no_nodes_and_its_job_gets_the_reason() {
    let mut model = Model::new("mesh:4x4", &json!({}));
    let [first, second] = ["a", "b"].map(|name| model.add_job(name, "4x4", &json!({})));
    model.make_pods();
    let mut memory = Memory::default();
    let proposed = |memory: &mut Memory, now: i64| {
        let plan = planned_at(&model, memory, now).unwrap();
        (plan.actions[0].object().uid.clone(), plan)
    };
    assert_eq!(proposed(&mut memory, 0).0, first);
    memory.reject(&first, "exceeded quota: few", 0);
    let (other, plan) = proposed(&mut memory, 1);
    let waiting = &plan.waiting[0];
    assert_eq!((&other, &waiting.job.uid), (&second, &first));
    assert!(waiting.why.contains("exceeded quota: few") && !waiting.is_blocked(), "{waiting:?}");
    assert!(plan.depends_on_time);
    assert_eq!(proposed(&mut memory, 60).0, first, "it is tried again");
}

#[test]
fn the_newer_of_two_machines_with_the_same_node_has_a_fault() {
    let mut model = Model::new("mesh:4x4", &json!({}));
    let other = json!({
        "metadata": { "name": "a", "uid": "a", "creationTimestamp": "2026-11-29T00:00:00Z" },
        "spec": { "grid": "mesh:2x1", "nodes": { "pattern": "n{x}-{y}" } },
    });
    model.world.machines.insert("a".into(), serde_json::from_value(other).unwrap());
    let index = Index::of(&model.world);
    let made = |name: &str| plan(&index, name, &mut Memory::default(), 0, Detail::DAEMON);
    assert!(made("m").is_ok());
    assert_eq!(made("a").unwrap_err(), "nodes: n0-0 belongs to the older Machine m");
}

#[test]
fn a_placement_with_running_pods_survives_the_loss_of_its_nodes_labels() {
    let mut model = Model::new("mesh:4x4", &json!({}));
    model.add_job("a", "4x2", &json!({}));
    settle(&mut model);
    model.add_waiting_job("b", "4x2");
    model.apply(&planned(&model).actions[0]);
    let pattern = |model: &mut Model, pattern: &str| {
        let machine: &mut Machine = model.world.machines.get_mut("m").unwrap();
        machine.spec.nodes.pattern = Some(pattern.to_string());
    };
    pattern(&mut model, "other{x}-{y}");
    let made = planned(&model);
    assert_eq!(kinds(&made), ["withdraw"], "the proposal alone: {made:?}");
    pattern(&mut model, "n{x}-{y}");
    assert_eq!(kinds(&planned(&model)), ["confirm"]);
}

#[test]
fn a_condition_taint_does_not_block_a_job_forever() {
    for (key, never) in [("node.kubernetes.io/memory-pressure", false), ("theirs", true)] {
        let mut model = Model::new("mesh:2x2", &json!({}));
        model.add_waiting_job("a", "2x2");
        let taint = json!([{ "key": key, "effect": "NoSchedule" }]);
        model.change_node("n1-1", |node| node.spec.taints = serde_json::from_value(taint).unwrap());
        let made = planned(&model);
        assert!(made.actions.is_empty(), "{made:?}");
        assert_eq!(made.waiting[0].is_blocked(), never, "{made:?}");
    }
}

#[test]
fn a_job_that_exceeds_its_namespaces_limit_on_its_own_is_blocked() {
    let mut model = Model::new("mesh:4x4", &json!({ "nodesPerNamespace": 8 }));
    model.add_job("large", "4x4", &json!({}));
    model.add_job("fits", "4x2", &json!({}));
    let made = settle(&mut model);
    let [waiting] = &made.waiting[..] else { panic!("{:?}", made.waiting) };
    let why = "its shape has 16 nodes, but a namespace may hold only 8";
    assert_eq!((waiting.why.as_str(), waiting.prospect), (why, Prospect::Blocked));
}

#[test]
fn a_placement_that_lost_a_node_counts_toward_its_namespaces_limit() {
    let mut model = Model::new("mesh:4x4", &json!({ "nodesPerNamespace": 8 }));
    model.add_job("a", "4x2", &json!({}));
    settle(&mut model);
    model.add_waiting_job("b", "2x2");
    model.delete_node("n0-0");
    let made = planned(&model);
    assert!(made.actions.is_empty() && made.waiting[0].why.contains("node limit"), "{made:?}");
}

#[test]
fn a_job_that_avoids_nodes_is_blocked_if_its_requirements_can_never_be_met() {
    for (avoided, taint, is_blocked) in
        [("n0-0", "theirs", true), ("elsewhere", "theirs", true), ("n0-0", "", false)]
    {
        let mut model = Model::new("mesh:2x2", &json!({}));
        let job = model.add_waiting_job("a", "2x2");
        let mut memory = Memory::default();
        memory.avoid(&job, avoided, 10_000);
        if !taint.is_empty() {
            let taint = json!([{ "key": taint, "effect": "NoSchedule" }]);
            let taints = serde_json::from_value(taint).unwrap();
            model.change_node("n1-1", |node| node.spec.taints = taints);
        }
        let made = planned_at(&model, &mut memory, 10_000).unwrap();
        assert!(made.actions.is_empty(), "{made:?}");
        assert_eq!(made.waiting[0].is_blocked(), is_blocked, "{avoided} {:?}", made.waiting);
    }
}

#[test]
fn a_namespace_cannot_have_any_number_of_node_requirements_checked() {
    let mut model = Model::new("mesh:4x4", &json!({ "queuedPerNamespace": 2 }));
    for number in 0..70 {
        let selector = json!({ "nodeSelector": { "rack": number.to_string() } });
        model.add_job(&format!("picky{number}"), "1x1", &selector);
    }
    model.add_job_in("other", "good", "1x1", &json!({ "nodeSelector": { "rack": "a" } }));
    model.label(&["n0-0"], "rack", "a");
    let made = settle(&mut model);
    assert_eq!(made.status.busy, 1, "other namespaces are not affected");
    let unchecked = |one: &&Waiting| one.why.contains("too many different node requirements");
    assert_eq!(made.waiting.len(), 70);
    assert_eq!(made.waiting.iter().filter(unchecked).count(), 4);
}

fn under_maintenance(maintenance: &Value, seconds: u64) -> Model {
    let mut model = Model::new("mesh:4x4", &json!({ "maintenance": [maintenance] }));
    let job = model.add_job("a", "4x2", &json!({}));
    model.limit(&job, seconds);
    model.make_pods();
    model
}

#[test]
fn jobs_that_overlap_maintenance_do_not_start() {
    // The plan is made 10,000 seconds after the Unix epoch, at 02:46:40.
    let times = |mut one: Value| {
        one["from"] = json!("1970-01-01T03:00:00Z");
        one["to"] = json!("1970-01-01T04:00:00Z");
        one
    };
    let low = times(json!({ "box": "4x2@0,0" }));
    let all = times(json!({ "nodes": ["n1-1", "n2-2", "none"] }));
    let (long, short) = (900, 600);
    for (one, seconds, at) in [
        (&low, long, Some("4x2@0,2")),
        (&low, short, Some("4x2@0,0")),
        (&all, long, None),
        (&all, short, Some("4x2@0,0")),
    ] {
        let model = under_maintenance(one, seconds);
        let made = planned(&model);
        if at.is_none() {
            let why = &made.waiting[0].why;
            assert!(why.contains("takes some of its nodes, from 1970-01-01"), "{why}");
        }
        let found = made.actions.into_iter().next().map(|one| one.into_proposal().unwrap().at);
        assert_eq!(found.as_deref(), at, "{one} {seconds}");
    }
}

#[test]
fn invalid_maintenance_is_a_fault_of_the_machine() {
    let times = ["1970-01-01T03:00:00Z", "1970-01-01T04:00:00Z"];
    for (at, from, to, word) in [
        ("4x2@0,3", times[0], times[1], "not a box on mesh:4x4"),
        ("4x2@0", times[0], times[1], "not a box"),
        ("4x2@+0,0", times[0], times[1], "not a box"),
        ("4x2@0,0", "soon", times[1], "`soon` is not a time"),
        ("4x2@0,0", times[1], times[0], "must end after it starts"),
    ] {
        let one = json!({ "box": at, "from": from, "to": to });
        let why = fault(&under_maintenance(&one, 600));
        assert!(why.starts_with("maintenance: ") && why.contains(word), "{why}");
    }
}

#[test]
fn unreadable_kueue_objects_are_a_fault_only_of_machines_with_a_check() {
    let mut model = Model::new("mesh:4x4", &json!({}));
    model.world.kueue.fault = Some("Kueue workloads: not found".to_string());
    assert!(planned(&model).actions.is_empty());
    model.world.machines.get_mut("m").unwrap().spec.admission_check = Some("place".into());
    assert_eq!(fault(&model), "admissionCheck: Kueue workloads: not found");
    let index = Index::of(&model.world);
    let observed = plan(&index, "m", &mut Memory::default(), 0, Detail::OBSERVER);
    assert!(observed.is_ok(), "an observer needs no quota");
}
