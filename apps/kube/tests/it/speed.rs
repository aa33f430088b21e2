//! How long 4,096 pods take from their creation to their nodes: with the scheduler of the cluster
//! alone, and with boxes. `cargo xtask kube speed` runs it, on a quiet machine.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::time::Instant;

use serde_json::{Value, json};

use crate::cluster::{Cluster, JOBS, User, job, release};

const PARTS: &[&str] = &["etcd", "kube-apiserver", "kube-scheduler", "kube-controller-manager"];
/// Nothing looks after nodes: 4,096 of them would beat all the time.
const CONTROLLERS: &str = "job-controller,garbage-collector-controller,namespace-controller";
const JOBS_EACH: usize = 64;

/// A Job of 64 pods, each with a node to itself, without a shape.
fn plain(name: &str) -> Value {
    let mut job = job(name, "4x4x4", 1);
    job["metadata"]["annotations"] = json!({});
    let limits = json!({ "limits": { "toy/node": "1" } });
    job["spec"]["template"]["spec"]["containers"][0]["resources"] = limits;
    job
}

/// Counts the bindings in the audit log, which is read on.
struct Bindings(BufReader<File>, usize);

impl Bindings {
    fn count(&mut self) -> usize {
        let mut line = Vec::new();
        while self.0.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
            // A line that is still being written is read again with its rest.
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

/// Seconds of the clock and of the processor, by part.
fn run(boxes: bool) -> Option<(f64, Vec<(&'static str, f64)>)> {
    let mut cluster = Cluster::bare("the speed of pavior kube", release(), CONTROLLERS)?;
    cluster.add_nodes([16, 16, 16]);
    for id in 0..4096 {
        let name = format!("n{}-{}-{}", id % 16, id / 16 % 16, id / 256);
        let amount = json!({ "toy/node": "1" });
        let status = json!({ "status": { "capacity": amount, "allocatable": amount } });
        cluster.patch(&format!("/api/v1/nodes/{name}/status"), &status);
    }
    cluster.apply();
    let mut parts = PARTS.to_vec();
    if boxes {
        cluster.machine("torus:16x16x16");
        cluster.start_copy("always");
        let offered = "/api/v1/nodes/n15-15-15";
        cluster.until("the resource is offered", || {
            !cluster.get(offered)["status"]["allocatable"]["pavior.dev/node"].is_null()
        });
        parts.push("pavior");
    }
    let before: Vec<f64> = parts.iter().map(|part| cluster.processor_s(part)).collect();
    let began = Instant::now();
    for number in 0..JOBS_EACH {
        let name = format!("job{number}");
        let job = if boxes { job(&name, "4x4x4", 1) } else { plain(&name) };
        cluster.good(User::Alice, "POST", JOBS, &job);
    }
    let log = File::open(cluster.path().join("audit.log")).unwrap();
    let mut bindings = Bindings(BufReader::new(log), 0);
    cluster.until("all pods have a node", || bindings.count() == 64 * JOBS_EACH);
    let seconds = began.elapsed().as_secs_f64();
    let spent = parts.iter().zip(before);
    let spent = spent.map(|(part, before)| (*part, cluster.processor_s(part) - before)).collect();
    Some((seconds, spent))
}

#[test]
#[ignore = "minutes on a quiet machine: cargo xtask kube speed"]
fn four_thousand_pods() {
    let Some((alone, parts)) = run(false) else { return };
    eprintln!("alone: {alone:.1} s; {parts:.1?}");
    let Some((boxes, parts)) = run(true) else { return };
    let all: f64 = parts.iter().map(|(_, spent)| spent).sum();
    let own = parts.last().map_or(0.0, |(_, spent)| *spent);
    eprintln!("boxes: {boxes:.1} s; {parts:.1?}");
    eprintln!("{:.2} of the time; {:.3} of the processor time", boxes / alone, own / all);
    assert!(boxes < alone, "boxes take {boxes:.1} s, the scheduler alone {alone:.1} s");
}
