//! Plans of what is awake, in lock-step with plans that are made of everything anew.

use std::collections::{BTreeMap, HashMap};

use serde_json::json;

use super::model::{Model, View};
use super::races::Draw;
use crate::objects::{GATE, Known as _, MACHINE, Machine, Pod, Uid};
use crate::plan::{Act, Depth, Holding, Memory, Plan, Waiting, plan, strays};
use crate::rest::{Drowsy, Rest};
use crate::world::{Index, World};

const PICTURED: Depth = Depth { pictured: true, ..Depth::ACT };

/// What is kept from plan to plan where the world rests.
#[derive(Default)]
pub(super) struct Rested {
    rest: Rest,
    memory: HashMap<String, Memory>,
    /// Jobs that no machine is for.
    strays: Vec<Waiting>,
}

impl Rested {
    /// The plans of what is awake, by machine.
    pub(super) fn plan(&mut self, world: &mut World, now: i64) -> BTreeMap<String, Plan> {
        self.plan_to(world, now, Depth::ACT)
    }

    fn plan_to(&mut self, world: &mut World, now: i64, depth: Depth) -> BTreeMap<String, Plan> {
        self.rest.wake(world, now);
        let index = Index::awake(world, &self.rest);
        let (mut quiet, mut all) = (Vec::new(), BTreeMap::new());
        for name in world.machines.keys() {
            let memory = self.memory.entry(name.clone()).or_default();
            let mut made = plan(&index, name, memory, now, depth).unwrap();
            quiet.append(&mut made.quiet);
            all.insert(name.clone(), made);
        }
        self.strays = strays(&index);
        let drowsy = Drowsy::of(&index, quiet, &self.memory);
        self.rest.sleep(world, drowsy);
        all
    }
}

/// A plan of what is awake is that of everything.
pub(super) fn same(one: &Plan, other: &Plan) {
    assert_eq!(one.acts, other.acts);
    assert_eq!(one.waiting, other.waiting);
    assert_eq!((&one.status, &one.overlaps), (&other.status, &other.overlaps));
    assert_eq!(one.free, other.free);
    if let (Some(one), Some(other)) = (&one.picture, &other.picture) {
        // Jobs that are about to start are listed in no order.
        let sorted = |all: &[Holding]| {
            let mut all: Vec<String> = all.iter().map(|one| format!("{one:?}")).collect();
            all.sort_unstable();
            all
        };
        assert_eq!(sorted(&one.held), sorted(&other.held));
        assert_eq!(one.failed, other.failed);
    }
}

/// A cluster with one machine, or with two that have different nodes, or some in common.
fn cluster(draw: &mut Draw) -> Model {
    let scheduler = ["easy", "fcfs", "conservative", "scan"][draw.below(4)];
    let strategy = ["tff", "ff", "bl"][draw.below(3)];
    let mut spec = json!({ "scheduler": scheduler, "strategy": strategy, "patienceSeconds": 8 });
    if draw.below(2) == 0 {
        spec["nodesPerNamespace"] = json!(10);
        spec["queuedPerNamespace"] = json!(2);
    }
    if draw.below(4) == 0 {
        spec["resource"] = json!("example.com/chip");
    }
    let mut model = Model::new("torus:4x4", &spec);
    let pattern = [None, Some("k{x}-{y}"), Some("n{x}-{y}")][draw.below(3)];
    if let Some(pattern) = pattern {
        model.world.machines.insert("k".into(), second(pattern));
        for at in 0..6 {
            model.add_node(&format!("k{}-{}", at % 3, at / 3));
        }
    }
    model
}

/// A second machine, whose nodes are named so.
fn second(pattern: &str) -> Machine {
    let spec = json!({ "grid": "mesh:3x2", "nodes": { "pattern": pattern } });
    let machine = json!({ "metadata": { "name": "k", "uid": "other" }, "spec": spec });
    serde_json::from_value(machine).unwrap()
}

/// A node of one of the machines, or of none.
fn node(draw: &mut Draw) -> String {
    match draw.below(8) {
        0 => "k1-1".into(),
        1 => "elsewhere".into(),
        _ => format!("n{}-{}", draw.below(4), draw.below(4)),
    }
}

/// A pod of somebody, or one that says that it is a Job's.
fn add_pod(model: &mut Model, draw: &mut Draw, owner: &str) {
    let uid = model.uid();
    let namespace = ["default", "a"][draw.below(2)];
    let kind = ["ReplicaSet", "DaemonSet", "Job"][draw.below(3)];
    let owner = if draw.below(2) == 0 { "somebody" } else { owner };
    let mut pod = json!({
        "metadata": {
            "name": uid, "uid": uid, "namespace": namespace,
            "ownerReferences": [{
                "apiVersion": "v1", "kind": kind, "name": owner, "uid": owner, "controller": true,
            }],
        },
        "spec": { "nodeName": node(draw) }, "status": { "phase": "Running" },
    });
    if draw.below(2) == 0 {
        let rank = draw.below(4).to_string();
        pod["metadata"]["labels"] = json!({ "batch.kubernetes.io/job-completion-index": rank });
    }
    if draw.below(3) == 0 {
        pod["spec"] = json!({ "schedulingGates": [{ "name": GATE }] });
    }
    model.put_pod(serde_json::from_value(pod).unwrap());
}

/// A Job of some namespace, on some machine, or several of a set.
fn add_job(model: &mut Model, draw: &mut Draw, jobs: &mut Vec<Uid>) {
    let (name, namespace) = (model.uid(), ["default", "a", "b"][draw.below(3)]);
    let shape = ["2x2", "2x1", "1x1", "3x2", "4x1", "1x2", "wrong"][draw.below(7)];
    if draw.below(5) == 0 {
        jobs.push(model.add_job_of(&name, 1, "2x2", 3));
        jobs.push(model.add_job_of(&name, 0, "2x2", 1));
        return;
    }
    let template = [json!({}), json!({ "nodeSelector": { "pool": "a" } })];
    let uid = model.add_job_in(namespace, &name, shape, &template[draw.below(5) / 4]);
    let mut job = model.world.jobs[&uid].clone();
    job.spec.active_deadline_seconds = [None, Some(50), Some(7)][draw.below(3)];
    let annotations = job.metadata.annotations.get_or_insert_default();
    match draw.below(6) {
        0 => drop(annotations.insert(MACHINE.into(), "nowhere".into())),
        1 => drop(annotations.remove("pavior.dev/shape")),
        at => {
            if model.world.machines.len() > 1 {
                annotations.insert(MACHINE.into(), if at == 2 { "k" } else { "m" }.into());
            }
        }
    }
    model.put_job(job);
    jobs.push(uid);
}

/// The scheduler of the cluster refuses an open pod.
fn refuse(model: &mut Model, draw: &mut Draw) {
    let open = model.pods(|pod| pod.gate().is_none() && pod.node().is_none());
    let Some(uid) = open.get(draw.below(open.len())) else { return };
    let mut pod = model.world.pods[uid].clone();
    let said = json!({
        "type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "no",
    });
    pod.status.conditions = vec![serde_json::from_value(said).unwrap()];
    model.put_pod(pod);
}

/// A record is made by hand: it is like another one, or has nodes of it, of another Job or none.
fn forge(model: &mut Model, draw: &mut Draw, jobs: &[Uid]) {
    let known: Vec<Uid> = model.world.placements.keys().cloned().collect();
    let Some(uid) = known.get(draw.below(known.len())) else { return };
    let mut one = model.world.placements[uid].clone();
    one.metadata.uid = Some(model.uid());
    one.metadata.name.clone_from(&one.metadata.uid);
    one.status.confirmed = draw.below(2) == 0;
    match draw.below(4) {
        0 => one.spec.job_uid = Uid("nobody".into()),
        1 => {}
        _ => one.spec.job_uid = jobs[draw.below(jobs.len())].clone(),
    }
    match draw.below(4) {
        0 | 1 => one.spec.set = vec![one.spec.job_uid.clone()],
        2 => one.spec.set = vec![jobs[draw.below(jobs.len())].clone()],
        _ => {}
    }
    if let Some(first) = one.spec.nodes.first_mut().filter(|_| draw.below(2) == 0) {
        *first = node(draw);
    }
    model.put_placement(one);
}

/// What is changed by others.
fn disturb(model: &mut Model, draw: &mut Draw, jobs: &mut Vec<Uid>) {
    let (node, job) = (node(draw), jobs[draw.below(jobs.len())].clone());
    match draw.below(24) {
        0 => model.cordon(&node, true),
        1..=3 => model.cordon(&node, false),
        4 if draw.below(4) == 0 => {
            model.delete_node(&node);
            model.add_node(&node);
        }
        5 if model.world.nodes.contains_key(&node) && draw.below(4) == 0 => {
            model.label(&node, "pool", ["a", "b"][draw.below(2)]);
        }
        6 | 18 | 19 => {
            let pods = model.pods(|pod| pod.gate().is_none());
            if let Some(pod) = pods.get(draw.below(pods.len())) {
                model.delete_pod(pod);
            }
        }
        7 if draw.below(2) == 0 => model.suspend(&job, true),
        8 | 9 => model.suspend(&job, false),
        10 if draw.below(2) == 0 => model.delete_job(&job),
        11 => add_pod(model, draw, &job.0),
        12 => refuse(model, draw),
        13 if draw.below(2) == 0 => forge(model, draw, jobs),
        14 if draw.below(3) == 0 => {
            let known: Vec<Uid> = model.world.placements.keys().cloned().collect();
            if let Some(record) = known.get(draw.below(known.len())) {
                model.delete_record(record);
            }
        }
        15 if draw.below(6) == 0 => {
            let machine = model.world.machines.get_mut("m").unwrap();
            machine.spec.queued_per_namespace = Some(1 + draw.below(4));
        }
        16 => {
            if let Some(mut one) = model.world.nodes.get(&node).cloned() {
                let many = ["0", "1"][draw.below(2)];
                one.status.allocatable.insert("example.com/chip".into(), many.into());
                model.put_node(one);
            }
        }
        17 if model.world.jobs.contains_key(&job) && draw.below(3) == 0 => {
            let taken = json!({ "spec": { "nodeSelector": { "pool": "b" } } });
            model.change_template(&job, taken);
        }
        20 if draw.below(12) == 0 => {
            let pattern = ["k{x}-{y}", "n{x}-{y}"][draw.below(2)];
            if model.world.machines.remove("k").is_none() {
                model.world.machines.insert("k".into(), second(pattern));
            }
        }
        _ => add_job(model, draw, jobs),
    }
}

/// The cluster does what it does by itself.
fn work(model: &mut Model, draw: &mut Draw) {
    model.make_pods();
    model.bind();
    if draw.below(3) == 0 {
        model.end_going();
    }
    if draw.below(12) == 0 {
        let runs = |pod: &Pod| pod.node().is_some() && !pod.is_going() && pod.rank().is_some();
        let running = model.pods(runs);
        let owner = running.get(draw.below(running.len())).map(|pod| model.world.pods[pod].owner());
        for pod in running {
            if Some(model.world.pods[&pod].owner()) == owner {
                model.succeed(&pod);
            }
        }
    }
}

/// The plans of many turns, and in how many of them a record slept through the news.
fn run(seed: u64) -> usize {
    let mut draw = Draw(seed);
    draw.below(2);
    let mut model = cluster(&mut draw);
    let (mut view, mut rested) = (View::default(), Rested::default());
    let mut anew: HashMap<String, Memory> = HashMap::new();
    let (mut jobs, mut slept, mut now) = (Vec::new(), 0, 20_000);
    add_job(&mut model, &mut draw, &mut jobs);
    view.catch_up(&model);
    for turn in 0..400 {
        now += [0, 1, 1, 3][draw.below(4)] - if draw.below(150) == 0 { 19_000 } else { 0 };
        now += if now < 5_000 && draw.below(3) == 0 { 19_000 } else { 0 };
        work(&mut model, &mut draw);
        if draw.below(3) == 0 {
            disturb(&mut model, &mut draw, &mut jobs);
        }
        match draw.below(80) {
            0 => view.list(&model, draw.below(4)),
            1..=20 => view.advance(&model, draw.below(4), 1 + draw.below(6)),
            _ => view.catch_up(&model),
        }
        let plans = rested.plan_to(&mut view.world, now, PICTURED);
        slept += usize::from(!rested.rest.turn.anew && rested.rest.records_on("m").count() > 0);
        let index = Index::of(&view.world);
        assert_eq!(rested.strays, strays(&index), "seed {seed}, turn {turn}");
        let mut acts: Vec<Act> = Vec::new();
        for (name, made) in plans {
            let memory = anew.entry(name.clone()).or_default();
            let judge = plan(&index, &name, memory, now, PICTURED).unwrap();
            if made.acts != judge.acts {
                println!("seed {seed}, turn {turn}, machine {name}");
            }
            same(&made, &judge);
            assert_eq!(memory.is_patient(), rested.memory[&name].is_patient());
            acts.extend(made.acts);
        }
        if draw.below(4) > 0 {
            for act in &acts {
                model.carry(act);
            }
        }
    }
    slept
}

#[test]
fn a_plan_of_what_is_awake_is_that_of_everything() {
    let seeds = pavior_trials::size(80, 3000) as u64;
    let slept: usize = (0..seeds).map(run).sum();
    println!("{slept} of {} turns with records that slept", 400 * seeds);
    assert!(slept as u64 > 100 * seeds, "{slept}");
}

/// Plans until nothing changes any more; how many Jobs, pods and records are awake then.
fn awake(model: &mut Model, view: &mut View, rested: &mut Rested) -> [usize; 3] {
    view.catch_up(model);
    for (_, made) in rested.plan(&mut view.world, 20_000) {
        for act in &made.acts {
            model.carry(act);
        }
    }
    let awake = &rested.rest.awake;
    [awake.jobs.len(), awake.pods.len(), awake.placements.len()]
}

/// A Job gets its pods, its box, and its pods their nodes.
fn settle(model: &mut Model, view: &mut View, rested: &mut Rested) -> [usize; 3] {
    for _ in 0..6 {
        model.make_pods();
        model.bind();
        awake(model, view, rested);
    }
    awake(model, view, rested)
}

#[test]
fn what_sleeps_wakes_with_what_hangs_on_it() {
    let mut model = Model::new("mesh:4x4", &json!({}));
    let job = model.add_job("one", "2x1", &json!({}));
    let (mut view, mut rested) = (View::default(), Rested::default());
    assert_eq!(settle(&mut model, &mut view, &mut rested), [0; 3]);
    // A pod that is going is of the Job, and nothing of it sleeps when the next one is made.
    let pod = model.pods(|_| true)[0].clone();
    model.delete_pod(&pod);
    model.end_going();
    model.make_pods();
    assert_eq!(awake(&mut model, &mut view, &mut rested), [1, 2, 1]);
    assert_eq!(settle(&mut model, &mut view, &mut rested), [0; 3]);
    assert!(!rested.rest.is_empty());
    model.delete_job(&job);
    awake(&mut model, &mut view, &mut rested);
    model.end_going();
    assert_eq!(awake(&mut model, &mut view, &mut rested), [0; 3]);
    assert!(rested.rest.is_empty(), "{:?}", rested.rest);
}

#[test]
fn a_machine_that_was_renamed_has_records_that_sleep() {
    let mut model = Model::new("mesh:4x4", &json!({}));
    let (mut view, mut rested) = (View::default(), Rested::default());
    awake(&mut model, &mut view, &mut rested);
    let mut machine = model.world.machines.remove("m").unwrap();
    machine.metadata.name = Some("k".into());
    model.world.machines.insert("k".into(), machine);
    model.add_job("one", "2x1", &json!({}));
    assert_eq!(settle(&mut model, &mut view, &mut rested), [0; 3]);
}
