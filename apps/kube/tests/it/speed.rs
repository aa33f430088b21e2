//! Measures the time between the creation of pods and their binding to nodes, both with the
//! cluster's scheduler alone and with our boxes. Run this test on a quiet machine with
//! `cargo xtask kube speed`; the regular checks only build it.

#[expect(dead_code, reason = "most of it is for the other tests")]
mod cluster;
mod in_force;
mod kubelets;
#[expect(dead_code, reason = "nothing is spoilt here")]
mod proxy;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::time::Instant;

use serde_json::{Value, json};

use crate::cluster::objects::{JOBS, job};
use crate::cluster::parts::PARTS;
use crate::cluster::{Cluster, User};

/// The controllers to run. Node controllers would need constant heartbeats from 4,096 nodes.
const CONTROLLERS: &str = "job-controller,garbage-collector-controller,namespace-controller";
/// The side length of the cubic torus, a multiple of each side of a Job's box.
const SIDE: u16 = 16;
const NODES: usize = (SIDE as usize).pow(3);
const SHAPE: &str = "4x4x4";
const JOB_COUNT: usize = NODES / 64;
/// The number of clock ticks per second in `/proc`.
const TICKS_PER_S: f64 = 100.0;

/// The way pods get their nodes: from the cluster's scheduler alone, or with the daemon's boxes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Scheduling {
    Alone,
    Boxes,
}

struct Measurement {
    wall_s: f64,
    /// The CPU time of each control plane component and of the replica, if there is one.
    processor_s: BTreeMap<&'static str, f64>,
}

/// Returns a Job with one pod per node. With `Alone`, it has no shape and no gate.
fn measured_job(name: &str, scheduling: Scheduling) -> Value {
    let mut job = job(name, SHAPE, 1);
    if scheduling == Scheduling::Alone {
        job["metadata"]["annotations"] = json!({});
        let spec = &mut job["spec"]["template"]["spec"];
        // Without the daemon, nothing would remove the gate that Jobs need on older Kubernetes
        // releases.
        spec["schedulingGates"] = json!([]);
        spec["containers"][0]["resources"] = json!({ "limits": { "toy/node": "1" } });
    }
    job
}

/// Counts the bindings in the audit log, which is read incrementally.
struct Bindings {
    log: BufReader<File>,
    count: usize,
}

impl Bindings {
    fn count(&mut self) -> usize {
        let mut line = Vec::new();
        while self.log.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
            // Leave an incomplete line for the next read; by then, the rest will have been written.
            if line.last() != Some(&b'\n') {
                let _ = self.log.seek_relative(-(line.len() as i64));
                break;
            }
            let event: Value = serde_json::from_slice(&line).unwrap_or_default();
            let bound = event["objectRef"]["subresource"] == "binding";
            self.count += usize::from(bound && event["responseStatus"]["code"] == 201);
            line.clear();
        }
        self.count
    }
}

/// Returns the CPU time used by each part of the control plane and by the replica.
fn processor_s(cluster: &Cluster) -> BTreeMap<&'static str, f64> {
    let pid = |part| std::fs::read_to_string(cluster.path().join(format!("{part}.pid"))).unwrap();
    let replica = cluster.replicas.iter().map(|replica| ("pavior", replica.id().to_string()));
    let spent_s = |(part, pid): (&'static str, String)| {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap();
        let fields = stat.rsplit(')').next().unwrap().split_whitespace();
        let ticks = fields.skip(11).take(2).map(|field| field.parse::<f64>().unwrap());
        (part, ticks.sum::<f64>() / TICKS_PER_S)
    };
    PARTS.iter().map(|part| (*part, pid(*part))).chain(replica).map(spent_s).collect()
}

/// Starts a cluster whose nodes are ready for pods.
fn prepare(scheduling: Scheduling) -> Option<Cluster> {
    // Logging whole objects in the audit log would take a third of the API server's time.
    let mut cluster = Cluster::bare("the speed of pavior kube", CONTROLLERS, "Metadata")?;
    cluster.add_nodes([SIDE; 3]);
    for node in cluster.items("/api/v1/nodes") {
        let amount = json!({ "toy/node": "1" });
        let status = json!({ "status": { "capacity": amount, "allocatable": amount } });
        let name = node["metadata"]["name"].as_str().unwrap();
        cluster.patch(&format!("/api/v1/nodes/{name}/status"), &status);
    }
    cluster.apply();
    if scheduling == Scheduling::Boxes {
        cluster.machine(&format!("torus:{SIDE}x{SIDE}x{SIDE}"));
        cluster.start_replica("always");
        let last = format!("/api/v1/nodes/n{0}-{0}-{0}", SIDE - 1);
        cluster.until("the resource is offered", || {
            !cluster.get(&last)["status"]["allocatable"]["pavior.dev/node"].is_null()
        });
    }
    Some(cluster)
}

fn measure(scheduling: Scheduling) -> Option<Measurement> {
    let cluster = prepare(scheduling)?;
    let before = processor_s(&cluster);
    let began = Instant::now();
    for number in 0..JOB_COUNT {
        let job = measured_job(&format!("job{number}"), scheduling);
        cluster.good(User::Alice, "POST", JOBS, &job);
    }
    let log = BufReader::new(File::open(cluster.path().join("audit.log")).unwrap());
    let mut bindings = Bindings { log, count: 0 };
    cluster.until("all pods have a node", || bindings.count() >= NODES);
    let wall_s = began.elapsed().as_secs_f64();
    let after = processor_s(&cluster).into_iter();
    let processor_s = after.map(|(part, total_s)| (part, total_s - before[part])).collect();
    eprintln!("{scheduling:?}: {wall_s:.1} s; {processor_s:.1?}");
    Some(Measurement { wall_s, processor_s })
}

#[test]
fn from_creation_to_nodes() {
    let Some(alone) = measure(Scheduling::Alone) else { return };
    let Some(boxes) = measure(Scheduling::Boxes) else { return };
    let wall = boxes.wall_s / alone.wall_s;
    let processor = boxes.processor_s["pavior"] / boxes.processor_s.values().sum::<f64>();
    eprintln!("{wall:.2} of the time; {processor:.3} of the processor time");
    assert!(wall < 1.0, "boxes take longer than the scheduler alone");
}
