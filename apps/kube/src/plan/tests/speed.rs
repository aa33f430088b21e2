//! What a decision costs on a large machine with many placements, with and without the picture of
//! the page. The checks run a small one; `PAVIOR_ATTACK=1` gives the measurement.

use std::collections::HashSet;
use std::time::Duration;

use serde_json::json;

use super::rested::Rested;
use crate::objects::{Job, Known as _, Node, Placement, Pod, Uid};
use crate::plan::{Act, Depth, Memory, plan};
use crate::world::{Index, World};

/// Jobs of 2x1x1 that run, so many in all, and one that waits.
fn world(side: u16, running: usize) -> World {
    let mut world = World::default();
    let spec = json!({
        "grid": format!("torus:{side}x{side}x{side}"), "nodes": { "pattern": "n{x}-{y}-{z}" },
    });
    let machine = json!({ "metadata": { "name": "m", "uid": "m" }, "spec": spec });
    world.machines.insert("m".into(), serde_json::from_value(machine).unwrap());
    let name = |at: usize| {
        let side = usize::from(side);
        format!("n{}-{}-{}", at % side, at / side % side, at / side / side)
    };
    for at in 0..usize::from(side).pow(3) {
        let ready = json!({ "type": "Ready", "status": "True" });
        let node = json!({
            "metadata": { "name": name(at), "uid": format!("node{at}") },
            "status": { "conditions": [ready], "allocatable": { "pavior.dev/node": "1" } },
        });
        let node: Node = serde_json::from_value(node).unwrap();
        world.nodes.insert(node.name().to_string(), node);
    }
    for number in 0..=running {
        let nodes = [name(2 * number), name(2 * number + 1)];
        add(&mut world, number, &nodes, number < running);
    }
    world
}

/// A Job and its two pods, with its record and its nodes if it runs.
fn add(world: &mut World, number: usize, nodes: &[String; 2], runs: bool) {
    let uid = format!("job{number:06}");
    let about = |name: &str, version: usize| {
        json!({
            "name": name, "namespace": "default", "uid": name,
            "resourceVersion": version.to_string(),
        })
    };
    let mut job = json!({
        "metadata": about(&uid, 1),
        "spec": { "parallelism": 2, "completions": 2, "completionMode": "Indexed" },
    });
    job["metadata"]["annotations"] = json!({ "pavior.dev/shape": "2x1x1" });
    let job: Job = serde_json::from_value(job).unwrap();
    for (rank, node) in nodes.iter().enumerate() {
        let mut pod = json!({
            "metadata": about(&format!("{uid}-{rank}"), 1), "spec": {},
            "status": { "phase": "Running" },
        });
        pod["metadata"]["labels"] =
            json!({ "batch.kubernetes.io/job-completion-index": rank.to_string() });
        pod["metadata"]["ownerReferences"] = json!([{
            "apiVersion": "batch/v1", "kind": "Job", "name": uid, "uid": uid, "controller": true,
        }]);
        pod["spec"] = if runs {
            let field = json!({ "key": "metadata.name", "operator": "In", "values": [node] });
            let terms = json!({ "nodeSelectorTerms": [{ "matchFields": [field] }] });
            let required = json!({ "requiredDuringSchedulingIgnoredDuringExecution": terms });
            json!({ "nodeName": node, "affinity": { "nodeAffinity": required } })
        } else {
            json!({ "schedulingGates": [{ "name": "pavior.dev/placement" }] })
        };
        let pod: Pod = serde_json::from_value(pod).unwrap();
        world.pods.insert(pod.uid(), pod);
    }
    if runs {
        let placement = json!({
            "metadata": about(&format!("placement{number}"), number + 2),
            "spec": { "machine": "m", "job": uid, "jobUid": uid, "shape": "2x1x1", "box": "",
                      "nodes": nodes },
            "status": { "confirmed": true },
        });
        let placement: Placement = serde_json::from_value(placement).unwrap();
        world.placements.insert(placement.uid(), placement);
    }
    world.jobs.insert(job.uid(), job);
}

/// The only act, a proposal, is carried out, and the pods are bound at once.
fn carry(world: &mut World, acts: &[Act]) {
    let [Act::Propose { job, placement }] = acts else { panic!("{acts:?}") };
    let [one, other] = &placement.nodes[..] else { panic!("{placement:?}") };
    add(world, job.uid.0[3..].parse().unwrap(), &[one.clone(), other.clone()], true);
}

/// The mean of some in processor time, which is told in steps longer than one of them, and what
/// the last one made.
fn mean<T>(times: usize, mut made: impl FnMut() -> T) -> (Duration, T) {
    let began = worked();
    let last = (0..times).map(|_| made()).last().unwrap();
    (worked().saturating_sub(began) / times as u32, last)
}

/// A Job ends: its pods are gone, and it is complete.
fn end(world: &mut World, number: usize) {
    let uid = Uid(format!("job{number:06}"));
    for rank in 0..2 {
        world.pods.remove(&Uid(format!("{}-{rank}", uid.0)));
    }
    let complete = json!({ "type": "Complete", "status": "True" });
    let job = world.jobs.get_mut(&uid).unwrap();
    job.status.conditions.push(serde_json::from_value(complete).unwrap());
}

#[test]
fn a_decision_looks_at_what_the_news_have_touched() {
    let side = pavior_trials::size(8, 32) as u16;
    let running = pavior_trials::size(100, 10_000);
    let mut world = world(side, running);
    let mut rested = Rested::default();
    let mut decide = |world: &mut World| rested.plan(world, 0).remove("m").unwrap().acts;
    let (first, acts) = best(1, || decide(&mut world));
    assert!(matches!(acts[..], [Act::Propose { .. }]), "{acts:?}");
    carry(&mut world, &acts);
    decide(&mut world);
    let many = pavior_trials::size(9, 400);
    let mut number = running;
    let (comes, acts) = mean(many, || {
        number += 1;
        add(&mut world, number, &[String::new(), String::new()], false);
        let acts = decide(&mut world);
        carry(&mut world, &acts);
        acts
    });
    assert_eq!(acts.len(), 1);
    let last = number;
    let (changes, acts) = mean(many, || {
        world.pods.get_mut(&Uid(format!("job{:06}-0", 7))).unwrap();
        decide(&mut world)
    });
    assert_eq!(acts, []);
    let mut number = 20;
    let (ends, acts) = mean(many, || {
        number += 1;
        end(&mut world, number);
        let acts = decide(&mut world);
        let [Act::Withdraw { placement, .. }] = &acts[..] else { panic!("{acts:?}") };
        world.placements.remove(&placement.uid);
        acts
    });
    assert_eq!(acts.len(), 1);
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let most = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default();
    // The Jobs that came run, too, and none can start any more.
    crowd(&mut world, last);
    decide(&mut world);
    let (crowded, acts) = mean(many.min(50), || {
        world.pods.get_mut(&Uid(format!("job{:06}-0", 7))).unwrap();
        decide(&mut world)
    });
    assert_eq!(acts, []);
    println!(
        "{running} placements on {side}x{side}x{side}: the first decision {first:.2?}; when a Job \
         comes {comes:.2?}, when a pod changes {changes:.2?}, when a Job ends {ends:.2?}; {most}; \
         with {} that wait in vain {crowded:.2?}",
        WAITING - 1
    );
}

/// How many wait in the crowded world.
const WAITING: usize = 40;

/// No other node can be had, and so many Jobs wait.
fn crowd(world: &mut World, running: usize) {
    let held: HashSet<String> =
        world.placements.values().flat_map(|one| one.spec.nodes.clone()).collect();
    let free: Vec<Node> =
        world.nodes.values().filter(|node| !held.contains(node.name())).cloned().collect();
    for mut node in free {
        node.spec.unschedulable = true;
        world.nodes.insert(node.name().to_string(), node);
    }
    for number in running + 1..running + WAITING {
        add(world, number, &[String::new(), String::new()], false);
    }
}

/// How long this thread has had a processor: other programs do not count.
fn worked() -> Duration {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = told.split(' ').next().and_then(|first| first.parse().ok());
    Duration::from_nanos(nanoseconds.unwrap_or(0))
}

/// The shortest of some in processor time, and what was made.
fn best<T>(times: usize, mut made: impl FnMut() -> T) -> (Duration, T) {
    let mut runs = (0..times).map(|_| {
        let began = worked();
        let made = made();
        (worked().saturating_sub(began), made)
    });
    let first = runs.next().unwrap();
    runs.fold(first, |best, one| if one.0 < best.0 { one } else { best })
}

#[test]
fn a_plan_draws_no_picture_that_is_not_asked_for() {
    let side = pavior_trials::size(8, 32) as u16;
    let running = pavior_trials::size(100, 10_000);
    let mut world = world(side, running);
    let (read, index) = best(5, || Index::of(&world));
    let mut memory = Memory::default();
    let (bare, made) = best(5, || plan(&index, "m", &mut memory, 0, Depth::ACT).unwrap());
    let depth = Depth { pictured: true, ..Depth::ACT };
    let (drawn, pictured) = best(5, || plan(&index, "m", &mut memory, 0, depth).unwrap());
    assert!(matches!(made.acts[..], [Act::Propose { .. }]), "{:?}", made.acts);
    assert_eq!(made.acts, pictured.acts);
    assert!(made.picture.is_none());
    let held = pictured.picture.unwrap().held;
    assert_eq!(held.len(), running + 1);
    let (whole, again) = best(5, || {
        let index = Index::of(&world);
        plan(&index, "m", &mut memory, 0, Depth::ACT).unwrap().acts
    });
    assert_eq!(made.acts, again);
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let most = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default();
    println!(
        "{running} placements on {side}x{side}x{side}: a decision {whole:.2?}; index {read:.2?}, \
         plan {bare:.2?}, with the picture {drawn:.2?} ({:.2}); {most}",
        drawn.as_secs_f64() / bare.as_secs_f64().max(1e-9)
    );
    crowd(&mut world, running);
    let (crowded, made) = best(3, || {
        let index = Index::of(&world);
        plan(&index, "m", &mut memory, 0, Depth::ACT).unwrap()
    });
    assert_eq!((made.acts.len(), made.waiting.len()), (0, WAITING));
    assert!(made.waiting[0].why.contains("free"), "{}", made.waiting[0].why);
    println!("with {WAITING} that wait: a decision {crowded:.2?}");
}
