//! Random jobs, drains, nodes that go down, requeues, and kills of the daemon and of slurmctld:
//! none is lost.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::cluster::Cluster;
use crate::records;

/// The variable with the seeds of whole storms; `cargo xtask slurm` sets it.
const SEEDS: &str = "PAVIOR_SLURM_SEEDS";

/// Whole storms, with the seeds that are asked for, or a short one.
pub(crate) fn storms(cluster: &mut Cluster) {
    match std::env::var(SEEDS) {
        Err(_) => storm(cluster, 18, 12),
        Ok(seeds) => {
            for seed in seeds.split_whitespace() {
                let seed = seed.parse().expect("seeds are numbers");
                eprintln!("seed {seed}: {}", cluster.good("date +%T"));
                storm(cluster, seed, 50);
            }
        }
    }
}

/// The next random number below another, from a state.
fn below(state: &mut u64, n: u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) % n
}

/// Four jobs a round, and trouble.
fn storm(cluster: &mut Cluster, seed: u64, rounds: u64) {
    let mut state = seed;
    let mut below = |n: u64| below(&mut state, n);
    // How often each name must have completed.
    let mut wanted = BTreeMap::new();
    let mut down = BTreeSet::new();
    for round in 0..rounds {
        for serial in 0..4 {
            let (a, b) = (1 + below(5), 1 + below(5));
            let name = format!("{a}x{b}-storm{seed}.{round}.{serial}");
            let options = format!("--comment=shape={a}x{b} -t {}", 1 + below(3));
            let seconds = below(20) as f64 / 10.0;
            match below(10) {
                0 => {
                    cluster.submit(&name, &format!("--array=0-2 {options}"), seconds);
                    wanted.insert(name, 3);
                }
                // Interactive jobs are not queued again when their nodes go down.
                1 => {
                    let line =
                        format!("salloc -J {name} {options} sleep {seconds} >/dev/null 2>&1 &");
                    cluster.good(&line);
                    wanted.insert(name, 0);
                }
                _ => {
                    cluster.submit(&name, &options, seconds);
                    wanted.insert(name, 1);
                }
            }
        }
        let node = format!("n{:02}", below(64));
        match below(8) {
            0 | 1 => {
                cluster.good(&format!("scontrol update NodeName={node} State=DRAIN Reason=test"));
            }
            2 | 3 => {
                let running = "squeue -h -t R -o %i | shuf -n 1 | xargs -r scontrol requeue";
                cluster.shell(running, false);
            }
            4 if down.len() < 4 => {
                if down.insert(node.clone()) {
                    cluster.kill_slurmd(&node);
                    let state = "State=DOWN Reason=test";
                    cluster.good(&format!("scontrol update NodeName={node} {state}"));
                }
            }
            5 => nodes_come_back(cluster, &mut down),
            _ => {}
        }
        std::thread::sleep(Duration::from_millis(below(900)));
        cluster.start_daemon();
        let resume = "xargs -r -I{} scontrol update NodeName={} State=RESUME";
        cluster.shell(&format!("sinfo -h -N -t drain -o %N | sort -u | {resume}"), false);
        if round % 16 == 15 {
            nodes_come_back(cluster, &mut down);
            // A job that it has not yet written down would be forgotten by Slurm itself.
            std::thread::sleep(Duration::from_secs(7));
            cluster.kill_slurmctld();
            std::thread::sleep(Duration::from_millis(below(3000)));
            cluster.start_slurmctld();
        }
    }
    nodes_come_back(cluster, &mut down);
    cluster.until_empty(60 + 6 * rounds);
    let records = records::read(cluster);
    for (name, wanted) in wanted {
        let done = |record: &&records::Record| record.name == name && record.state == "COMPLETED";
        let done = records.iter().filter(done).count();
        assert!(done >= wanted, "{name} completed {done} times; {}", cluster.log());
    }
}

fn nodes_come_back(cluster: &Cluster, down: &mut BTreeSet<String>) {
    for node in std::mem::take(down) {
        cluster.start_slurmd(&node);
        cluster.good(&format!("scontrol update NodeName={node} State=RESUME"));
    }
}
