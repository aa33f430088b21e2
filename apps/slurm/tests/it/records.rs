//! Checks Slurm's own records of jobs and their nodes.

use std::collections::{BTreeMap, HashMap};

use crate::cluster::Cluster;

/// An allocation in the file of completed jobs. A requeued job has several records.
pub(crate) struct Record {
    pub(crate) job: String,
    pub(crate) name: String,
    pub(crate) state: String,
    pub(crate) start: String,
    pub(crate) end: String,
    pub(crate) nodes: Vec<u32>,
}

pub(crate) fn read(cluster: &Cluster) -> Vec<Record> {
    let text = std::fs::read_to_string(cluster.path().join("jobs.txt")).unwrap_or_default();
    let mut all = Vec::new();
    // Slurm does not escape names, so any other line is part of a job name.
    for line in text.lines().filter(|line| line.starts_with("JobId=")) {
        let fields: HashMap<&str, &str> =
            line.split(' ').filter_map(|word| word.split_once('=')).collect();
        let field = |key: &str| fields.get(key).map_or(String::new(), |text| (*text).to_string());
        all.push(Record {
            job: field("JobId"),
            name: field("Name"),
            state: field("JobState"),
            start: field("StartTime"),
            end: field("EndTime"),
            nodes: nodes(&field("NodeList")),
        });
    }
    all
}

/// Returns true if a job completed. Also returns true if the job failed only because Slurm lost the
/// script, or timed out only because a restarted slurmctld missed the job's end.
pub(crate) fn completed(cluster: &Cluster, record: &Record) -> bool {
    let recovered = || {
        let line = format!("Recovered JobId={} ", record.job);
        cluster.job_log(&record.job).contains(&line)
    };
    let (lost, unheard) = match record.state.as_str() {
        "FAILED" => (cluster.has_lost_script(&record.job), false),
        "TIMEOUT" => (false, recovered()),
        _ => (false, false),
    };
    if lost {
        eprintln!("note: Slurm lost the script of job {}", record.job);
    }
    if unheard {
        eprintln!("note: Slurm missed the end of job {}", record.job);
    }
    lost || unheard || record.state == "COMPLETED"
}

/// Returns the node numbers in a list such as `n[00-01,08]`.
fn nodes(list: &str) -> Vec<u32> {
    let names = pavior::workload::hosts::expand(list).unwrap_or_default();
    names.iter().filter_map(|name| name.strip_prefix('n')?.parse().ok()).collect()
}

/// Checks that every allocation on a mesh with `columns` columns is a box of the shape with which
/// the job name begins. Also checks that no two allocations overlap. Returns the number of
/// allocations.
pub(crate) fn check_allocations(records: &[Record], columns: u32) -> usize {
    // A job is recorded twice if it is requeued while completing, or if slurmctld is killed and
    // forgets that the job has ended. The second record has the same start and a later end, but the
    // nodes have been free since the end in the first record.
    let mut held: BTreeMap<(&str, &str), (&str, &Record)> = BTreeMap::new();
    for record in records.iter().filter(|record| !record.nodes.is_empty()) {
        let place = held.entry((&record.job, &record.start)).or_insert((&record.end, record));
        place.0 = place.0.min(&record.end);
    }
    let mut by_node: BTreeMap<u32, Vec<(&str, &str, &str)>> = BTreeMap::new();
    for (end, record) in held.values() {
        let shape = record.name.split('-').next().unwrap();
        // Some jobs are deliberately started on the wrong nodes.
        if shape != "wrong" {
            assert!(is_box(&record.nodes, shape, columns), "{}: {:?}", record.name, record.nodes);
        }
        for &node in &record.nodes {
            by_node.entry(node).or_default().push((&record.start, *end, &record.name));
        }
    }
    for (node, mut intervals) in by_node {
        intervals.sort_unstable();
        for pair in intervals.windows(2) {
            assert!(pair[0].1 <= pair[1].0, "node {node}: {pair:?}");
        }
    }
    held.len()
}

/// Returns true if the nodes form a box with the given shape, in any orientation, on a mesh with
/// `columns` columns.
fn is_box(nodes: &[u32], shape: &str, columns: u32) -> bool {
    let (a, b) = shape.split_once('x').unwrap();
    let (a, b): (u32, u32) = (a.parse().unwrap(), b.parse().unwrap());
    let range = |values: Vec<u32>| values.iter().max().unwrap() - values.iter().min().unwrap() + 1;
    let x = range(nodes.iter().map(|node| node % columns).collect());
    let y = range(nodes.iter().map(|node| node / columns).collect());
    nodes.len() as u32 == a * b && ((x, y) == (a, b) || (x, y) == (b, a))
}
