//! Measures the time and memory that a plan takes on a large machine with many placements or
//! waiting Jobs. The regular checks use small sizes; set `PAVIOR_SIZE=long` for the measurement.

use std::collections::HashSet;
use std::time::Duration;

use serde_json::json;

use crate::objects::{Job, Node, Object as _, Placement, Pod};
use crate::plan::{Action, Detail, Memory, plan};
use crate::world::{Index, World};

/// Creates a world with `running` running Jobs of shape 2x1x1 and one waiting Job.
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
        world.nodes.insert(name(at), node(&name(at)));
    }
    for number in 0..=running {
        let nodes = [name(2 * number), name(2 * number + 1)];
        add(&mut world, number, &nodes, number < running);
    }
    world
}

/// Creates a ready node with the status that kubelets write.
fn node(name: &str) -> Node {
    let conditions = ["MemoryPressure", "DiskPressure", "PIDPressure", "Ready"].map(|kind| {
        let status = if kind == "Ready" { "True" } else { "False" };
        let message = "kubelet has no disk pressure, or posts ready status";
        json!({ "type": kind, "status": status, "reason": "KubeletReady", "message": message })
    });
    let labels = json!({
        "beta.kubernetes.io/arch": "amd64", "beta.kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux", "kubernetes.io/hostname": name,
        "node.kubernetes.io/instance-type": "large", "topology.kubernetes.io/region": "region",
        "topology.kubernetes.io/zone": "zone",
    });
    let allocatable = json!({
        "cpu": "64", "memory": "263000000Ki", "ephemeral-storage": "1000000000", "pods": "110",
        "hugepages-1Gi": "0", "hugepages-2Mi": "0", "pavior.dev/node": "1",
    });
    let node = json!({
        "metadata": { "name": name, "uid": format!("uid-{name}"), "labels": labels },
        "status": { "conditions": conditions, "allocatable": allocatable },
    });
    serde_json::from_value(node).unwrap()
}

/// Adds a Job with two pods to one of twenty namespaces, and places it if `runs` is true.
fn add(world: &mut World, number: usize, nodes: &[String; 2], runs: bool) {
    let uid = format!("job{number:06}");
    let about = |name: &str, version: usize| {
        json!({
            "name": name, "namespace": format!("team{}", number % 20), "uid": name,
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
        pod["metadata"]["labels"] = json!({
            "batch.kubernetes.io/controller-uid": uid, "batch.kubernetes.io/job-name": uid,
            "batch.kubernetes.io/job-completion-index": rank.to_string(),
            "controller-uid": uid, "job-name": uid,
        });
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

/// Cordons all free nodes, and adds Jobs until `waiting` Jobs are waiting.
fn crowd(world: &mut World, running: usize, waiting: usize) {
    let held: HashSet<String> =
        world.placements.values().flat_map(|one| one.spec.nodes.clone()).collect();
    let free: Vec<Node> =
        world.nodes.values().filter(|node| !held.contains(node.name())).cloned().collect();
    for mut node in free {
        node.spec.unschedulable = true;
        world.nodes.insert(node.name().to_string(), node);
    }
    for number in running + 1..running + waiting {
        add(world, number, &[String::new(), String::new()], false);
    }
}

/// Returns the CPU time used by this thread.
fn worked() -> Duration {
    let reply = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = reply.split(' ').next().and_then(|first| first.parse().ok());
    Duration::from_nanos(nanoseconds.unwrap_or(0))
}

/// Returns the shortest CPU time over several runs, along with the result.
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
fn a_plan_contains_a_picture_only_on_request() {
    let side = pavior_trials::size(8, 8, 32) as u16;
    let running = pavior_trials::size(100, 100, 10_000);
    let mut world = world(side, running);
    let (read, index) = best(5, || Index::of(&world));
    let mut memory = Memory::default();
    let (bare, made) = best(5, || plan(&index, "m", &mut memory, 0, Detail::DAEMON).unwrap());
    let detail = Detail { picture: true, ..Detail::DAEMON };
    let (drawn, picture) = best(5, || plan(&index, "m", &mut memory, 0, detail).unwrap());
    assert!(matches!(made.actions[..], [Action::Propose { .. }]), "{:?}", made.actions);
    assert_eq!(made.actions, picture.actions);
    assert!(made.picture.is_none());
    let held = picture.picture.unwrap().held;
    assert_eq!(held.len(), running + 1);
    let (whole, again) = best(5, || {
        let index = Index::of(&world);
        plan(&index, "m", &mut memory, 0, Detail::DAEMON).unwrap().actions
    });
    assert_eq!(made.actions, again);
    println!(
        "{running} placements on {side}x{side}x{side}: a decision {whole:.2?}; index {read:.2?}, \
         plan {bare:.2?}, with the picture {drawn:.2?} ({:.2}); {}",
        drawn.as_secs_f64() / bare.as_secs_f64().max(1e-9),
        most_memory()
    );
    let crowded = waits(&mut world, running, 40);
    println!("with 40 waiting Jobs: a decision {crowded:.2?}");
}

#[test]
fn many_jobs_wait_for_a_full_machine() {
    let side = pavior_trials::size(8, 8, 16) as u16;
    let running = usize::from(side).pow(3) / 2;
    let waiting = pavior_trials::size(100, 100, 1000);
    let crowded = waits(&mut world(side, running), running, waiting);
    println!(
        "{waiting} waiting and {running} running Jobs on {side}x{side}x{side}: a decision \
         {crowded:.2?}; {}",
        most_memory()
    );
}

/// Returns the shortest time that a plan with `waiting` blocked Jobs takes.
fn waits(world: &mut World, running: usize, waiting: usize) -> Duration {
    crowd(world, running, waiting);
    let mut memory = Memory::default();
    let (time, made) = best(3, || {
        let index = Index::of(world);
        plan(&index, "m", &mut memory, 0, Detail::DAEMON).unwrap()
    });
    assert_eq!((made.actions.len(), made.waiting.len()), (0, waiting));
    let why = |at: usize| &made.waiting[at].why;
    assert!(why(0).contains("free"), "{}", why(0));
    assert_eq!(*why(waiting - 1), format!("{} Jobs are ahead of it in the queue", waiting - 1));
    time
}

/// Returns the peak memory of this process.
fn most_memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let most = status.lines().find(|line| line.starts_with("VmHWM"));
    most.unwrap_or_default().to_string()
}
