//! Tests that share a cluster: the gate, placements, races, and a storm with kills.

use std::time::{Duration, SystemTime};

use crate::cluster::{Cluster, Options, User};
use crate::release::{Release, on_each_release};
use crate::sites::until_told;
use crate::{races, records, storm, whole};

on_each_release! { a_cluster_of_64_nodes }

fn a_cluster_of_64_nodes(release: Release) {
    let options = Options::new("the daemon with a real Slurm cluster");
    let Some(mut cluster) = Cluster::start(release, options) else { return };
    the_gate_holds(&cluster);
    cluster.start_daemon();
    jobs_start_in_boxes_and_get_notes(&cluster);
    a_job_on_wrong_nodes_is_requeued(&mut cluster);
    obstacles_between_opening_and_start(&mut cluster);
    a_job_that_cannot_start_does_not_block_others(&cluster);
    requeued_jobs_wait_for_the_cooldown(&cluster);
    races::too_many_nodes_are_not_used(&mut cluster);
    races::a_node_goes_down(&cluster);
    races::interactive_jobs(&cluster);
    races::strangers_hold_nodes(&cluster);
    races::large_boxes_do_not_starve(&cluster);
    a_job_that_ends_while_slurmctld_is_down_is_finished(&cluster);
    races::numbers_are_used_again(&cluster);
    storm::storms(&mut cluster);
    assert!(cluster.end_daemon(), "SIGTERM ends it cleanly");
    let count = records::check_allocations(&records::read(&cluster), 8);
    assert!(count > 20, "{count} allocations");
    eprintln!("64 nodes: {count} allocations, all boxes of their shape, without overlaps");
    drop(cluster);
    if pavior_trials::Size::chosen() == pavior_trials::Size::Long {
        whole::all(release);
    }
}

/// Checks that no job starts without a daemon, and that ordinary users cannot bypass the gate.
fn the_gate_holds(cluster: &Cluster) {
    for (options, word) in [
        ("--comment=shape=4y4", "is not a valid shape"),
        ("--comment=shape=0x4", "must be from 1 to"),
        ("--comment=shape=4x4x4", "axes"),
        ("--comment=shape=9x1", "does not fit"),
        ("--comment=shape=2x2 -N3", "omit -N"),
        ("--comment=shape=2x1 -w n03,n04", "nodes are chosen"),
        ("-N2 -L pavior:1", "reserved for the gate"),
        ("--comment=shape=2x2,shape=3x3", "two shapes"),
        ("-N1 : -N1", "eterogeneous"),
    ] {
        let line = format!("sbatch -o /dev/null {options} --wrap true");
        let output = cluster.shell_as(User::Alice, &line);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && text.contains(word), "{options}: {text}");
    }
    let job = cluster.submit_as(User::Alice, "-J 4x4-gate --comment=shape=4x4", 0.0);
    let shown = format!("squeue -h -j {job} -o '%t %r %D %W'");
    cluster.wait_for(&shown, 20, |text| text == "PD Licenses 16 pavior:1");
    for change in [
        format!("scontrol release {job}"),
        format!("scontrol update JobId={job} Comment=shape=1x1"),
        format!("scontrol update JobId={job} Licenses="),
        format!("scontrol update JobId={job} ReqNodeList=n00"),
        format!("scontrol update JobId={job} NumNodes=1"),
        format!("scontrol update JobId={job} Partition=mesh"),
        format!("scontrol update JobId={job} Priority=1000"),
    ] {
        assert!(!cluster.shell_as(User::Alice, &change).status.success(), "{change}");
    }
    assert_eq!(cluster.run(&shown), "PD Licenses 16 pavior:1");
}

/// Checks that batch jobs, arrays and jobs with node counts start in boxes, and that waiting jobs
/// get a note with the reason.
fn jobs_start_in_boxes_and_get_notes(cluster: &Cluster) {
    cluster.wait_for("squeue -h -n 4x4-gate -o %i", 30, str::is_empty);
    let whole = cluster.submit("8x8-whole", "--comment=shape=8x8 -t 5", 300.0);
    cluster.wait_until_running(&whole, 30);
    let told = cluster.run(&format!("scontrol show job {whole}"));
    assert!(told.contains("AdminComment=pavior:box=8x8@0,0;ranks=n00,n01,"), "{told}");
    let next = cluster.submit("2x3-next", "--comment=shape=2x3", 0.5);
    until_told(cluster, &next, "pavior: It needs 6 nodes, but none are free; ");
    let why = cluster.pavior(&format!("why {next}"));
    assert!(why.contains("It needs 6 nodes") || why.contains("may start"), "{why}");
    cluster.run(&format!("scancel {whole}"));
    cluster.submit("1x2-array", "--array=0-5 -N2", 0.5);
    // The node count of 11 is rounded up to a 3x4 box.
    cluster.submit("3x4-count", "-N11", 0.5);
    cluster.wait_until_empty(60);
    let output = cluster.shell("srun --comment=shape=2x2 -J 2x2-srun hostname");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let found = cluster.pavior("check");
    assert!(found.contains("faults: []"), "{found}");
}

/// Opens a gate on the wrong nodes. The job starts there and is requeued.
fn a_job_on_wrong_nodes_is_requeued(cluster: &mut Cluster) {
    cluster.kill_daemon();
    let job = cluster.submit("wrong-nodes", "--comment=shape=2x2", 300.0);
    let open = "Licenses= Priority=4294967290";
    cluster.run(&format!("scontrol update JobId={job} ReqNodeList=n00,n01,n02,n03 {open}"));
    cluster.wait_until_running(&job, 20);
    cluster.start_daemon();
    cluster.wait_for(&format!("squeue -h -j {job} -o '%t %N'"), 60, |text| {
        text.starts_with("R ") && text != "R n[00-03]"
    });
    cluster.cancel(&job, 60);
}

/// Opens one job's gate on a box with a drained node, and another job's gate on too few nodes. Both
/// gates must close, and both jobs must be placed again.
fn obstacles_between_opening_and_start(cluster: &mut Cluster) {
    cluster.kill_daemon();
    cluster.run("scontrol update NodeName=n09 State=DRAIN Reason=test");
    let drained = cluster.submit("2x2-drained", "--comment=shape=2x2", 0.5);
    let few = cluster.submit("2x3-few", "--comment=shape=2x3", 0.5);
    let open = "Licenses= Priority=4294967290";
    // The start is delayed so that the daemon sees the open gate.
    cluster.run(&format!("scontrol update JobId={few} StartTime=now+9"));
    cluster.run(&format!("scontrol update JobId={drained} ReqNodeList=n00,n01,n08,n09 {open}"));
    cluster.run(&format!("scontrol update JobId={few} ReqNodeList=n16,n17 {open}"));
    cluster.start_daemon();
    cluster.wait_until_empty(60);
    cluster.run("scontrol update NodeName=n09 State=RESUME");
}

/// Checks that a job held back by a partition limit does not block another job.
fn a_job_that_cannot_start_does_not_block_others(cluster: &Cluster) {
    cluster.run("scontrol update PartitionName=mesh MaxTime=10");
    let long = cluster.submit("8x8-long", "--comment=shape=8x8 -t 20", 0.5);
    let short = cluster.submit("8x8-short", "--comment=shape=8x8 -t 5", 0.5);
    cluster.wait_until_gone(&short, 60);
    cluster.run(&format!("scancel {long}"));
    cluster.run("scontrol update PartitionName=mesh MaxTime=INFINITE");
    cluster.wait_until_empty(30);
}

/// Checks that a requeued job does not start again within 4.5 seconds.
fn requeued_jobs_wait_for_the_cooldown(cluster: &Cluster) {
    let job = cluster.submit("3x2-again", "--comment=shape=3x2", 300.0);
    let state = format!("squeue -h -j {job} -o %t");
    cluster.wait_for(&state, 20, |text| text == "R");
    cluster.run(&format!("scontrol requeue {job}"));
    let requeued = SystemTime::now();
    cluster.wait_for(&state, 20, |text| text == "PD");
    cluster.wait_for(&state, 60, |text| text == "R");
    assert!(requeued.elapsed().unwrap() > Duration::from_millis(4500), "restarted too early");
    cluster.cancel(&job, 30);
}

/// Kills slurmctld while a job is running, and checks that the job's end is recorded afterwards.
///
/// slurmctld saves its state only seconds after a change, so a kill loses recent changes. A job
/// whose end was acknowledged but not yet saved would remain in the list of running jobs.
/// Therefore, the job ends after the kill. Its node reports the end repeatedly until slurmctld
/// acknowledges it.
fn a_job_that_ends_while_slurmctld_is_down_is_finished(cluster: &Cluster) {
    let end = cluster.path().join("end");
    let over = cluster.run(&format!(
        "sbatch --parsable -o /dev/null -J 4x4-over --comment=shape=4x4 \
         --wrap 'until [ -e {} ]; do sleep 0.2; done'",
        end.display()
    ));
    cluster.wait_until_running(&over, 20);
    cluster.wait_until_saved(&over);
    cluster.kill("slurmctld");
    cluster.run(&format!("touch {}", end.display()));
    std::thread::sleep(Duration::from_secs(6));
    cluster.start_slurmctld();
    cluster.wait_until_idle(90);
    let after = cluster.submit("4x2-after", "--comment=shape=4x2", 0.5);
    cluster.wait_until_gone(&after, 60);
}
