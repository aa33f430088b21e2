//! Tests that the Jobs of a set share one box. The tests create the Jobs themselves, owned by a
//! stand-in for a JobSet; `jobsets` uses the real JobSet controller.

use serde_json::{Value, json};

use crate::cluster::objects::{JOBS, PLACEMENTS, PODS, job, set_pods};
use crate::cluster::{Cluster, User};
use crate::judge::word;

const INDEX: &str = "jobset.sigs.k8s.io/job-global-index";
const MAPS: &str = "/api/v1/namespaces/default/configmaps";

/// Creates a stand-in for a JobSet. Returns a reference to it.
pub(crate) fn set(cluster: &Cluster, name: &str) -> Value {
    let map = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": name } });
    cluster.create(User::Admin, MAPS, &map);
    let mut uid = Value::Null;
    cluster.until("the stand-in for a JobSet is read", || {
        let map = cluster.try_get(&format!("{MAPS}/{name}")).unwrap_or_default();
        uid = map["metadata"]["uid"].clone();
        uid.is_string()
    });
    json!({
        "apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": uid, "controller": true,
    })
}

/// Returns a Job in a set, with `pods` pods.
pub(crate) fn part(set: &Value, number: u32, shape: &str, pods: u32, run_s: u32) -> Value {
    let name = format!("{}-{number}", set["name"].as_str().unwrap());
    let mut job = job(&name, shape, run_s);
    job["metadata"]["annotations"]["pavior.dev/box"] = json!("set");
    job["metadata"]["labels"] = json!({ INDEX: number.to_string() });
    job["metadata"]["ownerReferences"] = json!([set]);
    set_pods(&mut job, pods);
    job
}

fn make(cluster: &Cluster, job: &Value) {
    cluster.good(User::Alice, "POST", JOBS, job);
}

/// Returns the nodes to which a Job's pods are bound, in order of the pods' indexes.
pub(crate) fn nodes(cluster: &Cluster, job: &str) -> Vec<String> {
    let selector = format!("{PODS}?labelSelector=batch.kubernetes.io/job-name%3D{job}");
    let mut all = cluster.items(&selector);
    all.retain(|pod| pod["metadata"]["deletionTimestamp"].is_null());
    let mut found: Vec<(&str, &str)> = all
        .iter()
        .map(|pod| {
            let labels = &pod["metadata"]["labels"];
            let rank = word(&labels["batch.kubernetes.io/job-completion-index"]);
            (rank, word(&pod["spec"]["nodeName"]))
        })
        .filter(|(_, node)| !node.is_empty())
        .collect();
    found.sort_unstable();
    found.into_iter().map(|(_, node)| node.to_string()).collect()
}

/// Returns true if any event on a Job contains `word`.
fn is_told(cluster: &Cluster, job: &str, word: &str) -> bool {
    let says = |event: &Value| {
        event["involvedObject"]["name"] == job
            && event["message"].as_str().is_some_and(|text| text.contains(word))
    };
    cluster.items("/api/v1/namespaces/default/events").iter().any(says)
}

#[test]
fn a_complete_set_gets_one_box_and_another_after_a_job_is_recreated() {
    let Some(mut cluster) = Cluster::start("sets of Jobs", [4, 2, 1]) else { return };
    cluster.machine("mesh:4x2x1");
    cluster.start_replica("always");
    cluster.start_replica("always");
    // One of two Jobs is missing, so no pod is ungated, and an event says what is missing.
    let train = set(&cluster, "train");
    make(&cluster, &part(&train, 1, "4x2x1", 5, 600));
    cluster.until("an event says so", || is_told(&cluster, "train-1", "too few for 8 nodes"));
    assert!(cluster.items(PLACEMENTS).is_empty());
    make(&cluster, &part(&train, 0, "4x2x1", 3, 600));
    let both = |cluster: &Cluster| [nodes(cluster, "train-0"), nodes(cluster, "train-1")];
    let whole = || both(&cluster).iter().map(Vec::len).sum::<usize>() == 8;
    cluster.until("all pods have their nodes", whole);
    let row = |y: u32, from: u32, to: u32| (from..to).map(move |x| format!("n{x}-{y}-0"));
    let [first, second] = both(&cluster);
    assert_eq!(first, row(0, 0, 3).collect::<Vec<_>>());
    assert_eq!(second, row(0, 3, 4).chain(row(1, 0, 4)).collect::<Vec<_>>());
    let placements = cluster.items(PLACEMENTS);
    assert_eq!(placements.len(), 1, "{placements:?}");
    assert_eq!(placements[0]["spec"]["set"].as_array().unwrap().len(), 2);

    // If one Job is deleted after placement, the other Job and the replacement share a new box.
    let old = &placements[0]["metadata"]["uid"];
    cluster.delete_job("train-1").unwrap();
    cluster.until("the placement is deleted", || {
        cluster.items(PLACEMENTS).iter().all(|one| one["metadata"]["uid"] != *old)
    });
    make(&cluster, &part(&train, 1, "4x2x1", 5, 1));
    // Wait for both conditions, because pods of the deleted placement may still have nodes.
    cluster.until("one placement exists again, and all pods have their nodes", || {
        cluster.items(PLACEMENTS).len() == 1 && whole()
    });
    cluster.until("the second is complete", || cluster.succeeded(JOBS, "train-1") == 5);
    assert_eq!(nodes(&cluster, "train-0").len(), 3, "the first keeps running");
}

#[test]
fn jobs_of_a_set_are_validated_on_creation() {
    let Some(mut cluster) = Cluster::start("policies of sets", [4, 1, 1]) else { return };
    cluster.machine("mesh:4x1x1");
    let good = set(&cluster, "good");
    let refused = |change: &dyn Fn(&mut Value), word: &str| {
        let mut wrong = part(&good, 0, "4x1x1", 2, 1);
        change(&mut wrong);
        cluster.refuses(&wrong, word);
    };
    for text in ["", "SET", "set ", "box", "\u{1b}[2J", "set\njob"] {
        let box_of =
            |job: &mut Value| job["metadata"]["annotations"]["pavior.dev/box"] = json!(text);
        refused(&box_of, "pavior.dev/box must be job");
    }
    refused(&|job| job["metadata"]["ownerReferences"] = json!([]), "have a controller");
    refused(&|job| job["metadata"]["labels"] = json!({}), "have its number");
    for number in ["", "x", "1.5", "1234567890"] {
        refused(&|job| job["metadata"]["labels"][INDEX] = json!(number), "have its number");
    }
    refused(&|job| set_pods(job, 5), "number of nodes");
    make(&cluster, &part(&good, 0, "4x1x1", 2, 1));
    for change in [
        json!({ "metadata": { "annotations": { "pavior.dev/box": "job" } } }),
        json!({ "metadata": { "annotations": { "pavior.dev/box": null } } }),
        json!({ "spec": { "completions": 3, "parallelism": 3 } }),
    ] {
        let path = format!("{JOBS}/good-0");
        let refusal = cluster.ask(User::Alice, "PATCH", &path, &change).unwrap_err();
        assert!(refusal.is_invalid("cannot be changed"), "{refusal:?}");
    }
    // The valid set is blocked neither by a set whose controller has terminal control characters in
    // its name nor by a set with a duplicate Job number.
    cluster.start_replica("lease");
    let mut odd = good.clone();
    odd["name"] = json!("\u{1b}[2J<b>");
    odd["uid"] = json!("\u{1b}[2J<b>");
    let mut hostile = part(&odd, 0, "4x1x1", 2, 1);
    hostile["metadata"]["name"] = json!("hostile");
    let _ = cluster.ask(User::Alice, "POST", JOBS, &hostile);
    let twice = set(&cluster, "twice");
    for name in ["twice-a", "twice-b"] {
        let mut one = part(&twice, 0, "4x1x1", 2, 1);
        one["metadata"]["name"] = json!(name);
        make(&cluster, &one);
    }
    make(&cluster, &part(&good, 1, "4x1x1", 2, 1));
    for name in ["good-0", "good-1"] {
        cluster.until("the good set is complete", || cluster.succeeded(JOBS, name) == 2);
    }
    cluster.until("an event says so", || is_told(&cluster, "twice-a", "the same number"));
    let log = cluster.log();
    assert!(!log.contains('\u{1b}') && !log.contains("<b>"), "{log}");
}
