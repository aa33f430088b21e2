//! Tests for other race conditions in Slurm, one per function.

use std::time::Duration;

use crate::cluster::Cluster;
use crate::records;

/// Opens a job's gate on too many nodes. Slurm picks some that do not form a box, so the job must
/// be placed again.
pub(crate) fn too_many_nodes_are_not_used(cluster: &mut Cluster) {
    cluster.kill_daemon();
    let many = cluster.submit("2x2-many", "--comment=shape=2x2", 0.5);
    let open = "Licenses= Priority=4294967290";
    cluster.run(&format!("scontrol update JobId={many} StartTime=now+9"));
    cluster.run(&format!("scontrol update JobId={many} ReqNodeList=n[00-06] {open}"));
    cluster.start_daemon();
    cluster.wait_until_empty(60);
}

/// Marks a job's node as down. The job restarts on a box without that node.
pub(crate) fn a_node_goes_down(cluster: &Cluster) {
    let job = cluster.submit("2x3-down", "--comment=shape=2x3", 300.0);
    let held =
        cluster.wait_for(&format!("squeue -h -j {job} -t R -o %N"), 20, |text| !text.is_empty());
    let node = cluster.run(&format!("scontrol show hostnames '{held}' | head -1"));
    cluster.kill(&node);
    cluster.run(&format!("scontrol update NodeName={node} State=DOWN Reason=test"));
    let without = |text: &str| {
        let names = cluster.run(&format!("scontrol show hostnames '{text}'"));
        !text.is_empty() && !names.lines().any(|name| name == node)
    };
    cluster.wait_for(&format!("squeue -h -j {job} -t R -o %N"), 60, without);
    cluster.run(&format!("scancel {job}"));
    cluster.start_slurmd(&node);
    cluster.run(&format!("scontrol update NodeName={node} State=RESUME"));
    cluster.wait_until_empty(60);
    cluster.wait_until_idle(60);
}

/// Checks that `salloc` also waits for a box.
pub(crate) fn interactive_jobs(cluster: &Cluster) {
    let line = "salloc -J 4x2-salloc --comment=shape=4x2 srun hostname | wc -l";
    assert_eq!(cluster.run(line), "8");
    cluster.wait_until_empty(30);
}

/// Checks that nodes in use by a job in another partition do not count as free.
pub(crate) fn strangers_hold_nodes(cluster: &Cluster) {
    cluster.run("scontrol create PartitionName=other Nodes=n[00-07] OverSubscribe=EXCLUSIVE");
    // The job fills a row of eight nodes. It has no shape to check.
    let other = cluster.submit("8x1-other", "-p other -N8", 300.0);
    cluster.wait_until_running(&other, 20);
    let job = cluster.submit("8x7-beside", "--comment=shape=8x7", 0.5);
    cluster
        .wait_for(&format!("squeue -h -j {job} -o %t"), 60, |text| text == "R" || text.is_empty());
    assert_eq!(cluster.run(&format!("squeue -h -j {other} -o %t")), "R", "the other job runs");
    cluster.cancel(&other, 30);
    cluster.run("scontrol delete PartitionName=other");
}

/// Checks that a large box does not starve: small jobs whose time limits extend beyond its planned
/// start must wait.
pub(crate) fn large_boxes_do_not_starve(cluster: &Cluster) {
    let first = cluster.submit("4x4-first", "--comment=shape=4x4 -t 4", 240.0);
    cluster.wait_for("squeue -h -n 4x4-first -o %t", 20, |text| text == "R");
    cluster.submit("8x8-large", "--comment=shape=8x8 -t 1", 0.5);
    for serial in 0..6 {
        cluster.submit(&format!("2x2-late{serial}"), "--comment=shape=2x2 -t 10", 0.5);
    }
    // This job ends before the large box's planned start, so it may run first.
    let pass = cluster.submit("1x1-pass", "--comment=shape=1x1 -t 1", 0.5);
    cluster.wait_until_gone(&pass, 90);
    cluster.cancel(&first, 90);
    let records = records::read(cluster);
    let start = |name: &str| &records.iter().find(|record| record.name == name).unwrap().start;
    let large = start("8x8-large");
    for serial in 0..6 {
        let late = start(&format!("2x2-late{serial}"));
        assert!(late >= large, "{late} is before {large}; log:\n{}", cluster.log());
    }
    let pass = start("1x1-pass");
    assert!(pass < large, "{pass} is not before {large}; log:\n{}", cluster.log());
}

/// Kills slurmctld before it has saved a job, so that it forgets the job and reuses the job ID.
pub(crate) fn numbers_are_used_again(cluster: &Cluster) {
    // After this delay, slurmctld has saved all earlier changes.
    std::thread::sleep(Duration::from_secs(6));
    let forgotten = cluster.submit("2x2-forgotten", "--comment=shape=2x2 -t 1 --begin=now+60", 0.5);
    cluster.kill("slurmctld");
    cluster.start_slurmctld();
    cluster.wait_until_idle(90);
    let next = cluster.submit("3x3-next", "--comment=shape=3x3", 0.5);
    if next != forgotten {
        eprintln!("note: slurmctld saved its state before it was killed; number {next} is new");
        cluster.run(&format!("scancel {forgotten}"));
    }
    cluster.wait_until_empty(60);
    let done = records::read(cluster);
    let mut of_name = done.iter().filter(|job| job.name == "3x3-next");
    let completed = of_name.any(|job| records::completed(cluster, job));
    assert!(completed, "{}", cluster.job_log(&next));
}
