//! Tests wrong clocks, a compacted history, and failing requests.

use serde_json::Value;

use crate::cluster::Cluster;
use crate::cluster::replicas::clocks_can_be_wrong;
use crate::judge::Record;
use crate::proxy::ONE_OF;

const PODS: &str = "/api/v1/pods";

fn stamp(text: &Value) -> i64 {
    let stamp: k8s_openapi::jiff::Timestamp = text.as_str().unwrap().parse().unwrap();
    stamp.as_second()
}

/// Returns the largest difference between the times in a log, in hours.
fn hours_apart(log: &str) -> i64 {
    let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let times: Vec<i64> = lines.map(|line| stamp(&line["time"])).collect();
    (times.iter().max().unwrap() - times.iter().min().unwrap()) / 3600
}

#[test]
fn replicas_with_wrong_clocks_place_jobs_correctly() {
    if !clocks_can_be_wrong() {
        return;
    }
    let Some(mut cluster) = Cluster::start("wrong clocks", [4, 2, 1]) else { return };
    cluster.machine("mesh:4x2x1");
    cluster.start_replica_at(Some("+1h"), "pavior", "always", &[]);
    cluster.start_replica_at(Some("-1h"), "pavior", "always", &[]);
    for number in 0..6 {
        cluster.job(&format!("job{number}"), ["2x2x1", "4x1x1", "4x2x1"][number % 3], 1);
    }
    cluster.until("all are complete", || cluster.complete() == 6);
    let record = Record::read(cluster.path());
    assert_eq!((record.overlaps, record.misplaced), (0, 0), "{record:?}");
    assert!(record.confirmations >= 6, "{record:?}");
    // The replicas' events use the API server's time.
    let events = cluster.items("/api/v1/namespaces/default/events?fieldSelector=source=pavior");
    assert!(!events.is_empty());
    for event in &events {
        let created = stamp(&event["metadata"]["creationTimestamp"]);
        assert!((created - stamp(&event["firstTimestamp"])).abs() < 60, "{event}");
    }
    let log = std::fs::read_to_string(cluster.path().join("log/pavior")).unwrap();
    assert_eq!(hours_apart(&log), 2, "{log}");
}

#[test]
fn a_paused_replica_reads_everything_again_after_compaction() {
    let Some(mut cluster) = Cluster::start("compaction", [4, 2, 1]) else { return };
    cluster.machine("mesh:4x2x1");
    cluster.start_replica("lease");
    cluster.job("first", "4x2x1", 600);
    let placements = "/apis/pavior.dev/v1alpha1/placements";
    cluster.until("it is placed", || {
        cluster.get(placements)["items"][0]["status"]["confirmed"] == true
    });
    let version = cluster.get(PODS)["metadata"]["resourceVersion"].clone();
    cluster.pause_replica(0, true);
    // While the replica is paused, everything that it has read becomes outdated.
    cluster.delete_job("first").unwrap();
    cluster.job("second", "4x2x1", 1);
    cluster.until("the first one's pods are gone", || {
        let of = |pod: &Value| pod["metadata"]["labels"]["batch.kubernetes.io/job-name"] == "first";
        !cluster.items(PODS).iter().any(of)
    });
    cluster.compact();
    let version = version.as_str().unwrap();
    let watch = format!("{PODS}?watch=true&resourceVersion={version}&timeoutSeconds=5");
    let response = cluster.try_get(&watch);
    let code = match &response {
        Ok(event) => event["object"]["code"].as_u64(),
        Err(refusal) => refusal.code.map(u64::from),
    };
    assert_eq!(code, Some(410), "{response:?}");
    cluster.pause_replica(0, false);
    cluster.until("the second is complete", || cluster.complete() == 1);
}

#[test]
fn rejected_and_lost_requests_are_repeated() {
    let Some(mut cluster) = Cluster::start("refusals", [4, 2, 1]) else { return };
    cluster.machine("mesh:4x2x1");
    let proxy = cluster.spoil(1, ONE_OF);
    cluster.start_replica_as("spoilt", "always", &[]);
    cluster.start_replica_as("spoilt", "always", &[]);
    let mut jobs = 0;
    while jobs < 12 || proxy.counts().any(|(_, count)| count == 0) {
        assert!(jobs < 60, "{:?}", proxy.counts().collect::<Vec<_>>());
        cluster.job(&format!("job{jobs}"), ["2x2x1", "4x1x1", "4x2x1"][jobs % 3], 1);
        jobs += 1;
        // Restart a replica occasionally, because it reads little after its startup.
        if jobs % 4 == 0 {
            cluster.end_replica(0);
            cluster.start_replica_as("spoilt", "always", &[]);
        }
        cluster.until("it is complete", || cluster.complete() == jobs);
    }
    let record = Record::read(cluster.path());
    assert_eq!((record.overlaps, record.misplaced), (0, 0), "{record:?}");
    assert!(record.confirmations >= jobs, "{record:?}");
}
