//! Tests many Jobs with and without Kueue quota under random disturbances.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;

use super::draw::Draw;
use super::kueue::Kueue;
use super::model::Model;
use super::races::check;
use super::replicas::Replicas;
use crate::objects::{Object as _, Uid, Workload};

/// The length of the machine's sides, in nodes.
const SIDE: usize = 8;
/// The maximum time that a Job may hold quota without a box, in seconds. A round is one second.
const QUOTA: i64 = 30;
/// The additional time allowed for replicas that lag, or that lose their state when killed.
const LAG: i64 = 60;
/// The maximum number of unfinished Jobs at any time.
const WAITING: usize = 30;
/// The maximum number of consecutive rounds in which no Job is added or ends, and the maximum
/// number of rounds from the last addition until all Jobs have ended.
const PATIENCE: i64 = 2000;
/// Each disturbance and its frequency per thousand rounds.
const TROUBLES: [(&str, usize); 5] = [
    ("nodes cordoned", 60),
    ("nodes deleted", 40),
    ("pods deleted", 40),
    ("replicas killed", 20),
    ("API server outages", 6),
];

struct Storm {
    model: Model,
    kueue: Kueue,
    replicas: Replicas,
    draw: Draw,
    seed: u64,
    now: i64,
    /// Rounds so far in which the API server was available (`up`), and rounds until it returns
    /// (`down`).
    up: i64,
    down: usize,
    arrived: usize,
    /// The unfinished Jobs.
    open: BTreeSet<Uid>,
    /// The value of `up` when each Job began to hold quota without a box.
    holds: BTreeMap<Uid, i64>,
    /// The cordoned or deleted nodes, with their recovery times.
    hurt: BTreeMap<String, (i64, bool)>,
    /// The finished Jobs, with their deletion times.
    kept: BTreeMap<Uid, i64>,
    counts: BTreeMap<&'static str, usize>,
}

impl Storm {
    fn new(seed: u64) -> Storm {
        let spec = json!({
            "scheduler": "easy", "admissionCheck": "place", "quotaSeconds": QUOTA,
        });
        let mut model = Model::new(&format!("torus:{SIDE}x{SIDE}"), &spec);
        let mut kueue = Kueue::new(&mut model, 56, json!({}));
        kueue.preempts = seed % 2 == 0;
        Storm {
            model,
            kueue,
            replicas: Replicas::three(),
            draw: Draw::new(seed),
            seed,
            now: 100_000,
            up: 0,
            down: 0,
            arrived: 0,
            open: BTreeSet::new(),
            holds: BTreeMap::new(),
            hurt: BTreeMap::new(),
            kept: BTreeMap::new(),
            counts: BTreeMap::new(),
        }
    }

    fn count(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
    }

    /// Runs `jobs` Jobs until they end.
    fn run(&mut self, jobs: usize) {
        let mut last = self.now;
        while self.arrived < jobs || !self.open.is_empty() {
            let before = (self.arrived, self.open.len());
            self.now += 1;
            if self.down == 0 {
                self.round(jobs);
            } else {
                self.down -= 1;
                if self.down == 0 {
                    self.replicas.lose_watches(&mut self.draw);
                }
            }
            self.act();
            if before.0 < jobs && before != (self.arrived, self.open.len()) {
                last = self.now;
            }
            let (seed, open) = (self.seed, &self.open);
            assert!(self.now <= last + PATIENCE, "seed {seed}: {open:?} never end");
        }
    }

    fn round(&mut self, jobs: usize) {
        self.up += 1;
        self.kueue.step(&mut self.model, self.now);
        if self.arrived < jobs {
            self.ask(jobs);
            self.trouble();
        }
        for name in self.hurt.keys().cloned().collect::<Vec<String>>() {
            let (until, gone) = self.hurt[&name];
            if until <= self.now {
                self.hurt.remove(&name);
                if gone {
                    self.model.add_node(&name);
                } else {
                    self.model.cordon(&name, false);
                }
            }
        }
        self.model.make_pods();
        self.model.bind();
        check(&self.model, self.seed);
        for pod in self.model.pods(|pod| pod.node().is_some() && !pod.is_terminating()) {
            if self.draw.below(8) == 0 {
                self.model.succeed(&pod);
            }
        }
        if self.draw.below(3) == 0 {
            self.model.end_terminating();
        }
        self.close();
        self.judge_quota();
    }

    fn ask(&mut self, jobs: usize) {
        const SHAPES: [&str; 8] = ["1x1", "2x1", "2x2", "4x2", "3x2", "4x4", "2x4", "8x4"];
        for _ in 0..self.draw.below(3) {
            if self.arrived == jobs || self.open.len() >= WAITING {
                return;
            }
            self.arrived += 1;
            let (name, shape) = (format!("j{}", self.arrived), SHAPES[self.draw.below(8)]);
            let job = if self.draw.below(4) == 0 {
                self.model.add_job(&name, shape, &json!({}))
            } else {
                let priority = self.draw.below(3) as i64;
                Kueue::submit(&mut self.model, &name, shape, priority)
            };
            self.open.insert(job);
        }
    }

    fn trouble(&mut self) {
        let drawn = self.draw.below(1000);
        let mut below = 0;
        let trouble = TROUBLES.iter().find(|(_, often)| {
            below += often;
            drawn < below
        });
        let Some(&(trouble, _)) = trouble else { return };
        let name = format!("n{}-{}", self.draw.below(SIDE), self.draw.below(SIDE));
        let until = self.now + 5 + self.draw.below(40) as i64;
        match trouble {
            "nodes cordoned" | "nodes deleted" if self.hurt.contains_key(&name) => return,
            "nodes cordoned" => {
                self.model.cordon(&name, true);
                self.hurt.insert(name, (until, false));
            }
            "nodes deleted" => {
                self.model.delete_node(&name);
                self.hurt.insert(name, (until, true));
            }
            "pods deleted" => {
                let open = self.model.pods(|pod| pod.spec.gate().is_none());
                let Some(pod) = open.get(self.draw.below(open.len())) else { return };
                self.model.delete_pod(pod);
            }
            "replicas killed" => self.replicas.kill(&mut self.draw),
            _ => self.down = 3 + self.draw.below(12),
        }
        self.count(trouble);
    }

    /// Deletes finished Jobs and their Workloads after a while.
    fn close(&mut self) {
        let over = |uid: &Uid| self.model.world.jobs[uid].is_finished();
        let ended: Vec<Uid> = self.open.iter().filter(|uid| over(uid)).cloned().collect();
        for uid in ended {
            self.open.remove(&uid);
            self.holds.remove(&uid);
            self.kept.insert(uid, self.now + 20);
            self.count("complete");
        }
        let due = self.kept.iter().filter(|(_, until)| **until <= self.now);
        for uid in due.map(|(uid, _)| uid.clone()).collect::<Vec<Uid>>() {
            self.kept.remove(&uid);
            self.model.delete_job(&uid);
            self.model.world.kueue.workloads.retain(|_, one| one.job().as_ref() != Some(&uid));
        }
    }

    /// Checks that no Job holds quota for long without a box.
    fn judge_quota(&mut self) {
        let placed: BTreeSet<&Uid> =
            self.model.world.placements.values().map(|one| &one.spec.job_uid).collect();
        let workloads = self.model.world.kueue.workloads.values();
        let reserved = workloads.filter(|one| one.is_reserved());
        let reserved: BTreeSet<Uid> = reserved.filter_map(Workload::job).collect();
        let waits = |uid: &Uid| {
            let job = self.model.world.jobs.get(uid);
            job.is_some_and(|job| !job.is_finished()) && !placed.contains(uid)
        };
        let holding: BTreeSet<&Uid> = reserved.iter().filter(|uid| waits(uid)).collect();
        self.holds.retain(|uid, _| holding.contains(uid));
        for &uid in &holding {
            let since = *self.holds.entry(uid.clone()).or_insert(self.up);
            let long = self.up - since;
            assert!(long <= QUOTA + LAG, "seed {}: {uid:?} holds quota for {long} s", self.seed);
        }
    }

    fn act(&mut self) {
        if self.down == 0 {
            self.replicas.look(&self.model, &mut self.draw);
        }
        self.replicas.plan(self.now, &mut self.draw);
        for action in self.replicas.write(&mut self.draw) {
            let written = self.down == 0 && self.model.apply(&action);
            self.count(if written { action.kind() } else { "not written" });
            if written {
                check(&self.model, self.seed);
            }
        }
        self.model.discard(self.replicas.latest_read());
    }
}

#[test]
fn jobs_with_quota_get_a_box_or_return_the_quota_in_a_storm() {
    let mut counted = BTreeSet::new();
    // These seeds cover every disturbance. Kueue preempts Jobs if the seed is even.
    for seed in 2..=6 {
        let mut storm = Storm::new(seed);
        storm.run(pavior_trials::size(40, 80, 500));
        let (rounds, plans) = (storm.now - 100_000, storm.replicas.plans);
        println!("seed {seed}: {rounds} rounds, {plans} plans, {:?}", storm.counts);
        counted.extend(storm.counts.into_keys());
    }
    assert!(TROUBLES.iter().all(|(name, _)| counted.contains(name)), "{counted:?}");
}
