//! Tests all disruptions of a cluster at once, with two daemon replicas: Jobs are created while
//! processes are killed, nodes disappear and return, and pods and Jobs are deleted. The audit log
//! is then used to check the result.

use std::collections::HashMap;
use std::time::Duration;

use serde_json::{Value, json};

use crate::chaos::Chaos;
use crate::cluster::objects::{JOBS, job};
use crate::cluster::parts::PARTS;
use crate::cluster::replicas::clocks_can_be_wrong;
use crate::cluster::{Cluster, RELEASE, User};
use crate::judge::Record;
use crate::proxy::{ONE_OF, Proxy};
use crate::sets::{part, set};

const GRID: &str = "torus:4x4x4";
const SHAPES: &[&str] = &[
    "2x2x2", "4x1x1", "4x4x1", "1x1x1", "2x2x1", "4x4x2", "3x2x1", "2x4x2", "2x2x2", "3x3x1",
    "1x2x2", "4x4x4",
];

/// A cluster under disruption and the Jobs that run on it.
struct Storm {
    chaos: Chaos,
    /// The request body that created each Job, by the Job's name.
    bodies: HashMap<String, Value>,
    wrong_clocks: bool,
}

impl Storm {
    /// Causes a disturbance. Returns its name.
    fn disturb(&mut self) -> Option<&'static str> {
        let chaos = &mut self.chaos;
        match chaos.below(15) {
            0 => Some(self.kill_replica(None)),
            1 => chaos.pause_replica(0, 5).then_some("a replica paused for 5 s"),
            2 => {
                let part = PARTS[chaos.below(PARTS.len())];
                chaos.cluster.restart_part(part);
                Some(part)
            }
            3 | 4 => {
                let node = chaos.node([4; 3]);
                chaos.cordon(&node).then_some("a node cordoned for 6 s")
            }
            5 => {
                let node = chaos.node([4; 3]);
                chaos.silence(node).then_some("a node silent for 60 s")
            }
            6 => {
                let node = chaos.node([4; 3]);
                let path = format!("/api/v1/nodes/{node}");
                chaos.cluster.ask(User::Admin, "DELETE", &path, &Value::Null).ok()?;
                chaos.cluster.add_node(&node);
                Some("a node deleted and recreated")
            }
            7 => self.evict_pod(),
            8 => chaos.delete_pod(|_| true).then_some("a pod deleted"),
            9 => {
                let name = self.unfinished_job()?;
                self.chaos.suspend(&name).then_some("a Job suspended for 4 s")
            }
            10 => self.recreate_job(),
            11 => {
                chaos.pause_replica(0, 2);
                chaos.cluster.compact();
                Some("history compacted while a replica was paused")
            }
            12 if self.wrong_clocks => Some(self.kill_replica(Some("+1h"))),
            13 if self.wrong_clocks => Some(self.kill_replica(Some("-1h"))),
            _ => None,
        }
    }

    /// Kills a replica and starts another in its place.
    fn kill_replica(&mut self, clock: Option<&str>) -> &'static str {
        let replica = self.chaos.below(2);
        self.chaos.cluster.end_replica(replica);
        self.chaos.cluster.start_replica_at(clock, "spoilt", "always", &[]);
        match clock {
            None => "a replica killed",
            Some("+1h") => "a replica killed, the next clock an hour fast",
            Some(_) => "a replica killed, the next clock an hour slow",
        }
    }

    fn evict_pod(&mut self) -> Option<&'static str> {
        let path = self.chaos.running_pod(|_| true)?;
        let name = path.rsplit('/').next();
        let eviction = json!({
            "apiVersion": "policy/v1", "kind": "Eviction", "metadata": { "name": name },
        });
        let path = format!("{path}/eviction");
        self.chaos.cluster.ask(User::Admin, "POST", &path, &eviction).ok()?;
        Some("a pod evicted")
    }

    /// Returns a random unfinished Job's name.
    fn unfinished_job(&mut self) -> Option<String> {
        let job = self.chaos.object(JOBS, |job| job["status"]["completionTime"].is_null())?;
        job["metadata"]["name"].as_str().map(str::to_string)
    }

    /// Deletes a Job in the background and recreates it under the same name.
    fn recreate_job(&mut self) -> Option<&'static str> {
        let name = self.unfinished_job()?;
        let body = self.bodies.get(&name)?.clone();
        self.chaos.cluster.delete_job(&name).ok()?;
        self.make(body);
        Some(if name.starts_with("set") {
            "a Job in a set deleted and recreated"
        } else {
            "a Job deleted and recreated"
        })
    }

    fn make(&mut self, body: Value) {
        self.chaos.cluster.create(User::Alice, JOBS, &body);
        self.bodies.insert(body["metadata"]["name"].as_str().unwrap().to_string(), body);
    }

    /// Runs `jobs` Jobs. In every group of eight, the last two form a set that shares one box.
    fn run(&mut self, jobs: usize) {
        let mut owner = Value::Null;
        for number in 0..jobs {
            match number % 8 {
                6 => {
                    owner = set(&self.chaos.cluster, &format!("set{number}"));
                    self.make(part(&owner, 1, "3x2x2", 7, 1));
                }
                7 => self.make(part(&owner, 0, "3x2x2", 5, 1)),
                _ => {
                    let shape = SHAPES[self.chaos.below(SHAPES.len())];
                    self.make(job(&format!("job{number}"), shape, 1));
                }
            }
            std::thread::sleep(Duration::from_millis(100));
            self.chaos.end_due();
            if number % 2 == 0
                && let Some(what) = self.disturb()
            {
                self.chaos.count(what);
            }
        }
        self.chaos.end_all();
    }

    fn judge(self, jobs: usize, proxy: &Proxy) {
        let sets = jobs / 8;
        let Chaos { cluster, mut counts, .. } = self.chaos;
        counts.extend(proxy.counts().map(|(what, count)| (what, count as usize)));
        cluster.within(1500, "all are complete", || cluster.complete() == jobs);
        cluster.until("no placement is left", || {
            cluster.get("/apis/pavior.dev/v1alpha1/placements")["items"] == json!([])
        });
        let record = Record::read(cluster.path());
        let (overlaps, misplaced) = (record.overlaps, record.misplaced);
        let crooked = record.crooked(&GRID.parse().unwrap());
        eprintln!(
            "{}: {jobs} Jobs, {} of them in {sets} sets, {} confirmed placements, {} of sets: \
             {overlaps} overlap, {crooked} are not a box, {misplaced} pods on another node. \
             {counts:?}",
            *RELEASE,
            2 * sets,
            record.confirmations,
            record.of_sets,
        );
        assert_eq!((overlaps, crooked, misplaced), (0, 0, 0));
        let (proposed, of_sets) = record.proposed();
        assert!(proposed >= jobs - sets && of_sets >= sets, "{proposed}, {of_sets} of sets");
        assert!(record.bound.len() >= jobs, "pods of {} Jobs were bound", record.bound.len());
    }
}

/// Returns all seeds of a long run, or a single seed for any other run.
pub(crate) fn seeds() -> Vec<u64> {
    pavior_trials::seeds().unwrap_or_else(|| vec![1])
}

/// Runs 200 Jobs per seed under `cargo xtask kube RELEASE`, or 30 in the regular checks.
#[test]
fn replicas_place_jobs_correctly_in_a_storm() {
    let jobs = pavior_trials::size(30, 30, 200);
    let wrong_clocks = clocks_can_be_wrong();
    for seed in seeds() {
        let Some(mut cluster) = Cluster::start("a storm", [4, 4, 4]) else { return };
        cluster.machine(GRID);
        let proxy = cluster.spoil(seed, ONE_OF);
        cluster.start_replica_as("spoilt", "always", &[]);
        cluster.start_replica_as("spoilt", "always", &[]);
        let chaos = Chaos::new(cluster, seed, "storm");
        let mut storm = Storm { chaos, bodies: HashMap::new(), wrong_clocks };
        storm.run(jobs);
        storm.judge(jobs, &proxy);
    }
}
