//! Tests the real Kueue and its webhooks with two daemon replicas. Covers overcommitted quota that
//! two queues borrow and reclaim, as well as flavors, preemption, a short `quotaSeconds`, and kills
//! of Kueue, replicas and the API server. The audit log is checked afterward.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::chaos::Chaos;
use crate::cluster::objects::{JOBS, job};
use crate::cluster::{Cluster, User};
use crate::in_force::pod;
use crate::judge::Record;
use crate::ledger::Ledger;
use crate::storm::seeds;

const GRID: &str = "mesh:4x4x2";
/// The shapes of the Jobs. Each shape fits on the nodes of a single flavor.
const SHAPES: &[&str] =
    &["2x2x2", "2x1x1", "2x4x1", "2x4x2", "1x1x1", "2x2x1", "1x4x1", "2x3x2", "2x2x2", "1x1x2"];
/// The queues and their quotas per flavor. The second queue must borrow quota for larger Jobs.
const QUEUES: [(&str, u32); 2] = [("owner", 16), ("guest", 4)];
const PRIORITIES: [(&str, u32); 3] = [("low", 1), ("middle", 10), ("high", 100)];
const API: &str = "/apis/kueue.x-k8s.io/v1beta2";
/// The number of Jobs that complete before the main part of the test begins.
const BEFORE: usize = 4;
/// The maximum time, in seconds, for which a Job may hold quota without having a box.
const PATIENCE_S: u64 = 5;

/// Returns the flavor of a node.
pub(crate) fn flavor(node: &str) -> &'static str {
    if node.starts_with("n0-") || node.starts_with("n1-") { "left" } else { "right" }
}

/// Creates two flavors of 16 nodes each, two queues whose quotas add up to 20 nodes per flavor,
/// three priorities, and our admission check.
fn queues(cluster: &Cluster) {
    for z in 0..2 {
        for node in (0..16).map(|at| format!("n{}-{}-{z}", at % 4, at / 4)) {
            cluster.label(&node, "half", flavor(&node));
        }
    }
    let make = |path: &str, kind: &str, name: &str, more: Value| {
        let mut object = json!({
            "apiVersion": "kueue.x-k8s.io/v1beta2", "kind": kind, "metadata": { "name": name },
        });
        object.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        cluster.create(User::Admin, &format!("{API}/{path}"), &object);
    };
    for name in ["left", "right"] {
        let spec = json!({ "spec": { "nodeLabels": { "half": name } } });
        make("resourceflavors", "ResourceFlavor", name, spec);
    }
    for (name, value) in PRIORITIES {
        make("workloadpriorityclasses", "WorkloadPriorityClass", name, json!({ "value": value }));
    }
    let check = json!({ "spec": { "controllerName": "pavior.dev/placement" } });
    make("admissionchecks", "AdmissionCheck", "place", check);
    for (name, nodes) in QUEUES {
        let quota = |name| {
            let resource = json!({ "name": "pavior.dev/node", "nominalQuota": nodes });
            json!({ "name": name, "resources": [resource] })
        };
        let group = json!({
            "coveredResources": ["pavior.dev/node"], "flavors": [quota("left"), quota("right")],
        });
        let spec = json!({
            "cohortName": "all", "namespaceSelector": {}, "resourceGroups": [group],
            "preemption": { "withinClusterQueue": "LowerPriority", "reclaimWithinCohort": "Any" },
            "admissionChecksStrategy": { "admissionChecks": [{ "name": "place" }] },
        });
        make("clusterqueues", "ClusterQueue", name, json!({ "spec": spec }));
        let spec = json!({ "spec": { "clusterQueue": name } });
        make("namespaces/default/localqueues", "LocalQueue", name, spec);
    }
}

/// Returns true if both queues are active. Inactive queues admit no Jobs.
fn are_active(cluster: &Cluster) -> bool {
    QUEUES.iter().all(|(name, _)| {
        let queue = cluster.get(&format!("{API}/clusterqueues/{name}"));
        let conditions = queue["status"]["conditions"].as_array();
        let mut conditions = conditions.into_iter().flatten();
        conditions.any(|one| one["type"] == "Active" && one["status"] == "True")
    })
}

/// Returns a Job with a queue and a priority. The Job's first pod ends long before the others, so
/// that Kueue reclaims part of the Job's quota.
fn queued(name: &str, queue: &str, shape: &str, priority: &str, run_s: u32) -> Value {
    let mut body = job(name, shape, run_s);
    body["metadata"]["labels"] = json!({
        "kueue.x-k8s.io/queue-name": queue, "kueue.x-k8s.io/priority-class": priority,
    });
    body["spec"]["template"]["metadata"]["annotations"]["toy/first"] = json!("1");
    body
}

/// Preempts a Job after one of its pods has ended. Checks that this Job still completes, and that a
/// Job without a shape completes too.
fn preempt_in_part(cluster: &Cluster) {
    let make = |name, priority, run_s| {
        cluster.create(User::Alice, JOBS, &queued(name, "owner", "2x4x2", priority, run_s));
    };
    let job = |name| cluster.get(&format!("{JOBS}/{name}"));
    make("half0", "low", 15);
    make("half1", "low", 15);
    cluster.until("a pod of each has ended", || {
        let has_one = |name| job(name)["status"]["succeeded"].as_u64() >= Some(1);
        ["half0", "half1"].into_iter().all(has_one)
    });
    make("winner", "high", 1);
    cluster.until("one is preempted", || {
        ["half0", "half1"].iter().any(|name| job(name)["spec"]["suspend"] == true)
    });
    // A Job without a shape does not wait for a box.
    let mut plain = queued("plain", "owner", "1x1x1", "low", 1);
    plain["metadata"]["annotations"] = json!({});
    plain["spec"]["completionMode"] = json!("NonIndexed");
    plain["spec"]["template"]["spec"] = pod("plain", &json!({}))["spec"].clone();
    cluster.create(User::Alice, JOBS, &plain);
    cluster.until("all are complete", || cluster.complete() == BEFORE);
}

/// Checks that Kueue deactivates a Job that does not fit even on an empty machine.
fn reject_what_never_fits(cluster: &Cluster) {
    cluster.create(User::Alice, JOBS, &queued("endless", "owner", "8x1x1", "high", 1));
    let path = format!("{JOBS}/endless");
    let uid = cluster.get(&path)["metadata"]["uid"].clone();
    let is_of = |one: &Value| one["metadata"]["labels"]["kueue.x-k8s.io/job-uid"] == uid;
    cluster.until("it is deactivated", || {
        let all = cluster.items(&format!("{API}/workloads"));
        all.iter().any(|one| is_of(one) && one["spec"]["active"] == false)
    });
    cluster.delete_job("endless").unwrap();
}

/// Creates a Job. This may take a while, because no Job can be created while Kueue is down.
fn make(chaos: &mut Chaos, number: usize) {
    let run_s = if number % 6 == 2 { 12 } else { 1 };
    // Every tenth Job does not use Kueue.
    let queue = if number % 10 == 9 { "" } else { QUEUES[usize::from(number % 4 == 3)].0 };
    let shape = SHAPES[chaos.below(SHAPES.len())];
    make_in(chaos, queue, &format!("job{number}"), shape, run_s);
}

fn make_in(chaos: &mut Chaos, queue: &str, name: &str, shape: &str, run_s: u32) {
    let priority = PRIORITIES[chaos.below(PRIORITIES.len())].0;
    let mut body = queued(name, queue, shape, priority, run_s);
    if queue.is_empty() {
        body["metadata"]["labels"] = json!({});
    }
    chaos.cluster.create(User::Alice, JOBS, &body);
}

/// Causes a disturbance. Returns its name.
fn disturb(chaos: &mut Chaos) -> Option<&'static str> {
    match chaos.below(8) {
        0 | 1 => {
            chaos.cluster.restart_controller("kueue");
            Some("Kueue killed")
        }
        2 | 3 => {
            let replica = chaos.below(2);
            chaos.cluster.end_replica(replica);
            chaos.cluster.start_replica("always");
            Some("a replica killed")
        }
        4 => {
            chaos.cluster.restart_part("kube-apiserver");
            Some("the API server killed")
        }
        5 => {
            let node = chaos.node([4, 4, 2]);
            chaos.cordon(&node).then_some(())?;
            if chaos.delete_pod(|pod| pod["spec"]["nodeName"] == *node) {
                chaos.count("of them with a pod");
            }
            Some("a node cordoned for 6 s, its pod deleted")
        }
        _ => chaos.delete_pod(|_| true).then_some("a pod deleted"),
    }
}

/// Runs Jobs without disturbances, in bursts of `burst`. The guest queue borrows most of the quota,
/// and the owner queue reclaims it.
fn share(chaos: &mut Chaos, jobs: usize, burst: usize) {
    for first in (0..jobs).step_by(burst) {
        let names: Vec<String> = (first..first + burst).map(|at| format!("shared{at}")).collect();
        let (guests, owners) = names.split_at(burst * 2 / 5);
        for name in guests {
            make_in(chaos, "guest", name, "2x2x2", 6);
        }
        let cluster = &chaos.cluster;
        let runs =
            |name: &&String| cluster.get(&format!("{JOBS}/{name}"))["spec"]["suspend"] == false;
        cluster.until("four run", || guests.iter().filter(runs).count() >= 4);
        for name in owners {
            let shape = SHAPES[chaos.below(SHAPES.len())];
            make_in(chaos, "owner", name, shape, 2);
        }
        let all = BEFORE + first + burst;
        chaos.cluster.until("all are complete", || chaos.cluster.complete() == all);
    }
}

/// Runs Jobs with disturbances.
fn storm(chaos: &mut Chaos, jobs: usize) {
    for number in 0..jobs {
        make(chaos, number);
        std::thread::sleep(Duration::from_millis(500));
        chaos.end_due();
        if number % 2 == 1
            && let Some(what) = disturb(chaos)
        {
            chaos.count(what);
        }
    }
    chaos.end_all();
}

#[test]
fn kueue_assigns_quota_and_the_daemon_assigns_boxes() {
    for seed in seeds() {
        if let Some(cluster) = start() {
            run_seed(cluster, seed);
        }
    }
}

/// Starts a cluster with Kueue and two replicas, if Kueue is available.
fn start() -> Option<Cluster> {
    let mut cluster = Cluster::start("Kueue", [4, 4, 2])?;
    if !cluster.start_controller("kueue") {
        return None;
    }
    queues(&cluster);
    let more = json!({ "admissionCheck": "place", "quotaSeconds": PATIENCE_S });
    cluster.machine_with(GRID, &more);
    cluster.start_replica("always");
    cluster.start_replica("always");
    cluster.until("the queues are active", || are_active(&cluster));
    Some(cluster)
}

fn run_seed(cluster: Cluster, seed: u64) {
    preempt_in_part(&cluster);
    reject_what_never_fits(&cluster);
    let mut chaos = Chaos::new(cluster, seed, "kueue");
    let (shared, burst) = pavior_trials::size((10, 10), (10, 10), (100, 25));
    let began = Instant::now();
    share(&mut chaos, shared, burst);
    let ledger = Ledger::read(chaos.cluster.path());
    eprintln!(
        "Kueue, seed {seed}: {shared} Jobs of two queues in {:.0?}: {ledger}",
        began.elapsed()
    );
    ledger.check_calm(PATIENCE_S);
    let (jobs, began) = (40, Instant::now());
    storm(&mut chaos, jobs);
    let Chaos { cluster, counts, .. } = chaos;
    cluster.within(1200, "all are complete", || cluster.complete() == BEFORE + shared + jobs);
    let seconds = began.elapsed().as_secs();
    let record = Record::read(cluster.path());
    let ledger = Ledger::read(cluster.path());
    let crooked = record.crooked(&GRID.parse().unwrap());
    eprintln!(
        "Kueue, seed {seed}: {jobs} Jobs in {seconds} s, {} confirmed placements: {} overlap, \
         {crooked} are not a box, {} pods on another node; {ledger}; {counts:?}",
        record.confirmations, record.overlaps, record.misplaced,
    );
    assert_eq!((record.overlaps, crooked, record.misplaced), (0, 0, 0));
    ledger.check(PATIENCE_S);
}
