//! Checks that no job is lost in a storm of random jobs, drained and failing nodes, requeues, and
//! killed daemons and controllers.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use pavior::Stream;

use crate::cluster::Cluster;
use crate::records;

/// Runs one long storm per seed or, if no seeds are given, one short storm.
pub(crate) fn storms(cluster: &mut Cluster) {
    match pavior_trials::seeds() {
        None => storm(cluster, 18, 12),
        Some(seeds) => {
            for seed in seeds {
                eprintln!("seed {seed}: starting at {}", cluster.run("date +%T"));
                storm(cluster, seed, 50);
            }
        }
    }
}

/// A script that acts as an operator and prints the remaining jobs. A killed slurmctld forgets the
/// most recent job starts. If it then starts such a job on the same node again, Slurm reports that
/// the job is "already running" there, drains the node, and holds the job.
pub(crate) const FORGOTTEN: &str = "
    sinfo -h -N -t drain -o %N | sort -u | xargs -r -I{} scontrol update NodeName={} State=RESUME
    squeue -h -t PD -o '%i %r' | grep 'launch failed requeued held' | cut -d' ' -f1 |
        xargs -r -n 1 scontrol release
    squeue -h -o %i";

struct Storm {
    random: Stream,
    /// The number of jobs that must complete, for each job name.
    wanted: BTreeMap<String, usize>,
    down: BTreeSet<String>,
}

/// Submits four jobs per round and injects failures.
pub(crate) fn storm(cluster: &mut Cluster, seed: u64, rounds: u64) {
    let random = Stream::new(seed, 0, "storm");
    let mut storm = Storm { random, wanted: BTreeMap::new(), down: BTreeSet::new() };
    for round in 0..rounds {
        for serial in 0..4 {
            storm.job(cluster, &format!("storm{seed}.{round}.{serial}"));
        }
        storm.trouble(cluster);
        std::thread::sleep(Duration::from_millis(storm.random.below(900)));
        cluster.start_daemon();
        let resume = "xargs -r -I{} scontrol update NodeName={} State=RESUME";
        cluster.shell(&format!("sinfo -h -N -t drain -o %N | sort -u | {resume}"));
        if round % 16 == 15 {
            // A killed slurmctld forgets jobs that it has not yet saved.
            std::thread::sleep(Duration::from_secs(7));
            cluster.kill("slurmctld");
            std::thread::sleep(Duration::from_millis(storm.random.below(3000)));
            cluster.start_slurmctld();
        }
    }
    storm.nodes_come_back(cluster);
    cluster.wait_for(FORGOTTEN, 60 + 6 * rounds, str::is_empty);
    let records = records::read(cluster);
    for (name, wanted) in storm.wanted {
        let of_name = records.iter().filter(|record| record.name == name);
        let done = of_name.filter(|record| records::completed(cluster, record)).count();
        assert!(done >= wanted, "{name} completed {done} times; {}", cluster.log());
    }
}

impl Storm {
    fn job(&mut self, cluster: &Cluster, name: &str) {
        // On machines with more than 64 nodes, boxes are larger.
        let longest = if cluster.nodes() > 64 { 10 } else { 5 };
        let (a, b) = (1 + self.random.below(longest), 1 + self.random.below(longest));
        let name = format!("{a}x{b}-{name}");
        let options = format!("--comment=shape={a}x{b} -t {}", 1 + self.random.below(3));
        let seconds = self.random.below(20) as f64 / 10.0;
        let wanted = match self.random.below(10) {
            0 => {
                cluster.submit(&name, &format!("--array=0-2 {options}"), seconds);
                3
            }
            // Slurm does not requeue interactive jobs when their nodes go down.
            1 => {
                cluster
                    .run(&format!("salloc -J {name} {options} sleep {seconds} >/dev/null 2>&1 &"));
                0
            }
            _ => {
                cluster.submit(&name, &options, seconds);
                1
            }
        };
        self.wanted.insert(name, wanted);
    }

    fn trouble(&mut self, cluster: &Cluster) {
        let node = cluster.node(self.random.below(cluster.nodes().into()));
        match self.random.below(8) {
            0 | 1 => {
                cluster.run(&format!("scontrol update NodeName={node} State=DRAIN Reason=test"));
            }
            2 | 3 => {
                let running = "squeue -h -t R -o %i | shuf -n 1 | xargs -r scontrol requeue";
                cluster.shell(running);
            }
            4 | 5 if !self.down.contains(&node) => {
                cluster.kill(&node);
                cluster.run(&format!("scontrol update NodeName={node} State=DOWN Reason=test"));
                self.down.insert(node);
            }
            6 => self.nodes_come_back(cluster),
            _ => {}
        }
    }

    fn nodes_come_back(&mut self, cluster: &Cluster) {
        for node in std::mem::take(&mut self.down) {
            cluster.start_slurmd(&node);
            cluster.run(&format!("scontrol update NodeName={node} State=RESUME"));
        }
    }
}
