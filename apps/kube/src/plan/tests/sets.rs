//! Tests for sets of Jobs that share one box.

use serde_json::json;

use super::model::Model;
use super::small::{kinds, planned, settle};
use crate::objects::{Object as _, Pod};
use crate::plan::Action;

/// A pod that is bound to a node.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct BoundPod {
    /// The Job's number in its set, and the pod's index.
    rank: (Option<u32>, Option<usize>),
    node: String,
}

/// Returns the bound pods in order of Job number and index.
fn bound_pods(model: &Model) -> Vec<BoundPod> {
    let bound = model.pods(|pod| pod.node().is_some());
    let mut pods: Vec<BoundPod> = bound
        .iter()
        .map(|uid| {
            let pod = &model.world.pods[uid];
            let job = &model.world.jobs[&pod.owner().unwrap()];
            let node = pod.node().unwrap().to_string();
            BoundPod { rank: (job.global_index(), pod.rank()), node }
        })
        .collect();
    pods.sort_unstable();
    pods
}

#[test]
fn a_set_gets_one_box_in_order_of_job_numbers_and_pod_indexes() {
    let mut model = Model::new("mesh:4x4", &json!({}));
    // Create the Jobs out of numerical order.
    model.add_job_of("s", 1, "4x2", 5);
    let first = model.add_job_of("s", 0, "4x2", 3);
    model.make_pods();
    let made = planned(&model);
    let [Action::Propose { job, placement }] = &made.actions[..] else {
        panic!("{:?}", made.actions)
    };
    assert_eq!((&job.uid, placement.set.len()), (&first, 2));
    settle(&mut model);
    let pods = bound_pods(&model);
    let nodes: Vec<&str> = pods.iter().map(|pod| pod.node.as_str()).collect();
    assert_eq!(nodes, ["n0-0", "n1-0", "n2-0", "n3-0", "n0-1", "n1-1", "n2-1", "n3-1"]);
    assert_eq!(pods.iter().filter(|pod| pod.rank.0 == Some(0)).count(), 3);
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
    // A Job with another controller or another shape is not part of this set.
    model.add_job_of("t", 1, "4x2", 4);
    model.add_job_of("s", 2, "4x1", 4);
    assert_eq!(settle(&mut model).status.busy, 4, "the Job with the shape 4x1 is complete");
    model.add_job_of("s", 1, "4x2", 4);
    assert_eq!(settle(&mut model).status.busy, 12);
}

#[test]
fn sets_that_do_not_match_their_shape_get_no_box() {
    let same = "two Jobs in its set have the same number in jobset.sigs.k8s.io/job-global-index";
    let no_number =
        "a Job in its set has no number in its jobset.sigs.k8s.io/job-global-index label";
    let too_many = "its set has 2 Jobs with 9 completions in total, too many for 8 nodes";
    for (number, pods, why) in [(Some(0), 4, same), (None, 4, no_number), (Some(1), 5, too_many)] {
        let mut model = Model::new("mesh:4x4", &json!({}));
        model.add_job_of("s", 0, "4x2", 4);
        let second = model.add_job_of("s", number.unwrap_or(1), "4x2", pods);
        if number.is_none() {
            model.change_job(&second, |job| job.metadata.labels = None);
        }
        let made = settle(&mut model);
        let reasons: Vec<&str> = made.waiting.iter().map(|one| one.why.as_str()).collect();
        assert_eq!((made.status.busy, reasons), (0, vec![why; 2]));
    }
}

#[test]
fn a_set_is_placed_again_after_one_of_its_jobs_is_deleted() {
    let mut model = Model::new("mesh:4x2", &json!({}));
    let first = model.add_job_of("s", 0, "4x2", 4);
    let second = model.add_job_of("s", 1, "4x2", 4);
    settle(&mut model);
    assert_eq!(bound_pods(&model).len(), 8);
    model.delete_job(&second);
    assert_eq!(kinds(&planned(&model)), ["withdraw"]);
    // The other Job's pods keep running until the deleted Job is replaced.
    let made = settle(&mut model);
    let is_bound = |pod: &Pod| pod.owner().as_ref() == Some(&first) && pod.node().is_some();
    assert_eq!(model.pods(is_bound).len(), 4);
    let [waiting] = &made.waiting[..] else { panic!("{:?}", made.waiting) };
    assert!(waiting.why.contains("too few"), "{}", waiting.why);
    model.end_terminating();
    model.add_job_of("s", 1, "4x2", 4);
    // The old pods of the remaining Job are deleted, and its new pods can then be placed.
    settle(&mut model);
    model.end_terminating();
    let made = settle(&mut model);
    assert_eq!((made.status.busy, made.waiting.len()), (8, 0));
    assert_eq!(bound_pods(&model).len(), 8);
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
