//! The ledger: the partition's nodes and active jobs, as Slurm reports them. It is read with
//! `squeue -o`, which takes about 40 ms for 1,500 jobs, much less than `--json`.
//!
//! Nodes are read before jobs; otherwise, a node that had just been allocated could look free.
//! There are two reasons to read the nodes again. First, if a job has ended between the two reads,
//! its nodes would appear to be held by another partition for an unknown time. A large box that
//! needs these nodes would then have no reservation in this cycle. Second, a new job must not be
//! planned using data older than the job itself. For the same reason, reservations are read last.
//!
//! A malformed record does not affect other records. If a node's line is malformed, the node is
//! unavailable. If a job's record is malformed, its nodes count as free only if Slurm reports them
//! as idle when the nodes are read again after the jobs.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::fmt::{self, Display};

use crate::calls::{Call, Query};
use crate::names::{JobName, NodeName, array_of};
use crate::{Config, SlurmError};

mod constraints;
pub(crate) mod demands;
mod gres;
mod jobs;
pub(crate) mod node_difference;
mod nodes;
pub(crate) mod qos;
pub(crate) mod records;
pub(crate) mod reservations;
pub(crate) mod site;
mod times;
pub(crate) mod usage;

pub(crate) use jobs::{ControlCharacters, JobKey, Phase, SlurmJob};
pub(crate) use node_difference::NodeDifference;
pub(crate) use nodes::{Condition, SlurmNode};
use records::{Mark, Unreadable};
use reservations::Reservation;

/// A summary of an array's tasks. If any task is waiting, the first task is a waiting one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ArraySummary {
    array: u32,
    waiting: usize,
    running: usize,
    first: JobName,
}

impl Display for ArraySummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ArraySummary { array, waiting, running, first } = self;
        let kind = if *waiting > 0 { "waiting" } else { "running" };
        writeln!(
            f,
            "Array {array}: {waiting} waiting, {running} running. The first {kind} task is {first}."
        )
    }
}

/// The data read from Slurm in a cycle.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ledger {
    pub(crate) nodes: Vec<SlurmNode>,
    pub(crate) jobs: Vec<SlurmJob>,
    /// Records that are entirely or partly malformed.
    pub(crate) unreadable: Vec<Unreadable>,
    pub(crate) reservations: Vec<Reservation>,
}

impl Ledger {
    /// Reads the ledger from Slurm.
    pub(crate) fn read(config: &Config) -> Result<Ledger, SlurmError> {
        Ledger::read_again_if(config, |_| false)
    }

    /// Reads the ledger from Slurm, and the nodes a second time if `is_outdated` returns true.
    pub(crate) fn read_again_if(
        config: &Config,
        is_outdated: impl Fn(&Ledger) -> bool,
    ) -> Result<Ledger, SlurmError> {
        let partition = config.partition.as_str();
        let (nodes, bad_lines) = Ledger::read_nodes(partition)?;
        let active = "RUNNING,CONFIGURING,SUSPENDED,STOPPED,SIGNALING,STAGE_OUT,COMPLETING";
        let states = format!("PENDING,{active}");
        let (jobs, mut unreadable) = Ledger::squeue(&["-p", partition, "-t", &states])?;
        unreadable.extend(bad_lines);
        let mut ledger = Ledger { nodes, jobs, unreadable, reservations: Vec::new() };
        if is_outdated(&ledger) || !ledger.unowned_nodes().is_empty() {
            // A node whose line is malformed in the second output becomes unavailable.
            let (later, _) = Ledger::read_nodes(partition)?;
            ledger.update_nodes(later);
        }
        if ledger.nodes.iter().any(|node| node.condition == Condition::Taken)
            && !ledger.unowned_nodes().is_empty()
        {
            // Jobs in other partitions may hold these nodes.
            let (all, _) = Ledger::squeue(&["-t", active])?;
            ledger.add_foreign_jobs(all);
        }
        let reservations = Call::new(Query::Show, &["reservation", "-o"]).answer()?;
        ledger.reservations = reservations::read(&reservations);
        Ok(ledger)
    }

    /// Returns the most recently submitted job.
    pub(crate) fn newest(&self) -> Option<JobKey> {
        self.jobs.iter().map(SlurmJob::key).max()
    }

    /// Finds a job by name. For the name of an array, returns the first task, preferably a waiting
    /// one, along with a summary of the array.
    pub(crate) fn find(&self, text: &str) -> Option<(JobName, Option<ArraySummary>)> {
        let is_known = |name: &JobName| {
            let unreadable = || self.unreadable.iter().any(|record| record.job == Some(*name));
            self.jobs.iter().any(|job| job.name == *name) || unreadable()
        };
        if let Some(name) = text.parse().ok().filter(is_known) {
            return Some((name, None));
        }
        let array = array_of(text)?;
        let tasks = || self.jobs.iter().filter(|job| job.name.array() == Some(array));
        let holds = |job: &SlurmJob| job.phase != Phase::Pending;
        let order = |job: &&SlurmJob| (holds(job), Reverse(job.priority), job.name);
        let first = tasks().min_by_key(order)?;
        let running = tasks().filter(|job| holds(job)).count();
        let waiting = tasks().count() - running;
        let summary = ArraySummary { array, waiting, running, first: first.name };
        Some((first.name, Some(summary)))
    }

    /// Adds jobs in other partitions that hold nodes in this partition.
    fn add_foreign_jobs(&mut self, jobs: Vec<SlurmJob>) {
        let unowned_nodes = self.unowned_nodes();
        self.jobs.extend(jobs.into_iter().filter(|job| {
            !job.held_nodes.is_empty()
                && job.held_nodes.iter().any(|node| unowned_nodes.contains(node))
        }));
    }

    fn squeue(which: &[&str]) -> Result<(Vec<SlurmJob>, Vec<Unreadable>), SlurmError> {
        let mark = Mark::new()?;
        let arguments = [&["-h", "-r", "--noconvert"], which].concat();
        let format = mark.format();
        let environment = [("SQUEUE_FORMAT", format.as_str())];
        let call = Call::new(Query::Jobs, &arguments).environment(&environment);
        records::read(&call.answer()?, &mark)
    }

    fn read_nodes(partition: &str) -> Result<(Vec<SlurmNode>, Vec<Unreadable>), SlurmError> {
        nodes::read(
            &Call::new(Query::Nodes, &["-h", "-N", "-p", partition, "-o", nodes::FORMAT])
                .answer()?,
        )
    }

    /// Returns the taken nodes that no job in the ledger owns. If a job with a malformed record may
    /// hold unknown nodes, treats every node as taken.
    fn unowned_nodes(&self) -> HashSet<NodeName> {
        let held: HashSet<&NodeName> = self.jobs.iter().flat_map(SlurmJob::owned).collect();
        let all = self.unreadable.iter().any(|record| record.may_hold_nodes);
        let taken = self.nodes.iter().filter(|node| all || node.condition == Condition::Taken);
        taken.map(|node| &node.name).filter(|name| !held.contains(name)).cloned().collect()
    }

    /// Updates the offers of all nodes. Updates a node's condition only if the node has no owner or
    /// is now unavailable.
    fn update_nodes(&mut self, later: Vec<SlurmNode>) {
        let unowned_nodes = self.unowned_nodes();
        let mut later: HashMap<NodeName, SlurmNode> =
            later.into_iter().map(|node| (node.name.clone(), node)).collect();
        for node in &mut self.nodes {
            let later = later.remove(&node.name);
            let condition = later.as_ref().map_or(Condition::Unavailable, |node| node.condition);
            if condition == Condition::Unavailable || unowned_nodes.contains(&node.name) {
                node.condition = condition;
            }
            if let Some(later) = later {
                node.offer = later.offer;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::nodes::fixtures::lines;
    use super::*;

    fn nodes(text: &str) -> Vec<SlurmNode> {
        nodes::read(&lines(text)).unwrap().0
    }

    fn conditions(ledger: &Ledger) -> Vec<Condition> {
        ledger.nodes.iter().map(|node| node.condition).collect()
    }

    /// Creates a job that is running on a node.
    fn runs(node: &str) -> SlurmJob {
        let held_nodes = vec![node.parse().unwrap()];
        SlurmJob { phase: Phase::Running, held_nodes, ..SlurmJob::waiting("7", 1) }
    }

    #[test]
    fn find_returns_the_first_task_of_an_array() {
        let task = |name: &str, phase: Phase, priority: u64| SlurmJob {
            name: name.parse().unwrap(),
            phase,
            priority,
            ..runs("n1")
        };
        let jobs = vec![
            task("7_3", Phase::Pending, 9),
            task("7_10", Phase::Pending, 9),
            task("7_2", Phase::Pending, 8),
            task("7_1", Phase::Running, 9),
            task("8_4", Phase::Running, 9),
            task("6", Phase::Pending, 9),
        ];
        let ledger = Ledger { jobs, ..Ledger::default() };
        let found = |text: &str| {
            let (name, summary) = ledger.find(text)?;
            Some((name.to_string(), summary.map_or(String::new(), |summary| summary.to_string())))
        };
        let seven = "Array 7: 3 waiting, 1 running. The first waiting task is 7_3.\n";
        for text in ["7", "7_[2-10%2]"] {
            assert_eq!(found(text), Some(("7_3".into(), seven.into())));
        }
        assert_eq!(found("7_2"), Some(("7_2".into(), String::new())));
        let eight = "Array 8: 0 waiting, 1 running. The first running task is 8_4.\n";
        assert_eq!(found("8"), Some(("8_4".into(), eight.into())));
        assert_eq!(found("6").unwrap().1, "");
        assert_eq!(["5", "7_9", "6_[1]", "x"].map(found), [const { None }; 4]);
    }

    /// Checks that nodes released between reads are updated. A completing job held three nodes when
    /// the nodes were read, but only one when the jobs were read.
    #[test]
    fn nodes_released_by_an_ending_job_are_updated() {
        let names = |text: &str| crate::names::node_lists::expand(text).unwrap();
        let ends =
            SlurmJob { phase: Phase::Completing, requested_nodes: names("n[1-3]"), ..runs("n1") };
        let before = nodes("n1|completing\nn2|completing\nn3|completing\n");
        let mut ledger = Ledger { nodes: before, jobs: vec![ends], ..Ledger::default() };
        assert_eq!(ledger.unowned_nodes(), names("n[2-3]").into_iter().collect());
        ledger.update_nodes(nodes("n1|completing\nn2|idle\nn3|idle\n"));
        assert!(ledger.unowned_nodes().is_empty());
        let waits =
            SlurmJob { phase: Phase::Pending, held_nodes: Vec::new(), ..ledger.jobs[0].clone() };
        let before = nodes("n1|allocated\nn2|allocated\nn3|allocated\n");
        let ledger = Ledger { nodes: before, jobs: vec![waits], ..Ledger::default() };
        assert!(ledger.unowned_nodes().is_empty(), "it is about to have them");
    }

    #[test]
    fn nodes_of_a_job_that_ended_between_two_calls_are_updated() {
        let before = nodes("n0|allocated\nn1|allocated\nn2|idle\n");
        let mut ledger = Ledger { nodes: before, jobs: vec![runs("n0")], ..Ledger::default() };
        assert_eq!(ledger.unowned_nodes(), HashSet::from(["n1".parse().unwrap()]));
        // The other nodes' later conditions are ignored, because they postdate the list of jobs.
        ledger.update_nodes(nodes("n0|idle\nn1|idle\nn2|allocated\n"));
        assert_eq!(conditions(&ledger), [Condition::Taken, Condition::Idle, Condition::Idle]);
    }

    #[test]
    fn with_a_malformed_record_nodes_are_free_only_if_idle_in_the_second_output() {
        use Condition::{Idle, Taken, Unavailable};
        let mut ledger = Ledger {
            nodes: nodes("n0|allocated\nn1|idle\nn2|idle\nn3|down\nn4|idle\n"),
            jobs: vec![runs("n0")],
            unreadable: vec![Unreadable::new("its state")],
            ..Ledger::default()
        };
        // The job with the malformed record has started on n1. The new output does not list n4.
        ledger.update_nodes(nodes("n0|idle\nn1|allocated\nn2|idle\nn3|idle\n"));
        assert_eq!(conditions(&ledger), [Taken, Taken, Idle, Idle, Unavailable]);
    }
}
