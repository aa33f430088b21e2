//! Tests for jobs that can run on only some of the nodes because of constraints, GRES, memory,
//! excluded nodes or reservations.

use std::time::Duration;

use crate::cluster::{Cluster, Options, User};
use crate::release::{Release, on_each_release};
use crate::sites;

on_each_release! { demands_and_reservations }

/// Configures a cluster with four rows of four nodes. Nodes in the first two rows are fast, and
/// have boards and more memory.
fn unlike() -> Options {
    Options::new("demands")
        .machine("mesh:4x4")
        .conf("GresTypes=board")
        .nodes("n[00-07]", "Feature=fast,wet Gres=board:2 CPUs=1 RealMemory=500")
        .file("gres.conf", "NodeName=n[00-07] Name=board Count=2\n")
}

/// Submits a job that has a shape and sleeps for a minute.
fn submit(cluster: &Cluster, shape: &str, options: &str) -> String {
    sites::submit(cluster, User::Root, shape, options, 60)
}

/// Returns the numbers of a job's nodes.
fn nodes(cluster: &Cluster, job: &str) -> Vec<u32> {
    cluster.wait_until_running(job, 30);
    let list = cluster.run(&format!("squeue -h -j {job} -o %N"));
    let names = cluster.run(&format!("scontrol show hostnames {list}"));
    names.lines().map(|name| name[1..].parse().unwrap()).collect()
}

fn demands_and_reservations(release: Release) {
    let Some(mut cluster) = Cluster::start(release, unlike()) else { return };
    cluster.start_daemon();
    demands(&cluster);
    cluster.run("scancel -u root");
    cluster.wait_until_idle(60);
    reservations(&cluster);
    cluster.cancel("-u root", 60);
    // The daemon recreates the reservation, without which every job would start on its own.
    cluster.run("scontrol delete ReservationName=pavior");
    let shown = "scontrol show reservation -o";
    cluster.wait_for(shown, 20, |text| text.contains("ReservationName=pavior "));
    // The daemon renews a reservation that is about to end, for a year from now rather than from
    // the reservation's start.
    std::thread::sleep(Duration::from_millis(1500));
    cluster.run("scontrol update ReservationName=pavior Duration=2-0");
    let renewed =
        |text: &str| text.contains("Duration=365-") && !text.contains("Duration=365-00:00:00");
    cluster.wait_for(shown, 20, renewed);
    assert!(cluster.end_daemon());
}

fn demands(cluster: &Cluster) {
    let anywhere = submit(cluster, "2x2", "");
    assert_eq!(nodes(cluster, &anywhere), [0, 1, 4, 5]);
    for options in ["-C 'fast&wet' --mem=400", "--gres=board:2"] {
        let job = submit(cluster, "2x1", options);
        let held = nodes(cluster, &job);
        assert!(held.iter().all(|node| *node < 8), "{options}: {held:?}");
    }
    // No fast nodes are left, so the job gets a note but does not delay other jobs.
    let waits = submit(cluster, "2x1", "-C fast --priority=100000");
    let beside = submit(cluster, "2x2", "-x n08,n09");
    assert_eq!(nodes(cluster, &beside), [10, 11, 14, 15]);
    let comment = format!("scontrol show job {waits}");
    let told = cluster.wait_for(&comment, 30, |text| text.contains("Blocked "));
    assert!(told.contains("Reason=Licenses") || told.contains("Reason=Priority"), "{told}");
    // Every row and column contains a node that the job excludes.
    let never = submit(cluster, "4x1", "-x n00,n05,n10,n15");
    sites::until_told(cluster, &never, "not placed: no box of its shape");
    cluster.run(&format!("scancel {never}"));
    cluster.run(&format!("scancel {anywhere}"));
    let held = nodes(cluster, &waits);
    assert!(held.iter().all(|node| *node < 8), "{held:?}");
}

fn reservations(cluster: &Cluster) {
    let make = "scontrol create reservation Users=root Duration=60";
    cluster.run(&format!("{make} ReservationName=exam StartTime=now Nodes=n[00-07]"));
    cluster.run(&format!("{make} ReservationName=repair StartTime=now+10minutes Nodes=n[08-09]"));
    let inside = submit(cluster, "2x2", "--reservation=exam -t 2");
    let held = nodes(cluster, &inside);
    assert!(held.iter().all(|node| *node < 8), "{held:?}");
    // This job would still be running when the repair begins.
    let long = submit(cluster, "2x2", "-t 30");
    assert_eq!(nodes(cluster, &long), [10, 11, 14, 15]);
    let short = submit(cluster, "2x2", "-t 2");
    assert_eq!(nodes(cluster, &short), [8, 9, 12, 13]);
    let clear = |names: &[&str]| {
        cluster.cancel("-u root", 60);
        for name in names {
            cluster.run(&format!("scontrol delete ReservationName={name}"));
        }
    };
    clear(&["exam", "repair"]);
    // Jobs in the reservation may start before it begins and may run on other nodes.
    let flexible = format!("{make} ReservationName=flexi StartTime=now+10minutes Flags=FLEX");
    cluster.run(&format!("{flexible} Nodes=n[00-01]"));
    let inside = submit(cluster, "2x2", "--reservation=flexi -t 2");
    assert_eq!(nodes(cluster, &inside), [0, 1, 4, 5]);
    clear(&["flexi"]);
    // Slurm would give the reserved nodes to any job of the reservation's users, but the daemon
    // gives them only to jobs that name the reservation.
    cluster
        .run(&format!("{make} ReservationName=magnet StartTime=now Nodes=n[00-07] Flags=MAGNETIC"));
    let beside = submit(cluster, "2x2", "-t 2");
    assert_eq!(nodes(cluster, &beside), [8, 9, 12, 13]);
    let closed = format!("\"event\":\"close\",\"job\":\"{beside}\"");
    assert!(!cluster.read("pavior.log").contains(&closed), "{}", cluster.log());
    let whole = submit(cluster, "4x4", "-t 2");
    let words = "; to use nodes in the magnetic reservation magnet, add --reservation=magnet";
    sites::until_told(cluster, &whole, words);
    let named = submit(cluster, "2x2", "-t 2 --reservation=magnet");
    let held = nodes(cluster, &named);
    assert!(held.iter().all(|node| *node < 8), "{held:?}");
    clear(&["magnet"]);
}
