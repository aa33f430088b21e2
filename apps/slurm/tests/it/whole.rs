//! Tests that take minutes. Only `cargo xtask slurm RELEASE` runs them.

use std::time::{Duration, Instant};

use crate::cluster::{Cluster, Options, User};
use crate::release::Release;
use crate::sites::{powered, state, submit, until_off, until_told};
use crate::{records, storm};

pub(crate) fn all(release: Release) {
    a_controller_fails_over(release);
    a_node_does_not_wake(release);
    grace_and_exemption(release);
    if release == Release::Testing {
        two_hundred_and_fifty_six_nodes(release);
    }
}

/// Runs two controllers. The first is killed, and the second takes over. Later, the first takes
/// over again.
fn a_controller_fails_over(release: Release) {
    let options = Options::new("two controllers").machine("mesh:4x4").conf(
        "SlurmctldHost=one(127.0.0.1)\nSlurmctldHost=two(127.0.0.2)\nSlurmctldTimeout=10\n\
         CommunicationParameters=NoCtldInAddrAny",
    );
    let Some(mut cluster) = Cluster::start(release, options) else { return };
    cluster.start_daemon();
    let mut jobs = 0;
    let mut load = |cluster: &Cluster| {
        for shape in ["2x2", "4x4", "3x2", "4x2", "1x3", "2x2", "3x3", "4x1"] {
            let name = format!("{shape}-job{jobs}");
            submit(cluster, User::Root, shape, &format!("-t 5 -J {name}"), 2);
            jobs += 1;
        }
    };
    load(&cluster);
    // Slurm saves its state within five seconds.
    std::thread::sleep(Duration::from_secs(7));
    load(&cluster);
    std::thread::sleep(Duration::from_secs(7));
    cluster.kill("slurmctld-one");
    // The second controller now answers.
    cluster.wait_for("squeue -h -o %i | wc -l", 90, |text| !text.is_empty());
    load(&cluster);
    cluster.wait_for(storm::FORGOTTEN, 300, str::is_empty);
    cluster.run(&format!("{0}/cluster.sh slurmctld {0} one", cluster.path().display()));
    cluster.wait_for("scontrol ping", 60, |text| !text.contains("DOWN"));
    load(&cluster);
    cluster.wait_for(storm::FORGOTTEN, 300, str::is_empty);
    let records = records::read(&cluster);
    records::check_allocations(&records, 4);
    let done = records.iter().filter(|job| records::completed(&cluster, job)).count();
    assert!(done >= jobs, "{done} of {jobs} completed; {}", cluster.log());
    let closed = cluster.read("pavior.log").matches("\"event\":\"close\"").count();
    eprintln!("two controllers: {done} of {jobs} completed, {closed} gates closed again");
    assert!(cluster.end_daemon(), "SIGTERM ends it cleanly");
}

/// Checks that if a node does not boot, its job gets a note, other jobs keep running, and the job
/// runs once the node has been repaired.
fn a_node_does_not_wake(release: Release) {
    let options = powered("a node that does not boot", 3, 15);
    let Some(mut cluster) = Cluster::start(release, options) else { return };
    until_off(&cluster);
    cluster.run(&format!("touch {}/broken-n05", cluster.path().display()));
    cluster.start_daemon();
    let whole = submit(&cluster, User::Alice, "4x4", "-t 5", 1);
    cluster.wait_for(&format!("squeue -h -j {whole} -o %t"), 30, |text| text == "CF");
    let part = submit(&cluster, User::Alice, "4x2", "-t 5", 1);
    cluster.wait_until_gone(&part, 120);
    until_told(&cluster, &whole, "it cannot start until the unavailable node in");
    cluster.run(&format!("rm {}/broken-n05", cluster.path().display()));
    cluster.run("scontrol update NodeName=n05 State=RESUME");
    cluster.wait_until_gone(&whole, 120);
    assert!(cluster.end_daemon(), "SIGTERM ends it cleanly");
}

/// Checks that preempted jobs are canceled after their grace time, and that no job is preempted
/// during its exempt time. Also checks that if a job in another partition blocks a box, the note
/// names that job.
fn grace_and_exemption(release: Release) {
    let options = Options::new("grace and exemption of preempted jobs")
        .machine("mesh:4x4")
        .conf(
            "PriorityType=priority/multifactor\nAccountingStorageEnforce=associations,limits,qos\n\
             PreemptType=preempt/qos\nPreemptMode=REQUEUE\n\
             SchedulerParameters=bf_interval=1,batch_sched_delay=1\n\
             PartitionName=other Nodes=n[00-15] OverSubscribe=EXCLUSIVE",
        )
        .accounting();
    let Some(mut cluster) = Cluster::start(release, options) else { return };
    let lines = [
        "add qos low PreemptMode=cancel GraceTime=6",
        "add qos fresh PreemptExemptTime=00:00:25",
        "add qos high preempt=low,fresh",
        "modify user alice,bob set qos+=low,fresh,high",
    ];
    cluster.account(&lines, "high");
    cluster.start_daemon();
    let low = submit(&cluster, User::Alice, "4x4", "--qos=low -t 20", 300);
    cluster.wait_until_running(&low, 30);
    let begun = Instant::now();
    let high = submit(&cluster, User::Bob, "4x4", "--qos=high -t 5", 1);
    cluster.wait_until_gone(&high, 60);
    eprintln!("grace: the preempting job had ended after {} s", begun.elapsed().as_secs());
    assert_eq!(cluster.run(&format!("squeue -h -j {low} -o %t")), "", "it was canceled");
    let fresh = submit(&cluster, User::Alice, "4x4", "--qos=fresh -t 20", 300);
    cluster.wait_until_running(&fresh, 30);
    let begun = Instant::now();
    let high = submit(&cluster, User::Bob, "4x4", "--qos=high -t 5", 1);
    cluster.wait_until_gone(&high, 90);
    let waited = begun.elapsed().as_secs();
    assert!((20..70).contains(&waited), "exempt for {waited} s");
    cluster.cancel("-u alice", 60);
    let stranger = cluster.submit_as(User::Root, "-p other -N4 -t 9", 300.0);
    cluster.wait_until_running(&stranger, 20);
    let waits = submit(&cluster, User::Bob, "4x4", "-t 5", 1);
    until_told(&cluster, &waits, &format!("job {stranger} in partition other"));
    assert!(state(&cluster, &waits).starts_with("PD"));
    cluster.cancel(&stranger, 30);
}

/// Runs a storm on a 16x16 machine.
fn two_hundred_and_fifty_six_nodes(release: Release) {
    let options = Options::new("a storm on 256 nodes").machine("mesh:16x16");
    let Some(mut cluster) = Cluster::start(release, options) else { return };
    cluster.start_daemon();
    storm::storm(&mut cluster, 256, 50);
    let count = records::check_allocations(&records::read(&cluster), 16);
    eprintln!("256 nodes: {count} allocations, all boxes of their shape, without overlaps");
}
