//! Tests for other features that sites use: dependencies, changed time limits, suspended jobs,
//! maintenance, fair share, and nodes that Slurm powers off.

use std::time::Duration;

use crate::cluster::{Cluster, Options, User};
use crate::release::{Release, on_each_release};

on_each_release! { jobs_that_wait_for_other_things nodes_that_are_powered_off }

/// Submits, as the given user, a job that has a shape and only sleeps. Returns its job ID.
pub(crate) fn submit(
    cluster: &Cluster,
    user: User,
    shape: &str,
    options: &str,
    seconds: u32,
) -> String {
    cluster.submit_as(user, &format!("--comment=shape={shape} {options}"), seconds.into())
}

fn alice(cluster: &Cluster, shape: &str, options: &str, seconds: u32) -> String {
    submit(cluster, User::Alice, shape, options, seconds)
}

pub(crate) fn state(cluster: &Cluster, job: &str) -> String {
    cluster.run(&format!("squeue -h -j {job} -o '%t %r'"))
}

/// Waits until a job's note contains the given words.
pub(crate) fn until_told(cluster: &Cluster, job: &str, words: &str) {
    cluster.wait_for(&format!("scontrol show job {job}"), 30, |text| {
        text.lines().any(|line| line.contains("AdminComment=pavior") && line.contains(words))
    });
}

/// Checks that a job does not start.
fn stays(cluster: &Cluster, job: &str) {
    std::thread::sleep(Duration::from_secs(3));
    let state = state(cluster, job);
    assert!(state.starts_with("PD"), "{state}; {}", cluster.log());
}

fn jobs_that_wait_for_other_things(release: Release) {
    let options = Options::new("dependencies, limits, suspension, maintenance")
        .machine("mesh:4x4")
        .conf(
            "PriorityType=priority/multifactor\nPriorityWeightFairshare=100000\n\
             PriorityDecayHalfLife=1\n\
             PriorityCalcPeriod=1\nAccountingStorageEnforce=associations,limits,qos\n\
             SchedulerParameters=bf_interval=1,batch_sched_delay=1",
        )
        .accounting();
    let Some(mut cluster) = Cluster::start(release, options) else { return };
    cluster.start_daemon();
    dependencies(&cluster);
    time_limits(&cluster);
    suspended(&cluster);
    maintenance(&cluster);
    fair_share(&cluster);
    assert!(cluster.end_daemon(), "SIGTERM ends it cleanly");
}

fn dependencies(cluster: &Cluster) {
    let first = alice(cluster, "2x2", "-t 5", 5);
    let then = alice(cluster, "4x4", &format!("-t 5 --dependency=afterok:{first}"), 1);
    let never = alice(cluster, "2x2", &format!("-t 5 --dependency=afternotok:{first}"), 1);
    // A job that depends on another one does not reserve a box.
    let beside = alice(cluster, "2x2", "-t 60", 1);
    cluster.wait_until_gone(&beside, 20);
    assert_eq!(state(cluster, &then), "PD Dependency");
    cluster.wait_until_gone(&then, 30);
    assert_eq!(cluster.run(&format!("squeue -h -j {first} -o %t")), "");
    let shown = format!("squeue -h -j {never} -o %r");
    cluster.wait_for(&shown, 20, |text| text == "DependencyNeverSatisfied");
    cluster.cancel(&never, 20);
}

/// Changes the time limits of a waiting job and of a running job. Checks that `--time-min` has no
/// effect.
fn time_limits(cluster: &Cluster) {
    let runs = alice(cluster, "4x2", "-t 4", 300);
    cluster.wait_until_running(&runs, 20);
    let large = alice(cluster, "4x4", "-t 5", 1);
    until_told(cluster, &large, "pavior: It needs 16 nodes");
    let late = alice(cluster, "2x2", "-t 60", 1);
    let least = alice(cluster, "2x2", "-t 60 --time-min=1", 1);
    stays(cluster, &late);
    stays(cluster, &least);
    // With a shorter time limit, the job can be backfilled.
    cluster.run_as(User::Alice, &format!("scontrol update JobId={late} TimeLimit=1"));
    cluster.wait_until_gone(&late, 20);
    assert!(state(cluster, &least).starts_with("PD"));
    // The large job can no longer start that early.
    cluster.run(&format!("scontrol update JobId={runs} TimeLimit=120"));
    cluster.wait_until_gone(&least, 20);
    assert!(state(cluster, &large).starts_with("PD"));
    cluster.run(&format!("scancel {runs}"));
    cluster.wait_until_gone(&large, 30);
    cluster.wait_until_empty(20);
}

/// Suspends a job, which keeps its box for an unknown time. Once the job resumes, its expected end
/// is later by the length of the suspension, and the notes of waiting jobs show the new end.
fn suspended(cluster: &Cluster) {
    let job = alice(cluster, "4x2", "-t 5", 300);
    cluster.wait_until_running(&job, 20);
    cluster.run(&format!("scontrol suspend {job}"));
    let large = alice(cluster, "4x4", "-t 5", 1);
    // The note contains no time.
    until_told(cluster, &large, "are free. Blocked on");
    let beside = alice(cluster, "2x2", "-t 60", 1);
    cluster.wait_until_gone(&beside, 20);
    stays(cluster, &large);
    assert!(state(cluster, &job).starts_with('S'));
    cluster.run(&format!("scontrol resume {job}"));
    let seconds = |field: &str| {
        let line = format!("SLURM_TIME_FORMAT=%s squeue -h -j {job} -o {field}");
        cluster.wait_for(&line, 20, |text| text.parse::<u64>().is_ok()).parse::<u64>().unwrap()
    };
    let (start, end) = (seconds("%S"), seconds("%e"));
    assert!(end >= start + 300 + 3, "{start} to {end}");
    let told = cluster.run(&format!("date -u -d @{end} +'start at %FT%TZ, on'"));
    until_told(cluster, &large, &told);
    cluster.run(&format!("scancel {job}"));
    cluster.wait_until_gone(&large, 30);
    cluster.wait_until_empty(20);
}

/// Reserves all nodes for a repair that starts in an hour. Short jobs run before the repair; the
/// others wait, and their notes explain why.
fn maintenance(cluster: &Cluster) {
    let repair = "ReservationName=repair Users=root StartTime=now+1hour Duration=60 Nodes=ALL";
    cluster.run(&format!("scontrol create reservation {repair} Flags=MAINT,IGNORE_JOBS"));
    let long = alice(cluster, "2x2", "-t 120", 1);
    let short = alice(cluster, "4x4", "-t 5", 1);
    cluster.wait_until_gone(&short, 30);
    until_told(cluster, &long, "waiting for a reservation to end");
    let why = cluster.pavior(&format!("why {long}"));
    assert!(why.contains("a reservation to end"), "{why}");
    cluster.run("scontrol delete ReservationName=repair");
    cluster.wait_until_gone(&long, 30);
    cluster.wait_until_empty(20);
}

/// Checks that a job starts first if its user has less past usage.
fn fair_share(cluster: &Cluster) {
    // Slurm updates usage once a minute.
    let shares = "sshare -a -n -P -o User,FairShare | grep -E '^ *(alice|bob)' | sort | xargs";
    cluster.wait_for(shares, 100, |text| {
        let shares = text.split(' ').filter_map(|one| one.split_once('|')?.1.parse::<f64>().ok());
        let shares: Vec<f64> = shares.collect();
        shares.len() == 2 && shares[0] < shares[1]
    });
    let all = alice(cluster, "4x4", "-t 5", 4);
    cluster.wait_until_running(&all, 20);
    let alice = alice(cluster, "4x4", "-t 5", 1);
    let bob = submit(cluster, User::Bob, "4x4", "-t 5", 3);
    cluster.wait_until_running(&bob, 30);
    assert!(state(cluster, &alice).starts_with("PD"), "{}", cluster.log());
    cluster.wait_until_empty(30);
}

/// Configures a cluster whose nodes Slurm powers off after they have been idle for a few seconds.
/// Four of the nodes are cloud nodes.
pub(crate) fn powered(what: &'static str, suspend_timeout: u32, resume_timeout: u32) -> Options {
    let each = "export SLURM_CONF=@DIR@/slurm.conf PATH=$PATH:/usr/sbin:/sbin\n\
                for node in $(scontrol show hostnames \"$1\"); do";
    // If a node was powered off before its slurmd wrote a pid file, that slurmd may still be
    // running. Slurm waits for the node to boot, so the old slurmd is killed first.
    let on = "kill -9 $(cat @DIR@/pid/$node) 2>/dev/null; \
              [ -e @DIR@/broken-$node ] || \
              slurmd -b -N $node -f $SLURM_CONF -L @DIR@/log/$node.log \
              </dev/null >/dev/null 2>&1";
    let off = "kill -9 $(cat @DIR@/pid/$node)";
    Options::new(what)
        .machine("mesh:4x4")
        .conf(&format!(
            "SuspendProgram=@DIR@/off\nResumeProgram=@DIR@/on\nSuspendTime=4\n\
             SuspendTimeout={suspend_timeout}\nResumeTimeout={resume_timeout}\n\
             SuspendRate=0\nResumeRate=0\nPrivateData=cloud\n\
             SchedulerParameters=bf_interval=1,batch_sched_delay=1"
        ))
        .nodes("n[12-15]", "State=CLOUD")
        // Slurm kills any processes that the program leaves behind, unless they are daemonized.
        .file("on", &format!("#!/bin/sh\n{each} {on}; done; sleep 2\n"))
        .file("off", &format!("#!/bin/sh\n{each} {off}; done\n"))
}

/// Waits until all nodes are off.
pub(crate) fn until_off(cluster: &Cluster) {
    cluster.wait_for("sinfo -h -o '%t=%D'", 60, |text| text == "idle~=16");
}

/// Checks that Slurm powers on a box's nodes.
fn nodes_that_are_powered_off(release: Release) {
    let options = powered("nodes that are powered off", 10, 60);
    let Some(mut cluster) = Cluster::start(release, options) else { return };
    cluster.start_daemon();
    cluster.wait_for("sinfo -h -o %t", 60, |text| text.contains("idle%"));
    let whole = alice(&cluster, "4x4", "-t 5", 2);
    until_told(&cluster, &whole, "nodes being powered off (");
    // On a busy host, a node may take too long to boot, and Slurm marks it as down.
    let mended = "sinfo -h -N -t down -o %N | sort -u \
                  | xargs -r -I{} scontrol update NodeName={} State=RESUME >/dev/null 2>&1";
    let line = format!("{mended}; squeue -h -j {whole} -o %t");
    cluster.wait_for(&line, 180, |text| text == "R");
    until_told(&cluster, &whole, "box=4x4@0,0");
    cluster.wait_until_empty(60);
    assert!(cluster.end_daemon(), "SIGTERM ends it cleanly");
}
