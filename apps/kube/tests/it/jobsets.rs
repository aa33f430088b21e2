//! Tests the real JobSet controller with its webhooks: a box for each Job of a set, one box for a
//! whole set, and a restarted set.

use serde_json::{Value, json};

use crate::cluster::objects::{JOBS, PODS, job, set_pods};
use crate::cluster::{Cluster, User};
use crate::judge::Record;
use crate::sets::nodes;

const SETS: &str = "/apis/jobset.x-k8s.io/v1alpha2/namespaces/default/jobsets";

/// Returns a JobSet with groups of Jobs. Each group is a tuple of name, number of Jobs, shape, and
/// number of pods.
fn jobset(name: &str, groups: &[(&str, u32, &str, u32)], together: bool, run_s: u32) -> Value {
    let group = |&(group, replicas, shape, pods): &(&str, u32, &str, u32)| {
        let mut own = job(group, shape, run_s);
        set_pods(&mut own, pods);
        own["spec"]["backoffLimit"] = json!(0);
        let mut annotations = own["metadata"]["annotations"].clone();
        if together {
            annotations["pavior.dev/box"] = json!("set");
        }
        let template = json!({ "metadata": { "annotations": annotations }, "spec": own["spec"] });
        json!({ "name": group, "replicas": replicas, "template": template })
    };
    let groups: Vec<Value> = groups.iter().map(group).collect();
    json!({
        "apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": { "name": name },
        "spec": { "replicatedJobs": groups, "failurePolicy": { "maxRestarts": 1 } },
    })
}

fn make(cluster: &Cluster, set: &Value) {
    cluster.create(User::Admin, SETS, set);
}

fn is_complete(cluster: &Cluster, name: &str) -> bool {
    cluster.get(&format!("{SETS}/{name}"))["status"]["terminalState"] == "Completed"
}

#[test]
fn real_jobsets_get_a_box_for_each_job_or_one_for_all() {
    let Some(mut cluster) = Cluster::start("JobSets", [4, 2, 1]) else { return };
    if !cluster.start_controller("jobset") {
        return;
    }
    cluster.machine("mesh:4x2x1");
    cluster.start_replica("always");
    cluster.start_replica("always");
    let each = [("small", 2, "2x1x1", 2), ("large", 1, "2x2x1", 4)];
    make(&cluster, &jobset("each", &each, false, 1));
    cluster.until("each Job got its box", || is_complete(&cluster, "each"));

    // The first Job has three of the eight pods, and the second has the other five.
    let both = [("first", 1, "4x2x1", 3), ("second", 1, "4x2x1", 5)];
    make(&cluster, &jobset("whole", &both, true, 8));
    let names = ["whole-first-0", "whole-second-0"];
    let places = || names.map(|name| nodes(&cluster, name)).concat();
    let row = |y: u32| (0..4).map(move |x| format!("n{x}-{y}-0"));
    let all: Vec<String> = row(0).chain(row(1)).collect();
    cluster.until("the set has one box", || places() == all);

    // After a pod fails, both Jobs are deleted and recreated with the same names.
    let uid = |name: &str| {
        let job = cluster.try_get(&format!("{JOBS}/{name}"));
        job.unwrap_or_default()["metadata"]["uid"].clone()
    };
    let old = names.map(uid);
    let selector = format!("{PODS}?labelSelector=batch.kubernetes.io/job-name%3D{}", names[1]);
    let pod = &cluster.items(&selector)[0];
    let pod = pod["metadata"]["name"].as_str().unwrap();
    cluster.patch(&format!("{PODS}/{pod}/status"), &json!({ "status": { "phase": "Failed" } }));
    cluster.until("both are recreated", || {
        let new = names.map(uid);
        (0..2).all(|at| new[at].is_string() && new[at] != old[at])
    });
    cluster.until("the set is complete", || is_complete(&cluster, "whole"));
    let record = Record::read(cluster.path());
    let crooked = record.crooked(&"mesh:4x2x1".parse().unwrap());
    assert_eq!((record.overlaps, crooked, record.misplaced), (0, 0, 0), "{record:?}");
    assert_eq!((record.confirmations, record.of_sets), (5, 2), "{record:?}");
}
