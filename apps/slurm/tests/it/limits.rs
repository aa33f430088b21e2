//! Tests for limits, holds, order and preemption, checked against Slurm's own job records.

use std::time::{Duration, Instant};

use crate::cluster::{Cluster, Options, User};
use crate::release::{Release, on_each_release};
use crate::sites;

on_each_release! { limits_and_holds preemption_by_qos preemption_by_partition }

/// Configures a small machine with accounting.
fn machine(what: &'static str) -> Options {
    Options::new(what)
        .machine("mesh:4x4")
        .conf("PriorityType=priority/multifactor\nAccountingStorageEnforce=associations,limits,qos")
        .accounting()
}

/// Like [`sites::submit`], but with a time limit of 10 minutes.
fn submit(cluster: &Cluster, user: User, shape: &str, options: &str, seconds: u32) -> String {
    sites::submit(cluster, user, shape, &format!("-t 10 {options}"), seconds)
}

/// Watches the jobs that match a filter until none are left. Returns the largest number of jobs
/// that were running at once, and the largest number that were running or had an open gate at once.
fn max_concurrent(cluster: &Cluster, filter: &str) -> (usize, usize) {
    let begun = Instant::now();
    let (mut running, mut open) = (0, 0);
    loop {
        let now = cluster.run(&format!("squeue -h -r {filter} -o '%t %W'"));
        if now.is_empty() {
            return (running, open);
        }
        // A job with an open gate no longer requests the license.
        let states: Vec<&str> = now.lines().filter(|line| !line.contains("pavior")).collect();
        open = open.max(states.iter().filter(|line| !line.starts_with("CG")).count());
        running = running.max(states.iter().filter(|line| line.starts_with('R')).count());
        assert!(begun.elapsed() < Duration::from_mins(2), "{now}; {}", cluster.log());
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn limits_and_holds(release: Release) {
    let Some(mut cluster) = Cluster::start(release, machine("limits and holds")) else { return };
    let lines = [
        "add qos two MaxJobsPU=2",
        "add qos six GrpTRES=node=6",
        "modify user alice,bob set qos+=two,six",
    ];
    cluster.account(&lines, "six");
    cluster.start_daemon();
    let array = submit(&cluster, User::Alice, "1x1", "--array=1-7%3", 3);
    assert_eq!(max_concurrent(&cluster, &format!("-j {array}")), (3, 3));
    // The third job with the QOS `two` waits but does not block other jobs.
    for _ in 0..4 {
        submit(&cluster, User::Alice, "2x1", "--qos=two", 3);
    }
    // The jobs run long enough to overlap even on a busy host.
    let bob = submit(&cluster, User::Bob, "2x2", "--qos=six", 8);
    submit(&cluster, User::Bob, "2x2", "--qos=six", 8);
    submit(&cluster, User::Bob, "2x1", "--qos=six", 8);
    cluster.wait_until_running(&bob, 20);
    let (running, open) = max_concurrent(&cluster, "-u alice");
    assert_eq!((running, open), (2, 2), "{}", cluster.log());
    cluster.wait_until_empty(60);
    let nodes = "sacct -X -n -a -P -S now-1hour -E now+1hour -q six -o start,end,nnodes";
    let most =
        cluster.wait_for(nodes, 20, |text| text.lines().count() == 3 && !text.contains("Unk"));
    assert!(most_nodes(&most) == 6, "{most}");
    holds(&cluster);
}

/// Returns the maximum number of nodes in use at once, computed from `start|end|nodes` records.
fn most_nodes(records: &str) -> u32 {
    let all: Vec<Vec<&str>> = records.lines().map(|line| line.split('|').collect()).collect();
    let at = |time: &str| {
        let held = all.iter().filter(|job| job[0] <= time && time < job[1]);
        held.map(|job| job[2].parse::<u32>().unwrap()).sum()
    };
    all.iter().map(|job| at(job[0])).max().unwrap_or(0)
}

/// Holds a waiting job, a job with an open gate, and a job that has run.
fn holds(cluster: &Cluster) {
    let ran = submit(cluster, User::Alice, "4x2", "", 300);
    let waits = submit(cluster, User::Alice, "4x4", "", 1);
    cluster.wait_until_running(&ran, 20);
    // Alice may hold the job herself.
    cluster.run_as(User::Alice, &format!("scontrol hold {waits}"));
    cluster.run(&format!("scontrol requeuehold {ran}"));
    let state = |job: &str| format!("squeue -h -j {job} -o '%t %Q %W'");
    cluster.wait_for(&state(&ran), 30, |text| text == "PD 0 pavior:1");
    std::thread::sleep(Duration::from_secs(8));
    for job in [&ran, &waits] {
        assert_eq!(cluster.run(&state(job)), "PD 0 pavior:1", "{}", cluster.log());
    }
    // A job with an open gate is held before it starts.
    let later = submit(cluster, User::Alice, "2x2", "-H", 1);
    let open = "ReqNodeList=n[00-01,04-05] Licenses=";
    cluster.run(&format!("scontrol update JobId={later} {open}"));
    cluster.wait_for(&state(&later), 20, |text| text == "PD 0 pavior:1");
    cluster.run(&format!("scontrol release {later}"));
    cluster.run_as(User::Alice, &format!("scontrol release {waits}"));
    cluster.wait_until_gone(&waits, 60);
    cluster.wait_until_gone(&later, 60);
    cluster.cancel(&ran, 60);
}

/// Returns every job's name, state and number of nodes.
fn states(cluster: &Cluster) -> String {
    cluster.run("squeue -h -o '%i %t %D' | sort -n | xargs")
}

fn preemption_by_qos(release: Release) {
    let options = machine("preemption by QOS").conf("PreemptType=preempt/qos\nPreemptMode=REQUEUE");
    let Some(mut cluster) = Cluster::start(release, options) else { return };
    let lines =
        ["add qos low", "add qos high preempt=low", "modify user alice,bob set qos+=low,high"];
    cluster.account(&lines, "high");
    cluster.start_daemon();
    let low: Vec<String> =
        (0..3).map(|_| submit(&cluster, User::Alice, "2x2", "--qos=low", 300)).collect();
    // This job must not be preempted.
    let normal = submit(&cluster, User::Alice, "2x2", "", 300);
    for job in low.iter().chain([&normal]) {
        cluster.wait_until_running(job, 20);
    }
    let high = submit(&cluster, User::Bob, "4x2", "--qos=high", 4);
    cluster.wait_until_running(&high, 60);
    // Two of the jobs are preempted for the box and then wait for the license again.
    let gated = "squeue -h -t PD -o '%i %W' | grep -c pavior:1";
    cluster.wait_for(gated, 30, |count| count == "2");
    assert_eq!(cluster.run(&format!("squeue -h -j {normal} -o %t")), "R");
    cluster.wait_until_gone(&high, 60);
    for job in &low {
        cluster.wait_until_running(job, 60);
    }
    // Preemption cannot free this box, so no job is preempted.
    submit(&cluster, User::Bob, "4x4", "--qos=high", 1);
    std::thread::sleep(Duration::from_secs(5));
    let running = cluster.run("squeue -h -t R -o %i | wc -l");
    assert_eq!(running, "4", "{}; {}", states(&cluster), cluster.log());
}

fn preemption_by_partition(release: Release) {
    let options = Options::new("preemption by partition")
        .machine("mesh:4x4")
        .conf(
            "PreemptType=preempt/partition_prio\nPreemptMode=REQUEUE\n\
             PartitionName=urgent Nodes=n[00-15] OverSubscribe=EXCLUSIVE PriorityTier=10",
        )
        .toml("partitions = [\"mesh\", \"urgent\"]");
    let Some(mut cluster) = Cluster::start(release, options) else { return };
    cluster.start_daemon();
    let low: Vec<String> = (0..4).map(|_| submit(&cluster, User::Alice, "2x2", "", 300)).collect();
    for job in &low {
        cluster.wait_until_running(job, 20);
    }
    // The urgent job starts first, although the next job has the same priority and arrives earlier.
    submit(&cluster, User::Alice, "2x2", "", 1);
    let urgent = submit(&cluster, User::Bob, "4x2", "-p urgent", 4);
    cluster.wait_until_running(&urgent, 60);
    assert_eq!(cluster.run("squeue -h -t R -p mesh -o %i | wc -l"), "2", "{}", states(&cluster));
    cluster.wait_until_gone(&urgent, 60);
    cluster.wait_for("squeue -h -t R -p mesh -o %i | wc -l", 60, |count| count == "4");
    let log = cluster.read("pavior.log");
    assert!(!log.contains("nodes held by two jobs"), "{log}");
}
