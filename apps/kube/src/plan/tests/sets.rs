//! Jobs in a set that share one box.

use serde_json::json;

use super::model::Model;
use super::small::{kinds, planned, settle};
use crate::objects::{Object as _, Pod};
use crate::plan::Action;

/// Returns the node and Job number of each open pod, in order of Job and index.
fn nodes(model: &Model) -> Vec<(String, String)> {
    let open = model.pods(|pod| pod.node().is_some());
    let of = |uid| {
        let pod = &model.world.pods[uid];
        let job = model.world.jobs[&pod.owner().unwrap()].name().to_string();
        ((job, pod.rank().unwrap()), pod.node().unwrap().to_string())
    };
    let mut all: Vec<_> = open.iter().map(of).collect();
    all.sort_unstable();
    all.into_iter().map(|((job, _), node)| (job, node)).collect()
}

#[test]
fn a_set_gets_one_box_in_order_of_job_numbers_and_pod_indexes() {
    let mut model = Model::new("mesh:4x4", &json!({}));
    // The Jobs are created in a different order than their numbers.
    model.add_job_of("s", 1, "4x2", 5);
    let first = model.add_job_of("s", 0, "4x2", 3);
    model.make_pods();
    let made = planned(&model);
    let [Action::Propose { job, placement }] = &made.actions[..] else {
        panic!("{:?}", made.actions)
    };
    assert_eq!((&job.uid, placement.set.len()), (&first, 2));
    settle(&mut model);
    let nodes = nodes(&model);
    let names: Vec<&str> = nodes.iter().map(|(_, node)| node.as_str()).collect();
    assert_eq!(names, ["n0-0", "n1-0", "n2-0", "n3-0", "n0-1", "n1-1", "n2-1", "n3-1"]);
    assert_eq!(nodes.iter().filter(|(job, _)| job == "s-0").count(), 3);
}

#[test]
fn an_incomplete_set_waits_with_a_reason() {
    let mut model = Model::new("mesh:4x4", &json!({}));
    model.add_job_of("s", 0, "4x2", 4);
    let made = settle(&mut model);
    assert_eq!((made.status.busy, made.waiting.len()), (0, 1));
    let why = &made.waiting[0].why;
    assert_eq!(why, "its set has 1 Job with 4 completions in total, too few for 8 nodes");
    assert!(!made.waiting[0].is_blocked());
    // A Job that is in another set, or has another shape, does not belong to this set.
    model.add_job_of("t", 1, "4x2", 4);
    model.add_job_of("s", 2, "4x1", 4);
    assert_eq!(settle(&mut model).status.busy, 4, "only the second set is complete");
    model.add_job_of("s", 1, "4x2", 4);
    assert_eq!(settle(&mut model).status.busy, 12);
}

#[test]
fn duplicate_job_numbers_are_rejected() {
    let mut model = Model::new("mesh:4x4", &json!({}));
    model.add_job_of("s", 0, "4x2", 4);
    model.add_job_of("s", 0, "4x2", 4);
    let made = settle(&mut model);
    assert_eq!((made.status.busy, made.waiting.len()), (0, 2));
    assert!(made.waiting[0].why.contains("the same number"), "{}", made.waiting[0].why);
}

#[test]
fn a_set_is_placed_again_after_one_of_its_jobs_is_deleted() {
    let mut model = Model::new("mesh:4x2", &json!({}));
    let first = model.add_job_of("s", 0, "4x2", 4);
    let second = model.add_job_of("s", 1, "4x2", 4);
    settle(&mut model);
    assert_eq!(nodes(&model).len(), 8);
    model.delete_job(&second);
    assert_eq!(kinds(&planned(&model)), ["withdraw"]);
    // The other Job's pods keep running until there is a Job to place them with.
    let made = settle(&mut model);
    let is_bound = |pod: &Pod| pod.owner().as_ref() == Some(&first) && pod.node().is_some();
    assert_eq!(model.pods(is_bound).len(), 4);
    assert!(made.waiting.iter().all(|one| one.why.contains("too few")), "{:?}", made.waiting);
    model.end_terminating();
    model.add_job_of("s", 1, "4x2", 4);
    for _ in 0..3 {
        settle(&mut model);
        model.end_terminating();
    }
    let made = settle(&mut model);
    assert_eq!((made.status.busy, made.waiting.len()), (8, 0));
    assert_eq!(nodes(&model).len(), 8);
}

#[test]
fn a_finished_job_keeps_the_box_of_its_set() {
    let mut model = Model::new("mesh:4x2", &json!({}));
    let first = model.add_job_of("s", 0, "4x2", 4);
    let second = model.add_job_of("s", 1, "4x2", 4);
    settle(&mut model);
    model.end(&first);
    assert!(planned(&model).actions.is_empty());
    model.end(&second);
    assert_eq!(kinds(&planned(&model)), ["withdraw"]);
}
