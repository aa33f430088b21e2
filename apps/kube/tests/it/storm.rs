//! Tests all disturbances of a cluster together, with two replicas of the daemon: Jobs are created
//! while processes are killed, nodes disappear and return, and pods and Jobs are deleted. The
//! result is checked in the audit log.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use pavior::Stream;
use serde_json::{Value, json};

use crate::cluster::objects::{JOBS, PODS, job};
use crate::cluster::replicas::clocks_can_be_wrong;
use crate::cluster::{Cluster, User};
use crate::judge::Record;
use crate::proxy::{ONE_OF, Proxy};
use crate::sets::{part, set};

const GRID: &str = "torus:4x4x4";
const SHAPES: &[&str] = &[
    "2x2x2", "4x1x1", "4x4x1", "1x1x1", "2x2x1", "4x4x2", "3x2x1", "2x4x2", "2x2x2", "3x3x1",
    "1x2x2", "4x4x4",
];
const PARTS: &[&str] = &["etcd", "kube-apiserver", "kube-scheduler", "kube-controller-manager"];

/// A storm of disturbances in progress.
struct Storm<'a> {
    cluster: &'a mut Cluster,
    draw: Stream,
    counts: BTreeMap<&'static str, usize>,
    /// The ends of disturbances, with their times.
    ends: Vec<(Instant, End)>,
    release: &'static str,
    /// The request bodies that created Jobs.
    bodies: HashMap<String, Value>,
    wrong_clocks: bool,
}

enum End {
    Uncordon(String),
    Speak(String),
    Wake(usize),
    Resume(String),
}

impl Storm<'_> {
    fn below(&mut self, bound: usize) -> usize {
        (self.draw.next_u64() % bound.max(1) as u64) as usize
    }

    fn node(&mut self) -> String {
        format!("n{}-{}-{}", self.below(4), self.below(4), self.below(4))
    }

    /// Finds an object in a list, unless the API server is down.
    fn one(&mut self, path: &str, is: impl Fn(&Value) -> bool) -> Option<Value> {
        let all = self.cluster.ask(User::Admin, "GET", path, &Value::Null).ok()?;
        let all: Vec<&Value> = all["items"].as_array()?.iter().filter(|one| is(one)).collect();
        let at = self.below(all.len());
        all.get(at).map(|&one| one.clone())
    }

    fn later(&mut self, seconds: u64, end: End) {
        self.ends.push((Instant::now() + Duration::from_secs(seconds), end));
    }

    fn end(&mut self, all: bool) {
        let now = Instant::now();
        let (due, rest) =
            std::mem::take(&mut self.ends).into_iter().partition(|(at, _)| all || *at <= now);
        self.ends = rest;
        for (_, end) in due {
            let again = match &end {
                End::Uncordon(node) => !self.cordon(node, false),
                End::Speak(node) => {
                    self.cluster.kubelets.silent.lock().unwrap().remove(node);
                    false
                }
                End::Wake(replica) => {
                    self.cluster.pause_replica(*replica, false);
                    false
                }
                End::Resume(job) => !self.suspend(job, false),
            };
            if again {
                self.later(1, end);
            }
        }
    }

    fn cordon(&mut self, node: &str, cordoned: bool) -> bool {
        let body = json!({ "spec": { "unschedulable": cordoned } });
        let path = format!("/api/v1/nodes/{node}");
        let answer = self.cluster.ask(User::Admin, "PATCH", &path, &body);
        matches!(answer, Ok(_) | Err((404, _)))
    }

    fn suspend(&mut self, job: &str, suspended: bool) -> bool {
        let body = json!({ "spec": { "suspend": suspended } });
        let answer = self.cluster.ask(User::Alice, "PATCH", &format!("{JOBS}/{job}"), &body);
        matches!(answer, Ok(_) | Err((404, _)))
    }

    /// Causes a disturbance. Returns its name.
    fn disturb(&mut self) -> Option<&'static str> {
        let what = self.below(15);
        match what {
            0 => Some(self.kill_replica(None)),
            1 => {
                self.cluster.pause_replica(0, true);
                self.later(5, End::Wake(0));
                Some("a replica paused for 5 s")
            }
            11 => {
                self.cluster.pause_replica(0, true);
                self.later(2, End::Wake(0));
                self.cluster.compact();
                Some("history compacted while a replica was paused")
            }
            12 | 13 if self.wrong_clocks => {
                Some(self.kill_replica(Some(if what == 12 { "+1h" } else { "-1h" })))
            }
            2 => {
                let part = PARTS[self.below(PARTS.len())];
                self.cluster.restart_part(part);
                Some(part)
            }
            3 | 4 => {
                let node = self.node();
                self.cordon(&node, true).then_some(())?;
                self.later(6, End::Uncordon(node));
                Some("a node cordoned for 6 s")
            }
            5 => {
                let node = self.node();
                self.cluster.kubelets.silent.lock().unwrap().insert(node.clone());
                self.later(60, End::Speak(node));
                Some("a node silent for 60 s")
            }
            6 => {
                let node = self.node();
                let path = format!("/api/v1/nodes/{node}");
                self.cluster.ask(User::Admin, "DELETE", &path, &Value::Null).ok()?;
                self.cluster.add_node(&node);
                Some("a node deleted and recreated")
            }
            7 | 8 => self.lose_pod(what == 7),
            9 => {
                let name = self.living()?;
                self.suspend(&name, true).then_some(())?;
                self.later(4, End::Resume(name));
                Some("a Job suspended for 4 s")
            }
            10 => self.again(),
            _ => None,
        }
    }

    /// Kills a replica and starts another in its place.
    fn kill_replica(&mut self, clock: Option<&str>) -> &'static str {
        let replica = self.below(2);
        self.cluster.end_replica(replica);
        self.cluster.start_replica_at(clock, "spoilt", "always", &[]);
        match clock {
            None => "a replica killed",
            Some("+1h") => "a replica killed, the next clock an hour fast",
            Some(_) => "a replica killed, the next clock an hour slow",
        }
    }

    /// Deletes or evicts a pod.
    fn lose_pod(&mut self, evicted: bool) -> Option<&'static str> {
        let pod = self.one(PODS, |pod| pod["status"]["phase"] == "Running")?;
        let path = format!("{PODS}/{}", pod["metadata"]["name"].as_str()?);
        if !evicted {
            self.cluster.ask(User::Alice, "DELETE", &path, &Value::Null).ok()?;
            return Some("a pod deleted");
        }
        let name = &pod["metadata"]["name"];
        let eviction = json!({
            "apiVersion": "policy/v1", "kind": "Eviction", "metadata": { "name": name },
        });
        self.cluster.ask(User::Admin, "POST", &format!("{path}/eviction"), &eviction).ok()?;
        Some("a pod evicted")
    }

    /// Returns an unfinished Job.
    fn living(&mut self) -> Option<String> {
        let job = self.one(JOBS, |job| job["status"]["completionTime"].is_null())?;
        job["metadata"]["name"].as_str().map(str::to_string)
    }

    /// Deletes a Job in the background and recreates it under the same name.
    fn again(&mut self) -> Option<&'static str> {
        let job = self.one(JOBS, |job| job["status"]["completionTime"].is_null())?;
        let name = job["metadata"]["name"].as_str()?;
        let body = self.bodies.get(name)?.clone();
        let path = format!("{JOBS}/{name}");
        let how = json!({ "propagationPolicy": "Background" });
        self.cluster.ask(User::Alice, "DELETE", &path, &how).ok()?;
        self.make(body);
        Some(if name.starts_with("set") {
            "a Job in a set deleted and recreated"
        } else {
            "a Job deleted and recreated"
        })
    }

    /// Creates a Job, retrying as often as necessary.
    fn make(&mut self, body: Value) {
        let cluster = &*self.cluster;
        let made = || cluster.ask(User::Alice, "POST", JOBS, &body);
        cluster.until("a Job is created", || matches!(made(), Ok(_) | Err((409, _))));
        self.bodies.insert(body["metadata"]["name"].as_str().unwrap().to_string(), body);
    }

    /// Runs `jobs` Jobs. The last two of every eight form a set with one box.
    fn run(&mut self, jobs: usize) {
        let mut owner = Value::Null;
        for number in 0..jobs {
            match number % 8 {
                6 => {
                    owner = set(self.cluster, &format!("set{number}"));
                    self.make(part(&owner, 1, "3x2x2", 7, 1));
                }
                7 => self.make(part(&owner, 0, "3x2x2", 5, 1)),
                _ => {
                    let shape = SHAPES[self.below(SHAPES.len())];
                    self.make(job(&format!("job{number}"), shape, 1));
                }
            }
            std::thread::sleep(Duration::from_millis(100));
            self.end(false);
            if number % 2 == 0
                && let Some(what) = self.disturb()
            {
                *self.counts.entry(what).or_default() += 1;
            }
        }
        self.end(true);
        while !self.ends.is_empty() {
            std::thread::sleep(Duration::from_millis(200));
            self.end(true);
        }
    }

    fn judge(mut self, jobs: usize, proxy: &Proxy) {
        let sets = jobs / 8;
        self.counts.extend(proxy.counts().map(|(what, count)| (what, count as usize)));
        let cluster = self.cluster;
        cluster.within(1500, "all are complete", || cluster.complete() == jobs);
        cluster.until("no placement is left", || {
            cluster.get("/apis/pavior.dev/v1alpha1/placements")["items"] == json!([])
        });
        let record = Record::read(cluster.path());
        let (overlaps, misplaced) = (record.overlaps, record.misplaced);
        let crooked = record.crooked(&GRID.parse().unwrap());
        let mut told = String::new();
        for (what, count) in &self.counts {
            let _ = write!(told, "{what} {count}; ");
        }
        eprintln!(
            "{}: {jobs} Jobs, {} of them in {sets} sets, {} confirmed placements, {} of sets: \
             {overlaps} overlap, {crooked} are not a box, {misplaced} pods on another node. {told}",
            self.release,
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

/// Returns the seeds of a long run, or a single seed.
pub(crate) fn seeds() -> Vec<u64> {
    pavior_trials::seeds().unwrap_or_else(|| vec![1])
}

/// Runs 200 Jobs per seed with `cargo xtask kube RELEASE`, or 30 in the checks.
#[test]
fn replicas_place_jobs_correctly_in_a_storm() {
    let jobs = pavior_trials::size(30, 30, 200);
    let release = crate::cluster::release();
    let wrong_clocks = clocks_can_be_wrong();
    for seed in seeds() {
        let Some(mut cluster) = Cluster::start("a storm", release, [4, 4, 4]) else { return };
        cluster.machine(GRID);
        let proxy = cluster.spoil(seed, ONE_OF);
        cluster.start_replica_as("spoilt", "always", &[]);
        cluster.start_replica_as("spoilt", "always", &[]);
        let mut storm = Storm {
            cluster: &mut cluster,
            draw: Stream::new(seed, 0, "storm"),
            counts: BTreeMap::new(),
            ends: Vec::new(),
            release,
            bodies: HashMap::new(),
            wrong_clocks,
        };
        storm.run(jobs);
        storm.judge(jobs, &proxy);
    }
}
