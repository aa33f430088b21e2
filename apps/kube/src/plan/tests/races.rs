//! Tests several slow replicas together, with everything that can disturb a cluster.

use std::collections::{BTreeMap, HashMap};

use serde_json::json;

use super::model::{Model, View};
use crate::objects::{Object as _, Uid};
use crate::plan::{Action, Detail, Memory, plan};
use crate::world::Index;

/// A source of pseudorandom numbers, deterministic for a seed.
pub(super) struct Draw(pub(super) u64);

impl Draw {
    pub(super) fn below(&mut self, bound: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % bound.max(1)
    }
}

#[derive(Default)]
struct Copy {
    view: View,
    memory: Memory,
    /// Actions that have not been written yet.
    pending: Vec<Action>,
    /// The replica's clock error in seconds.
    wrong: i64,
}

impl Copy {
    /// Creates a replica that has read the cluster.
    fn fresh(model: &Model, wrong: i64) -> Copy {
        let mut copy = Copy { wrong, ..Copy::default() };
        copy.view.catch_up(model);
        copy
    }
}

/// Checks that no node is in two confirmed placements or has two active pods.
pub(super) fn check(model: &Model, seed: u64) {
    let mut owners: HashMap<&str, &Uid> = HashMap::new();
    for placement in model.world.placements.values().filter(|one| one.is_confirmed()) {
        for node in &placement.spec.nodes {
            let other = owners.insert(node, &placement.spec.job_uid);
            assert!(other.is_none(), "seed {seed}: {node} is confirmed for two Jobs");
        }
    }
    let mut bound: HashMap<&str, Uid> = HashMap::new();
    for pod in model.world.pods.values().filter(|pod| pod.is_active()) {
        if let Some(node) = pod.node() {
            assert!(bound.insert(node, pod.uid()).is_none(), "seed {seed}: two pods on {node}");
        }
    }
}

/// Returns true if the nodes of a complete Job or set form one box in rank order.
fn is_box(model: &Model, unit: &[Uid]) -> bool {
    let grid: pavior::Grid = "torus:4x4".parse().unwrap();
    let ended: Vec<&String> = unit.iter().flat_map(|job| model.ended[job].values()).collect();
    let shape = model.world.jobs[&unit[0]].shape().unwrap();
    let sides: Vec<u16> = shape.split('x').map(|side| side.parse().unwrap()).collect();
    let point = |name: &str| {
        let (x, y) = name[1..].split_once('-').unwrap();
        [x.parse().unwrap(), y.parse().unwrap(), 0]
    };
    pavior::boxes::orientations([sides[0], sides[1], 1]).any(|turned| {
        let cuboid = pavior::Cuboid::new(point(ended[0]), turned);
        let nodes: Vec<String> = cuboid
            .nodes(&grid)
            .map(|node| {
                let [x, y, _] = grid.point(node);
                format!("n{x}-{y}")
            })
            .collect();
        nodes.iter().collect::<Vec<_>>() == ended
    })
}

fn disturb(model: &mut Model, draw: &mut Draw, copies: &mut [Copy], jobs: &mut Vec<Uid>) {
    let node = format!("n{}-{}", draw.below(4), draw.below(4));
    let job = jobs[draw.below(jobs.len())].clone();
    match draw.below(9) {
        0 => model.cordon(&node, true),
        1 | 2 => model.cordon(&node, false),
        3 => {
            model.delete_node(&node);
            model.add_node(&node);
        }
        4 => {
            let pods = model.pods(|pod| pod.gate().is_none());
            if !pods.is_empty() {
                let pod = pods[draw.below(pods.len())].clone();
                model.delete_pod(&pod);
            }
        }
        5 => model.suspend(&job, true),
        6 => model.suspend(&job, false),
        7 if model.world.jobs.get(&job).is_some_and(|job| !job.is_finished()) => {
            let old = model.world.jobs[&job].clone();
            model.delete_job(&job);
            let shape = old.shape().unwrap();
            let again = match (old.owner(), old.global_index()) {
                (Some(set), Some(number)) => {
                    model.add_job_of(&set.0, number, shape, old.spec.completions.unwrap())
                }
                _ => model.add_job(old.name(), shape, &json!({})),
            };
            jobs.retain(|one| *one != job);
            jobs.push(again);
        }
        _ => {
            // The replica is killed, or its watch is compacted: it loses its decisions and reads
            // everything again.
            let at = draw.below(copies.len());
            copies[at] = Copy::fresh(model, copies[at].wrong);
        }
    }
}

fn think(copy: &mut Copy, now: i64) {
    let now = now + copy.wrong;
    let index = Index::of(&copy.view.world);
    copy.pending = plan(&index, "m", &mut copy.memory, now, Detail::DAEMON).unwrap().actions;
}

fn run(seed: u64) {
    let mut draw = Draw(seed);
    for _ in 0..8 {
        draw.below(2);
    }
    let mut model = Model::new("torus:4x4", &json!({ "scheduler": "easy" }));
    let mut copies = [0, 3600, -3600].map(|wrong| Copy::fresh(&model, wrong));
    let shapes = ["2x2", "4x1", "1x1", "2x4", "3x2", "4x4", "2x1"];
    let mut jobs = Vec::new();
    for name in 0..12 {
        let shape = shapes[draw.below(shapes.len())];
        jobs.push(model.add_job(&format!("j{name}"), shape, &json!({})));
        if name % 6 == 5 {
            let first = 1 + draw.below(4) as u32;
            let set = format!("s{name}");
            jobs.push(model.add_job_of(&set, 1, "4x2", 8 - first));
            jobs.push(model.add_job_of(&set, 0, "4x2", first));
        }
    }
    for now in 0..1500 {
        let at = draw.below(copies.len());
        match draw.below(10) {
            0 | 1 => copies[at].view.advance(&model, draw.below(4), 1 + draw.below(40)),
            2 => think(&mut copies[at], now),
            3..=5 => {
                // Pending changes are written in random order.
                let pending = &mut copies[at].pending;
                if !pending.is_empty() {
                    let act = pending.swap_remove(draw.below(pending.len()));
                    model.carry(&act);
                }
            }
            6 => model.make_pods(),
            7 => model.bind(),
            8 if draw.below(3) == 0 => model.end_going(),
            8 => {
                let running = model.pods(|pod| pod.node().is_some() && !pod.is_terminating());
                if !running.is_empty() && draw.below(3) == 0 {
                    let pod = running[draw.below(running.len())].clone();
                    model.succeed(&pod);
                }
            }
            _ if draw.below(6) == 0 => disturb(&mut model, &mut draw, &mut copies, &mut jobs),
            _ => {}
        }
        check(&model, seed);
    }
    settle(&mut model, &mut copies[0], &jobs, seed);
}

/// Runs everything without disturbances, and checks that every Job completes on a box.
fn settle(model: &mut Model, copy: &mut Copy, jobs: &[Uid], seed: u64) {
    for x in 0..4 {
        for y in 0..4 {
            model.cordon(&format!("n{x}-{y}"), false);
        }
    }
    for job in jobs {
        model.suspend(job, false);
    }
    let mut units: BTreeMap<Uid, Vec<Uid>> = BTreeMap::new();
    for job in jobs {
        units
            .entry(model.world.jobs[job].owner().unwrap_or(job.clone()))
            .or_default()
            .push(job.clone());
    }
    for unit in units.values_mut() {
        unit.sort_unstable_by_key(|job| model.world.jobs[job].global_index());
    }
    units.retain(|_, unit| unit.iter().all(|job| !model.ended.contains_key(job)));
    for now in 2000..4000 {
        model.make_pods();
        copy.view.catch_up(model);
        think(copy, now);
        for act in std::mem::take(&mut copy.pending) {
            model.carry(&act);
        }
        model.bind();
        check(model, seed);
        if now % 5 == 0 {
            model.end_going();
            for pod in model.pods(|pod| pod.node().is_some() && !pod.is_terminating()) {
                let whole = |uid: &Uid| model.world.jobs.contains_key(uid);
                if model.world.pods[&pod].owner().is_some_and(|owner| whole(&owner)) {
                    model.succeed(&pod);
                }
            }
        }
        if jobs.iter().all(|job| model.world.jobs[job].is_finished()) {
            break;
        }
    }
    for job in jobs {
        let one = &model.world.jobs[job];
        assert!(one.is_finished(), "seed {seed}: {} never ends", one.name());
    }
    for (name, unit) in &units {
        assert!(is_box(model, unit), "seed {seed}: {name:?}: {:?}", model.ended);
    }
}

#[test]
fn three_slow_copies_never_give_a_node_twice_and_every_job_ends() {
    let seeds = pavior_trials::size(60, 60, 3000) as u64;
    for seed in 0..seeds {
        run(seed);
    }
}
