//! Tests for plans in simple situations.

use serde_json::json;

use super::model::Model;
use super::view::View;
use crate::objects::{Object as _, Uid};
use crate::plan::{Action, Detail, Memory, Plan, Waiting, plan};
use crate::world::Index;

pub(super) fn planned(model: &Model) -> Plan {
    planned_at(model, &mut Memory::default(), 10_000).unwrap()
}

pub(super) fn planned_at(model: &Model, memory: &mut Memory, now: i64) -> Result<Plan, String> {
    let mut view = View::default();
    view.catch_up(model);
    plan(&Index::of(&view.world), "m", memory, now, Detail::DAEMON)
}

/// Returns the machine's fault.
pub(super) fn fault(model: &Model) -> String {
    planned_at(model, &mut Memory::default(), 0).unwrap_err()
}

/// Creates and applies plans until nothing changes.
pub(super) fn settle(model: &mut Model) -> Plan {
    settle_with(model, &mut Memory::default())
}

pub(super) fn settle_with(model: &mut Model, memory: &mut Memory) -> Plan {
    for _ in 0..20 {
        model.make_pods();
        let made = planned_at(model, memory, 10_000).unwrap();
        if made.actions.is_empty() {
            return made;
        }
        model.apply_all(&made);
        model.bind();
    }
    panic!("plans never settle: {:?}", planned(model).actions);
}

pub(super) fn kinds(made: &Plan) -> Vec<&'static str> {
    made.actions.iter().map(Action::kind).collect()
}

#[test]
fn slots_are_counted_for_the_current_shapes() {
    let mut model = Model::new("torus:4x4", &json!({}));
    let memory = &mut Memory::default();
    for (shape, free) in [("2x2", 4), ("4x2", 2)] {
        model.world.machines.get_mut("m").unwrap().spec.slots = vec![shape.to_string()];
        let slots = planned_at(&model, memory, 0).unwrap().status.slots;
        assert_eq!((slots[0].shape.as_str(), slots[0].free), (shape, free));
    }
}

#[test]
fn a_job_is_proposed_confirmed_and_opened_in_the_order_of_its_ranks() {
    let mut model = Model::new("torus:4x4", &json!({}));
    model.add_job("a", "2x2", &json!({}));
    assert!(planned(&model).actions.is_empty(), "it has no pods yet");
    model.make_pods();
    let made = planned(&model);
    let [Action::Propose { placement, .. }] = &made.actions[..] else {
        panic!("{:?}", made.actions)
    };
    assert_eq!(placement.at, "2x2@0,0");
    assert_eq!(placement.nodes, ["n0-0", "n1-0", "n0-1", "n1-1"]);
    model.apply(&made.actions[0]);
    let made = planned(&model);
    assert_eq!(kinds(&made), ["confirm"]);
    model.apply(&made.actions[0]);
    let made = planned(&model);
    assert_eq!(kinds(&made), ["open"; 4]);
    for action in &made.actions {
        assert!(model.apply(action));
    }
    model.bind();
    assert!(planned(&model).actions.is_empty());
    let on = model.pods(|pod| pod.node() == Some("n1-0"));
    assert_eq!(model.world.pods[&on[0]].rank(), Some(1));
    assert_eq!(planned(&model).status.busy, 4);
}

#[test]
fn unplaceable_jobs_get_a_reason_and_do_not_block_others() {
    let mut model = Model::new("torus:4x4", &json!({}));
    model.add_job("large", "8x1", &json!({}));
    model.add_job("deep", "2x2x2", &json!({}));
    model.add_job("odd", "2x\u{1b}[2J", &json!({}));
    model.add_job("picky", "2x2", &json!({ "nodeSelector": { "disk": "fast" } }));
    model.add_job("good", "4x4", &json!({}));
    let made = settle(&mut model);
    let why: Vec<&str> = made.waiting.iter().map(|one| one.why.as_str()).collect();
    assert_eq!(why.len(), 4, "{why:?}");
    let words = ["not fit on torus:4x4", "2 axes", "use 1 to 3", "tolerations"];
    for (word, text) in words.iter().zip(why) {
        assert!(text.contains(word), "{text}");
        assert!(!text.contains('\u{1b}'), "{text:?}");
    }
    assert!(made.waiting.iter().all(Waiting::is_blocked));
    assert_eq!(made.status.free, 0);
}

#[test]
fn the_reason_names_the_jobs_in_the_way() {
    let mut model = Model::new("mesh:4x4", &json!({}));
    model.add_job("first", "4x3", &json!({}));
    model.add_job("second", "2x2", &json!({}));
    let made = settle(&mut model);
    let [waiting] = &made.waiting[..] else { panic!("{:?}", made.waiting) };
    assert!(waiting.why.contains("Job default/first"), "{}", waiting.why);
    assert!(!waiting.is_blocked());
}

#[test]
fn the_reason_does_not_name_jobs_in_other_namespaces() {
    let mut model = Model::new("mesh:4x4", &json!({}));
    model.add_job_in("secret", "merger", "4x3", &json!({}));
    model.add_job("second", "2x2", &json!({}));
    let made = settle(&mut model);
    let why = &made.waiting[0].why;
    assert!(why.contains("a Job in another namespace") && !why.contains("merger"), "{why}");
}

#[test]
fn pods_in_another_namespace_do_not_belong_to_a_job() {
    let mut model = Model::new("mesh:4x4", &json!({}));
    let job = model.add_waiting_job("a", "2x2");
    model.add_pod_of(&job, "other", 0);
    assert_eq!(kinds(&planned(&model)), ["propose"]);
}

#[test]
fn a_node_with_a_pod_that_claims_to_belong_to_the_job_is_not_free() {
    let mut model = Model::new("mesh:4x4", &json!({}));
    let job = model.add_waiting_job("a", "2x1");
    model.propose(&job, &["n0-0", "n1-0"]);
    for (namespace, kind) in [("default", "confirm"), ("other", "withdraw")] {
        model.add_pod_of(&job, namespace, 0);
        let uid = model.pods(|pod| pod.node().is_none() && pod.namespace() == namespace).remove(0);
        let mut pod = model.world.pods[&uid].clone();
        pod.spec.node_name = Some("n0-0".into());
        model.put_pod(pod);
        assert_eq!(kinds(&planned(&model))[0], kind, "{namespace}");
    }
}

#[test]
fn a_namespace_cannot_exceed_its_limits() {
    let limits = json!({ "nodesPerNamespace": 6, "queuedPerNamespace": 2 });
    let mut model = Model::new("mesh:4x4", &limits);
    for name in ["a", "b", "c", "d"] {
        model.add_job(name, "2x2", &json!({}));
    }
    let made = settle(&mut model);
    assert_eq!(made.status.busy, 4);
    assert!(made.waiting.iter().all(|one| one.why.contains("node limit")), "{made:?}");
}

#[test]
fn a_namespace_over_its_limit_takes_turns_with_others() {
    let mut model = Model::new("mesh:4x4", &json!({ "nodesPerNamespace": 12 }));
    let rows: Vec<Uid> =
        (0..9).map(|name| model.add_job(&format!("row{name}"), "4x1", &json!({}))).collect();
    let mut memory = Memory::default();
    settle_with(&mut model, &mut memory);
    let modest = model.add_job_in("other", "modest", "4x3", &json!({}));
    model.make_pods();
    assert!(planned(&model).actions.is_empty(), "one row is free, but three are needed");
    let placed = |model: &Model, job: &Uid| {
        model.world.placements.values().any(|one| one.spec.job_uid == *job)
    };
    // The crowded namespace may start one Job that was already waiting and one Job outside the box
    // reserved for the other namespace. Then it is the other namespace's turn.
    for (ends, placed_rows, other) in [(1, 4, false), (2, 5, false), (3, 5, false), (0, 5, true)] {
        model.end(&rows[ends]);
        settle_with(&mut model, &mut memory);
        let ever = rows.iter().filter(|&row| placed(&model, row) || model.ended.contains_key(row));
        assert_eq!((ever.count(), placed(&model, &modest)), (placed_rows, other), "{ends}");
    }
}

#[test]
fn a_cordon_does_not_move_running_jobs() {
    let mut model = Model::new("mesh:4x4", &json!({}));
    model.add_job("a", "4x4", &json!({}));
    settle(&mut model);
    model.cordon("n2-2", true);
    assert!(planned(&model).actions.is_empty());
    // The pod on the node is evicted. Its replacement finds no node, so the whole Job waits for
    // another box.
    let on = model.pods(|pod| pod.node() == Some("n2-2"));
    model.delete_pod(&on[0]);
    model.end_terminating();
    model.make_pods();
    assert_eq!(kinds(&planned(&model)), ["withdraw"]);
    model.cordon("n2-2", false);
    assert_eq!(kinds(&planned(&model)), ["open"]);
}

#[test]
fn a_suspended_job_releases_its_nodes_when_its_pods_are_gone() {
    let mut model = Model::new("mesh:4x4", &json!({}));
    let job: Uid = model.add_job("a", "4x4", &json!({}));
    model.add_job("b", "1x1", &json!({}));
    settle(&mut model);
    model.suspend(&job, true);
    assert!(planned(&model).actions.is_empty(), "its pods still have the nodes");
    model.make_pods();
    model.end_terminating();
    let made = settle(&mut model);
    assert_eq!((made.status.busy, made.waiting.len()), (1, 0));
}

#[test]
fn a_placement_that_lacks_a_node_still_holds_its_other_nodes() {
    let mut model = Model::new("mesh:4x4", &json!({}));
    let jobs = ["a", "b"].map(|name| model.add_job(name, "2x1", &json!({})));
    model.make_pods();
    // Two replicas create one placement each, before either has seen the other's placement.
    for (job, nodes) in jobs.iter().zip([["n0-0", "n1-0"], ["n1-0", "n2-0"]]) {
        model.propose(job, &nodes);
    }
    assert_eq!(kinds(&planned(&model)), ["confirm", "withdraw"]);
    // A replica that has not seen this deletion yet may still confirm the older placement.
    model.delete_node("n0-0");
    assert_eq!(kinds(&planned(&model)), ["withdraw", "withdraw"]);
}

/// Checks that a replica deletes no valid objects if its watches lag by different amounts.
#[test]
fn a_lagging_replica_deletes_no_valid_objects() {
    let mut model = Model::new("torus:4x4", &json!({}));
    let mut views = [View::default(), View::default()];
    for view in &mut views {
        view.catch_up(&model);
    }
    model.add_waiting_job("a", "2x2");
    for word in ["propose", "confirm", "open"] {
        let made = planned(&model);
        assert!(kinds(&made).iter().all(|kind| *kind == word), "{word}");
        assert!(made.actions.iter().all(|action| model.apply(action)), "{word}");
    }
    let [without_placement, without_job] = &mut views;
    // One replica has read the Jobs and pods but not the placement; the other has read the
    // placement but not its Job.
    for kind in 0..2 {
        without_placement.advance(&model, kind, usize::MAX);
    }
    without_job.advance(&model, 3, usize::MAX);
    for (view, expected) in
        [(without_placement, vec!["remove"; 4]), (without_job, vec!["withdraw"])]
    {
        let index = Index::of(&view.world);
        let made = plan(&index, "m", &mut Memory::default(), 10_000, Detail::DAEMON).unwrap();
        assert_eq!(kinds(&made), expected);
        assert!(made.actions.iter().all(|action| !model.apply(action)), "{:?}", made.actions);
    }
}

#[test]
fn a_strategy_that_does_not_grant_boxes_is_a_fault() {
    // Jobs need boxes of exactly their shape, so strategies must not grant anything else.
    for strategy in ["2db", "mbs"] {
        let why = fault(&Model::new("mesh:4x4", &json!({ "strategy": strategy })));
        assert!(why.contains("does not give every Job a single box"), "{why}");
    }
}
