//! Measures the time from the creation of pods until they have nodes, with the cluster's scheduler
//! alone and with boxes. `cargo xtask kube speed` runs it on a quiet machine; the checks only build
//! it.

#[expect(dead_code, reason = "most of it is for the other tests")]
mod cluster;
mod in_force;
mod kubelets;
#[expect(dead_code, reason = "nothing is spoilt here")]
mod proxy;

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::time::Instant;

use serde_json::{Value, json};

use crate::cluster::objects::{JOBS, job};
use crate::cluster::{Cluster, User, release};

const PARTS: &[&str] = &["etcd", "kube-apiserver", "kube-scheduler", "kube-controller-manager"];
/// The node controllers are left out, because 4,096 nodes would constantly send heartbeats.
const CONTROLLERS: &str = "job-controller,garbage-collector-controller,namespace-controller";

/// A machine that consists of boxes with a Job's shape, the same number along each axis.
#[derive(Clone, Copy)]
struct Size {
    side: u16,
    shape: &'static str,
    jobs: usize,
}

impl Size {
    fn pods(self) -> usize {
        usize::from(self.side).pow(3)
    }
}

/// Returns a Job without a shape whose pods each have a node.
fn plain(name: &str, shape: &str) -> Value {
    let mut job = job(name, shape, 1);
    job["metadata"]["annotations"] = json!({});
    let limits = json!({ "limits": { "toy/node": "1" } });
    job["spec"]["template"]["spec"]["containers"][0]["resources"] = limits;
    job
}

/// Counts the bindings in the audit log, which is read incrementally.
struct Bindings(BufReader<File>, usize);

impl Bindings {
    fn count(&mut self) -> usize {
        let mut line = Vec::new();
        while self.0.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
            // An incomplete line is reread when the rest has been written.
            if line.last() != Some(&b'\n') {
                let _ = self.0.seek_relative(-(line.len() as i64));
                break;
            }
            let event: Value = serde_json::from_slice(&line).unwrap_or_default();
            let bound = event["objectRef"]["subresource"] == "binding";
            self.1 += usize::from(bound && event["responseStatus"]["code"] == 201);
            line.clear();
        }
        self.1
    }
}

/// Returns the processor time used by a part of the control plane or the replica, in seconds.
fn processor_s(cluster: &Cluster, part: &str) -> f64 {
    let pid = match cluster.replicas.first() {
        Some(replica) if part == "pavior" => replica.id().to_string(),
        _ => std::fs::read_to_string(cluster.path().join(format!("{part}.pid"))).unwrap(),
    };
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    let ticks = |at: usize| fields[at].parse::<f64>().unwrap();
    (ticks(11) + ticks(12)) / 100.0
}

/// Returns the wall-clock seconds, and the processor seconds per part.
fn run(size: Size, boxes: bool) -> Option<(f64, Vec<(&'static str, f64)>)> {
    // An audit log of whole objects would take a third of the API server's time.
    let mut cluster =
        Cluster::bare("the speed of pavior kube", release(), CONTROLLERS, "Metadata")?;
    let side = size.side;
    cluster.add_nodes([side; 3]);
    for id in 0..side.pow(3) {
        let name = format!("n{}-{}-{}", id % side, id / side % side, id / side.pow(2));
        let amount = json!({ "toy/node": "1" });
        let status = json!({ "status": { "capacity": amount, "allocatable": amount } });
        cluster.patch(&format!("/api/v1/nodes/{name}/status"), &status);
    }
    cluster.apply();
    let mut parts = PARTS.to_vec();
    if boxes {
        cluster.machine(&format!("torus:{side}x{side}x{side}"));
        cluster.start_replica("always");
        let offered = format!("/api/v1/nodes/n{0}-{0}-{0}", side - 1);
        cluster.until("the resource is offered", || {
            !cluster.get(&offered)["status"]["allocatable"]["pavior.dev/node"].is_null()
        });
        parts.push("pavior");
    }
    let before: Vec<f64> = parts.iter().map(|part| processor_s(&cluster, part)).collect();
    let began = Instant::now();
    for number in 0..size.jobs {
        let name = format!("job{number}");
        let job = if boxes { job(&name, size.shape, 1) } else { plain(&name, size.shape) };
        cluster.good(User::Alice, "POST", JOBS, &job);
    }
    let log = File::open(cluster.path().join("audit.log")).unwrap();
    let mut bindings = Bindings(BufReader::new(log), 0);
    cluster.until("all pods have a node", || bindings.count() >= size.pods());
    let seconds = began.elapsed().as_secs_f64();
    let spent = parts.iter().zip(before);
    let spent = spent.map(|(part, before)| (*part, processor_s(&cluster, part) - before)).collect();
    Some((seconds, spent))
}

#[test]
fn from_creation_to_nodes() {
    let size = Size { side: 16, shape: "4x4x4", jobs: 64 };
    let Some((alone, parts)) = run(size, false) else { return };
    eprintln!("alone: {alone:.1} s; {parts:.1?}");
    let Some((boxes, parts)) = run(size, true) else { return };
    let all: f64 = parts.iter().map(|(_, spent)| spent).sum();
    let own = parts.last().map_or(0.0, |(_, spent)| *spent);
    eprintln!("boxes: {boxes:.1} s; {parts:.1?}");
    eprintln!("{:.2} of the time; {:.3} of the processor time", boxes / alone, own / all);
    assert!(boxes < alone, "boxes take {boxes:.1} s, the scheduler alone {alone:.1} s");
}
