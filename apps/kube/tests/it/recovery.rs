//! Measures how soon a replica acts after the API server becomes reachable again.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::cluster::Cluster;
use crate::cluster::objects::{PLACEMENTS, PODS};

/// The number of nodes, which is also the number of Jobs. Each Job waits for one node.
const NODES: usize = 11;

/// Taints all nodes and creates one Job per node. The Jobs' pods exist before any outage, so the
/// replica does not depend on Kubernetes controllers, which need up to 30 s to recover.
fn prepare(cluster: &Cluster) {
    let closed = json!([{ "key": "example.com/closed", "effect": "NoSchedule" }]);
    for node in 0..NODES {
        let path = format!("/api/v1/nodes/n{node}-0-0");
        cluster.patch(&path, &json!({ "spec": { "taints": closed } }));
        cluster.job(&format!("job{node}"), "1x1x1", 600);
    }
    cluster.until("every Job has a pod", || cluster.items(PODS).len() == NODES);
}

/// Removes the next node's taint, and returns the time until a Job's placement is confirmed.
fn place(cluster: &Cluster) -> Duration {
    let confirmed = || {
        let all = cluster.try_get(PLACEMENTS).unwrap_or_default();
        let all = all["items"].as_array().into_iter().flatten();
        all.filter(|one| one["status"]["confirmed"] == true).count()
    };
    let (before, began) = (confirmed(), Instant::now());
    let path = format!("/api/v1/nodes/n{before}-0-0");
    cluster.patch(&path, &json!({ "spec": { "taints": null } }));
    cluster.until("a Job is placed", || confirmed() > before);
    began.elapsed()
}

/// Checks that the delay after an outage is within the limit. Normal test runs, which share a busy
/// host, allow three times the limit.
fn check(what: &str, before: Duration, after: Duration, limit_s: u64) {
    eprintln!("placed {after:.1?} after {what}, {before:.1?} without an outage");
    let limit = Duration::from_secs(limit_s * pavior_trials::size(3, 3, 1));
    assert!(after < before + limit, "{what}: {after:?}");
}

#[test]
fn replicas_act_soon_after_the_api_server_returns() {
    let sides = [NODES as u16, 1, 1];
    let Some(mut cluster) = Cluster::start("recovery", sides) else { return };
    cluster.machine(&format!("mesh:{NODES}x1x1"));
    prepare(&cluster);
    // The Lease expires during the longest outage.
    let outages: &[u64] = pavior_trials::size(&[3], &[3], &[2, 10, 17]);
    for replicas in 1..=2 {
        cluster.start_replica("lease");
        let before = place(&cluster);
        for seconds in outages {
            cluster.kill_part("kube-apiserver");
            std::thread::sleep(Duration::from_secs(*seconds));
            cluster.run_part("kube-apiserver");
            let what = format!("an outage of {seconds} s with {replicas} replicas");
            check(&what, before, place(&cluster), 5);
        }
    }
    let log = std::fs::read_to_string(cluster.path().join("log/pavior")).unwrap();
    assert!(!log.contains("\"change rejected\""), "{log}");
    if pavior_trials::size(false, false, true) {
        swallow(cluster);
    }
}

/// Tests an outage in which connections stay open but carry no data.
fn swallow(mut cluster: Cluster) {
    cluster.end_replica(1);
    cluster.end_replica(0);
    let proxy = cluster.spoil(1, u64::MAX);
    cluster.start_replica_as("spoilt", "lease", &[]);
    // The first placement is not timed, because the killed replicas' Lease has to expire first.
    place(&cluster);
    let before = place(&cluster);
    proxy.swallow(true);
    std::thread::sleep(Duration::from_secs(3));
    proxy.swallow(false);
    check("connections that swallowed everything", before, place(&cluster), 30);
}
