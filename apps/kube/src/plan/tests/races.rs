//! Tests several slow replicas together, under all kinds of disturbances.

use std::collections::{BTreeMap, HashMap};

use serde_json::json;

use super::draw::Draw;
use super::model::Model;
use super::replicas::Replica;
use crate::objects::{Object as _, Uid};

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
        let points = cuboid.nodes(&grid).map(|node| grid.point(node));
        points.eq(ended.iter().map(|name| point(name)))
    })
}

fn disturb(model: &mut Model, draw: &mut Draw, replicas: &mut [Replica], jobs: &mut Vec<Uid>) {
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
            let pods = model.pods(|pod| pod.spec.gate().is_none());
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
            // A replica that is killed, or whose watch is compacted, loses its decisions and reads
            // everything again.
            let at = draw.below(replicas.len());
            replicas[at] = Replica::caught_up(model, replicas[at].clock_error);
        }
    }
}

fn run(seed: u64) {
    let mut draw = Draw::new(seed);
    let mut model = Model::new("torus:4x4", &json!({ "scheduler": "easy" }));
    let mut replicas = [0, 3600, -3600].map(|clock_error| Replica::caught_up(&model, clock_error));
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
        let at = draw.below(replicas.len());
        match draw.below(10) {
            0 | 1 => replicas[at].view.advance(&model, draw.below(4), 1 + draw.below(40)),
            2 => replicas[at].plan(now),
            3..=5 => {
                // Pending changes are written in random order.
                let pending = &mut replicas[at].pending;
                if !pending.is_empty() {
                    let action = pending.swap_remove(draw.below(pending.len()));
                    model.apply(&action);
                }
            }
            6 => model.make_pods(),
            7 => model.bind(),
            8 if draw.below(3) == 0 => model.end_terminating(),
            8 => {
                let running = model.pods(|pod| pod.node().is_some() && !pod.is_terminating());
                if !running.is_empty() && draw.below(3) == 0 {
                    let pod = running[draw.below(running.len())].clone();
                    model.succeed(&pod);
                }
            }
            _ if draw.below(6) == 0 => disturb(&mut model, &mut draw, &mut replicas, &mut jobs),
            _ => {}
        }
        check(&model, seed);
    }
    settle(&mut model, &mut replicas[0], &jobs, seed);
}

/// Runs the cluster without disturbances, and checks that every Job completes in a box.
fn settle(model: &mut Model, replica: &mut Replica, jobs: &[Uid], seed: u64) {
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
        let unit = model.world.jobs[job].owner().unwrap_or(job.clone());
        units.entry(unit).or_default().push(job.clone());
    }
    for unit in units.values_mut() {
        unit.sort_unstable_by_key(|job| model.world.jobs[job].global_index());
    }
    units.retain(|_, unit| unit.iter().all(|job| !model.ended.contains_key(job)));
    for now in 2000..4000 {
        model.make_pods();
        replica.view.catch_up(model);
        replica.plan(now);
        for action in std::mem::take(&mut replica.pending) {
            model.apply(&action);
        }
        model.bind();
        check(model, seed);
        if now % 5 == 0 {
            model.end_terminating();
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
fn slow_replicas_never_assign_a_node_twice_and_every_job_ends() {
    let seeds = pavior_trials::size(60, 60, 3000) as u64;
    for seed in 0..seeds {
        run(seed);
    }
}
