//! Tests that users can neither block other users nor take their nodes.

use serde_json::{Value, json};

use crate::cluster::objects::{JOBS, PLACEMENTS, PODS, job};
use crate::cluster::{Cluster, User};
use crate::in_force::pod;

const OTHER: &str = "/apis/batch/v1/namespaces/other/jobs";

#[test]
fn attackers_do_not_block_other_users() {
    let Some(mut cluster) = Cluster::start("attacks", [4, 4, 2]) else { return };
    let namespace =
        json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": "other" } });
    cluster.good(User::Admin, "POST", "/api/v1/namespaces", &namespace);
    cluster.machine_with("torus:4x4x2", &json!({ "nodesPerNamespace": 20 }));
    cluster.start_replica("lease");
    // Create two hundred Jobs at once, four of them with very large annotations.
    for number in 0..200 {
        let mut one = job(&format!("flood{number}"), "2x2x1", 30);
        if number < 4 {
            let text = "\u{1b}[2J\n<b>".repeat(20_000);
            one["metadata"]["annotations"]["note"] = json!(text);
            one["metadata"]["annotations"]["pavior.dev/seconds"] = json!("9".repeat(1000));
        }
        cluster.good(User::Alice, "POST", JOBS, &one);
    }
    // A pod that selects a node itself is not ours, and its node counts as busy.
    let named = json!({ "nodeSelector": { "kubernetes.io/hostname": "n3-3-1" } });
    cluster.label("n3-3-1", "kubernetes.io/hostname", "n3-3-1");
    cluster.good(User::Alice, "POST", PODS, &pod("stranger", &named));
    // No pod may name a node, request the resource ungated, or have the gate without belonging to a
    // Job.
    let limits = json!([{ "name": "main", "image": "toy",
                          "resources": { "limits": { "pavior.dev/node": "1" } } }]);
    let mut first = limits.clone();
    first[0]["name"] = json!("first");
    for (name, more) in [
        ("bound", json!({ "nodeName": "n0-0-0" })),
        ("greedy", json!({ "containers": limits })),
        ("sly", json!({ "initContainers": first })),
        ("gated", json!({ "schedulingGates": [{ "name": "pavior.dev/placement" }] })),
    ] {
        let refusal = cluster.ask(User::Alice, "POST", PODS, &pod(name, &more)).expect_err(name);
        assert_eq!(refusal.code, Some(422), "{name}: {refusal:?}");
    }
    // A pod that claims to belong to a Job in another namespace is not counted as that Job's.
    cluster.good(User::Alice, "POST", OTHER, &job("modest", "2x2x2", 1));
    let uid = cluster.get(&format!("{OTHER}/modest"))["metadata"]["uid"].clone();
    let owner = json!({
        "apiVersion": "batch/v1", "kind": "Job", "name": "modest", "uid": uid, "controller": true,
    });
    let mut forged =
        pod("forged", &json!({ "schedulingGates": [{ "name": "pavior.dev/placement" }] }));
    forged["metadata"]["ownerReferences"] = json!([owner]);
    forged["metadata"]["labels"] = json!({ "batch.kubernetes.io/job-completion-index": "0" });
    cluster.good(User::Alice, "POST", PODS, &forged);
    // A Job's parallelism and shape cannot be changed. The flood does not delay other namespaces.
    let more = json!({ "spec": { "parallelism": 1 } });
    assert!(cluster.ask(User::Alice, "PATCH", &format!("{JOBS}/flood0"), &more).is_err());
    let away = json!({ "metadata": { "annotations": { "pavior.dev/shape": null } } });
    assert!(cluster.ask(User::Alice, "PATCH", &format!("{JOBS}/flood0"), &away).is_err());
    cluster.until("the Job of another namespace is complete", || {
        cluster.succeeded(OTHER, "modest") == 8
    });
    let nodes = |one: &Value| one["spec"]["nodes"].as_array().unwrap().len();
    let held: usize = cluster.items(PLACEMENTS).iter().map(nodes).sum();
    assert!(held <= 20, "{held} nodes of one namespace");
    let log = cluster.log();
    assert!(!log.contains('\u{1b}') && !log.contains("<b>"), "{log}");
}

#[test]
fn a_replica_acquires_the_lease_of_a_killed_one() {
    let Some(mut cluster) = Cluster::start("the Lease", [2, 2, 1]) else { return };
    cluster.machine("mesh:2x2x1");
    cluster.start_replica("lease");
    cluster.job("first", "2x2x1", 1);
    cluster.until("it is complete", || cluster.succeeded(JOBS, "first") == 4);
    cluster.start_replica("lease");
    let lease = "/apis/coordination.k8s.io/v1/namespaces/pavior-system/leases/pavior-kube";
    assert_eq!(cluster.get(lease)["spec"]["holderIdentity"], "replica-0");
    cluster.end_replica(0);
    cluster.job("second", "2x2x1", 1);
    cluster.until("it is complete", || cluster.succeeded(JOBS, "second") == 4);
    let lease = cluster.get(lease);
    assert_eq!(lease["spec"]["holderIdentity"], "replica-1");
    assert_eq!(lease["spec"]["leaseTransitions"], 1);
}
