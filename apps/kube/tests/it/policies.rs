//! Tests that forbidden requests from users are rejected with a message that says why.

use serde_json::{Value, json};

use crate::cluster::objects::{JOBS, PLACEMENTS, PODS, job, set_pods};
use crate::cluster::{Cluster, User, mutates};
use crate::in_force::placement;

/// Tests all policies on one cluster, because a cluster takes a long time to start.
#[test]
fn users_cannot_open_gates_or_write_placements() {
    let Some(mut cluster) = Cluster::start("policies", [2, 2, 1]) else { return };
    cluster.machine("mesh:2x2x1");
    jobs_match_their_shape(&cluster);
    cluster.job("good", "2x2x1", 1);
    cluster.until("four pods", || cluster.items(PODS).len() == 4);
    pods_stay_gated(&cluster);
    annotations_stay(&cluster);
    for user in [User::Admin, User::Alice] {
        let word = "only pavior kube may write placements";
        check_refusal(&cluster, user, ("POST", PLACEMENTS), &placement("forged"), word);
    }
    cluster.start_replica("lease");
    cluster.until("it is complete", || cluster.succeeded(JOBS, "good") == 4);
    administrators_delete_placements(&cluster);
}

/// Checks that a four-pod Job is refused once `change` has modified it.
fn check_job(cluster: &Cluster, word: &str, change: impl FnOnce(&mut Value)) {
    let mut wrong = job("bad", "2x2x1", 1);
    change(&mut wrong);
    cluster.refuses(&wrong, word);
}

/// Checks that a policy refuses a request with a message that contains `word`.
fn check_refusal(cluster: &Cluster, user: User, request: (&str, &str), body: &Value, word: &str) {
    let (method, path) = request;
    let refusal = cluster.ask(user, method, path, body).expect_err(word);
    assert!(refusal.is_invalid(word), "{refusal:?}");
}

fn jobs_match_their_shape(cluster: &Cluster) {
    for shape in ["0x4", "12345678901", "4x4x4x4", "2\n", "\u{1b}[2J", "", "x", "2x", "-1"] {
        check_job(cluster, "is not a valid shape", |job| {
            job["metadata"]["annotations"]["pavior.dev/shape"] = json!(shape);
        });
    }
    check_job(cluster, "Indexed", |job| job["spec"]["completionMode"] = json!("NonIndexed"));
    check_job(cluster, "must be equal", |job| job["spec"]["parallelism"] = json!(2));
    check_job(cluster, "number of nodes", |job| set_pods(job, 3));
    check_job(cluster, "the pavior.dev/node limit must be 1", |job| {
        let limits = json!({ "limits": { "pavior.dev/node": "2" } });
        job["spec"]["template"]["spec"]["containers"][0]["resources"] = limits;
    });
    if mutates() {
        return;
    }
    // With no policy to add the gate and the resource, a Job lacking either is refused.
    check_job(cluster, "lacks the scheduling gate pavior.dev/placement", |job| {
        job["spec"]["template"]["spec"]["schedulingGates"] = json!([]);
    });
    check_job(cluster, "has a pavior.dev/node limit", |job| {
        job["spec"]["template"]["spec"]["containers"][0]["resources"] = json!({});
    });
}

/// Verifies that a Job's pods have the gate and the resource, and that neither users nor
/// administrators can remove the gate.
fn pods_stay_gated(cluster: &Cluster) {
    let pod = &cluster.items(PODS)[0];
    assert_eq!(pod["spec"]["schedulingGates"][0]["name"], "pavior.dev/placement");
    assert_eq!(pod["spec"]["containers"][0]["resources"]["limits"]["pavior.dev/node"], "1");
    let path = format!("{PODS}/{}", pod["metadata"]["name"].as_str().unwrap());
    let open = json!({ "spec": { "schedulingGates": null } });
    for user in [User::Admin, User::Alice] {
        let word = "only pavior kube may remove";
        check_refusal(cluster, user, ("PATCH", &path), &open, word);
    }
    let select = json!({ "spec": { "nodeSelector": { "kubernetes.io/hostname": "n0-0-0" } } });
    let word = "the node selector and affinity of a gated pod cannot be changed";
    check_refusal(cluster, User::Alice, ("PATCH", &path), &select, word);
}

/// Checks that a Job's shape and machine cannot be changed, and that the messages say so.
fn annotations_stay(cluster: &Cluster) {
    let shape = json!({ "metadata": { "annotations": { "pavior.dev/shape": "4x1x1" } } });
    let machine =
        |name: &str| json!({ "metadata": { "annotations": { "pavior.dev/machine": name } } });
    let path = format!("{JOBS}/good");
    assert!(cluster.ask(User::Alice, "PATCH", &path, &machine("pod")).is_ok());
    for (change, word) in [(machine("other"), "pavior.dev/machine cannot"), (shape, "the shape")] {
        check_refusal(cluster, User::Alice, ("PATCH", &path), &change, word);
    }
}

/// Checks that an administrator who is not in the group system:masters may delete a placement.
fn administrators_delete_placements(cluster: &Cluster) {
    cluster.job("long", "2x2x1", 600);
    let uid = cluster.get(&format!("{JOBS}/long"))["metadata"]["uid"].clone();
    let path = format!("{PLACEMENTS}/{}", uid.as_str().unwrap());
    let get = || cluster.try_get(&path);
    cluster.until("a placement", || get().is_ok());
    let word = "deleting them requires permission to delete machines";
    check_refusal(cluster, User::Alice, ("DELETE", &path), &Value::Null, word);
    cluster.grant("cluster-admin", "User", "alice");
    cluster.until("a deletion", || cluster.ask(User::Alice, "DELETE", &path, &Value::Null).is_ok());
}
