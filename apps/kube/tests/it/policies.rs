//! Tests that forbidden requests of users are rejected, and why.

use serde_json::{Value, json};

use crate::cluster::{Cluster, JOBS, PLACEMENTS, PODS, User, job, mutates, release};
use crate::in_force::placement;

#[test]
fn users_cannot_open_gates_or_write_placements() {
    let Some(mut cluster) = Cluster::start("policies", release(), [2, 2, 1]) else { return };
    cluster.machine("mesh:2x2x1");
    let refused = |mut wrong: Value, change: &dyn Fn(&mut Value), word: &str| {
        change(&mut wrong);
        cluster.refuses(&wrong, word);
    };
    for shape in ["0x4", "12345678901", "4x4x4x4", "2\n", "\u{1b}[2J", "", "x", "2x", "-1"] {
        let set =
            |job: &mut Value| job["metadata"]["annotations"]["pavior.dev/shape"] = json!(shape);
        refused(job("bad", "2x2x1", 1), &set, "is not a valid shape");
    }
    let plain = |job: &mut Value| job["spec"]["completionMode"] = json!("NonIndexed");
    refused(job("bad", "2x2x1", 1), &plain, "Indexed");
    let few = |job: &mut Value| job["spec"]["parallelism"] = json!(2);
    refused(job("bad", "2x2x1", 1), &few, "must be equal");
    let other = |job: &mut Value| {
        job["spec"]["parallelism"] = json!(3);
        job["spec"]["completions"] = json!(3);
    };
    refused(job("bad", "2x2x1", 1), &other, "number of nodes");
    // If no policy adds the gate and the resource, a Job that lacks one of them is refused.
    if !mutates(release()) {
        let ungated = |job: &mut Value| {
            job["spec"]["template"]["spec"]["schedulingGates"] = json!([]);
        };
        refused(job("bad", "2x2x1", 1), &ungated, "lacks the scheduling gate pavior.dev/placement");
        let shared = |job: &mut Value| {
            job["spec"]["template"]["spec"]["containers"][0]["resources"] = json!({});
        };
        refused(job("bad", "2x2x1", 1), &shared, "has a pavior.dev/node limit");
    }
    // A valid Job has the gate and the resource. Neither users nor administrators can open its
    // pods.
    cluster.job("good", "2x2x1", 1);
    cluster.until("four pods", || cluster.get(PODS)["items"].as_array().unwrap().len() == 4);
    let all = cluster.get(PODS);
    let pod = &all["items"][0];
    assert_eq!(pod["spec"]["schedulingGates"][0]["name"], "pavior.dev/placement");
    assert_eq!(pod["spec"]["containers"][0]["resources"]["limits"]["pavior.dev/node"], "1");
    let path = format!("{PODS}/{}", pod["metadata"]["name"].as_str().unwrap());
    let open = json!({ "spec": { "schedulingGates": null } });
    for user in [User::Admin, User::Alice] {
        let (code, message) = cluster.ask(user, "PATCH", &path, &open).expect_err("refused");
        assert_eq!(code, 422, "{message}");
        assert!(message.contains("only pavior kube may"), "{message}");
    }
    let select = json!({ "spec": { "nodeSelector": { "kubernetes.io/hostname": "n0-0-0" } } });
    assert!(cluster.ask(User::Alice, "PATCH", &path, &select).is_err());
    annotations_stay(&cluster);
    let two = |job: &mut Value| {
        let limits = json!({ "limits": { "pavior.dev/node": "2" } });
        job["spec"]["template"]["spec"]["containers"][0]["resources"] = limits;
    };
    refused(job("bad", "2x2x1", 1), &two, "the pavior.dev/node limit must be 1");
    // Neither users nor administrators can create a placement.
    for user in [User::Admin, User::Alice] {
        assert!(cluster.ask(user, "POST", PLACEMENTS, &placement("forged")).is_err());
    }
    cluster.start_replica("lease");
    cluster.until("it is complete", || {
        cluster.get(&format!("{JOBS}/good"))["status"]["succeeded"] == 4
    });
    administrators_delete_placements(&cluster);
}

/// Checks that a Job's shape and machine cannot be changed, and that the messages say so.
fn annotations_stay(cluster: &Cluster) {
    let shape = json!({ "metadata": { "annotations": { "pavior.dev/shape": "4x1x1" } } });
    let machine =
        |name: &str| json!({ "metadata": { "annotations": { "pavior.dev/machine": name } } });
    let job_path = format!("{JOBS}/good");
    assert!(cluster.ask(User::Alice, "PATCH", &job_path, &machine("pod")).is_ok());
    for (change, word) in [(machine("other"), "pavior.dev/machine cannot"), (shape, "the shape")] {
        let (_, message) = cluster.ask(User::Alice, "PATCH", &job_path, &change).expect_err(word);
        assert!(message.contains(word), "{message}");
    }
}

/// Checks that an administrator who is not in the group system:masters may delete a placement.
fn administrators_delete_placements(cluster: &Cluster) {
    cluster.job("long", "2x2x1", 600);
    let uid = cluster.get(&format!("{JOBS}/long"))["metadata"]["uid"].clone();
    let path = format!("{PLACEMENTS}/{}", uid.as_str().unwrap());
    let get = || cluster.ask(User::Admin, "GET", &path, &Value::Null);
    cluster.until("a placement", || get().is_ok());
    assert!(cluster.ask(User::Alice, "DELETE", &path, &Value::Null).is_err());
    cluster.grant("cluster-admin", "User", "alice");
    cluster.until("a deletion", || cluster.ask(User::Alice, "DELETE", &path, &Value::Null).is_ok());
}
