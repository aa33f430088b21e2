//! What Slurm says: nodes and active jobs of the partition.
//!
//! `squeue -o` takes some 40 ms with 1,500 jobs, `--json` many times that. Nodes are read before
//! jobs: the other way round a node could look free that has just been given away. The nodes of a
//! job that ends in between are read once more. Without that they would count as another
//! partition's, for which no end is known, and a large box that needs them would have no
//! reservation in this cycle.
//!
//! What cannot be read costs itself alone. A node whose line cannot be read is not available. The
//! nodes of a job whose record cannot be read are what Slurm says of them after the jobs were read:
//! they are free only if they are free then.

use std::collections::{HashMap, HashSet};

use crate::ask::{Call, LIMITS, Question, capture};
use crate::names::{JobName, Licences, NodeName};
use crate::records::{self, Mark, Unreadable};
use crate::{Config, SlurmError};

/// A job that waits, runs or ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SlurmJob {
    pub(crate) name: JobName,
    /// When it was submitted, or last requeued; with the name, its identity: numbers may be used
    /// again.
    pub(crate) submitted: u64,
    pub(crate) phase: Phase,
    /// Slurm's word for why it waits.
    pub(crate) reason: String,
    pub(crate) priority: u64,
    pub(crate) nodes: u32,
    /// The nodes that it holds.
    pub(crate) held: Vec<NodeName>,
    /// The nodes that were named for it.
    pub(crate) named: Vec<NodeName>,
    pub(crate) licences: Licences,
    /// When it started, or may start.
    pub(crate) start: Option<u64>,
    /// Its time limit in seconds; `None` without one.
    pub(crate) limit: Option<u64>,
    pub(crate) comment: String,
    /// The comment has control characters, which the gate refuses: the job is not placed.
    pub(crate) bad_comment: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Pending,
    /// It holds nodes and runs, or is about to.
    Running,
    /// It still holds nodes.
    Completing,
}

/// A node of the partition, and whether Slurm could start a job on it or it is taken by one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SlurmNode {
    pub(crate) name: NodeName,
    pub(crate) condition: Condition,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Condition {
    Idle,
    /// Some job holds it; jobs may be placed there when it is gone.
    Taken,
    /// Down, drained, reserved, not answering.
    Unavailable,
}

/// Everything that is read in a cycle.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ledger {
    pub(crate) nodes: Vec<SlurmNode>,
    pub(crate) jobs: Vec<SlurmJob>,
    /// What is not read as one of them, or only in part.
    pub(crate) unreadable: Vec<Unreadable>,
}

impl Ledger {
    /// Asks Slurm.
    pub(crate) fn read(config: &Config) -> Result<Ledger, SlurmError> {
        let partition = config.partition.as_str();
        let (nodes, bad_lines) = Ledger::read_nodes(partition)?;
        let mark = Mark::new()?;
        let (jobs, mut unreadable) = records::read(&Ledger::squeue(partition, &mark)?, &mark)?;
        unreadable.extend(bad_lines);
        let mut ledger = Ledger { nodes, jobs, unreadable };
        if !ledger.ownerless().is_empty() {
            // A line that cannot be read now makes its node unavailable.
            let (later, _) = Ledger::read_nodes(partition)?;
            ledger.read_again(later);
        }
        Ok(ledger)
    }

    fn squeue(partition: &str, mark: &Mark) -> Result<String, SlurmError> {
        let states = "PENDING,CONFIGURING,RUNNING,SUSPENDED,STOPPED,SIGNALING,STAGE_OUT,COMPLETING";
        let arguments = ["-h", "-r", "-p", partition, "-t", states];
        let format = mark.format();
        let environment = [("SQUEUE_FORMAT", format.as_str())];
        let (arguments, environment) = (&arguments, &environment);
        Call { question: Question::Jobs, arguments, environment }.answer(LIMITS)
    }

    fn read_nodes(partition: &str) -> Result<(Vec<SlurmNode>, Vec<Unreadable>), SlurmError> {
        nodes(&capture(Question::Nodes, &["-h", "-N", "-p", partition, "-o", "%N|%T"])?)
    }

    /// The nodes that are taken, but that no job read here holds or is to hold. If a record that
    /// may hold nodes cannot be read, every node counts as taken: it may be that job's.
    fn ownerless(&self) -> HashSet<NodeName> {
        let held: HashSet<&NodeName> =
            self.jobs.iter().flat_map(|job| job.held.iter().chain(&job.named)).collect();
        let all = self.unreadable.iter().any(Unreadable::may_hold_nodes);
        let taken = self.nodes.iter().filter(|node| all || node.condition == Condition::Taken);
        taken.map(|node| &node.name).filter(|name| !held.contains(name)).cloned().collect()
    }

    /// Takes the later conditions of the ownerless nodes.
    fn read_again(&mut self, later: Vec<SlurmNode>) {
        let ownerless = self.ownerless();
        let later: HashMap<NodeName, Condition> =
            later.into_iter().map(|node| (node.name, node.condition)).collect();
        for node in self.nodes.iter_mut().filter(|node| ownerless.contains(&node.name)) {
            node.condition = later.get(&node.name).copied().unwrap_or(Condition::Unavailable);
        }
    }
}

/// The nodes of `sinfo`'s lines, and the lines that are none. Nothing in them is a user's.
fn nodes(text: &str) -> Result<(Vec<SlurmNode>, Vec<Unreadable>), SlurmError> {
    if text.chars().next_back().is_some_and(|last| last != '\n') {
        return Err(SlurmError::Unreadable { command: "sinfo", fault: "it ends too early" });
    }
    let (mut nodes, mut unreadable) = (Vec::new(), Vec::new());
    for line in text.lines() {
        match node(line) {
            Some(node) => nodes.push(node),
            None => unreadable.push(Unreadable {
                job: None,
                fault: "the line of a node cannot be read",
                nodes: Vec::new(),
            }),
        }
    }
    Ok((nodes, unreadable))
}

fn node(line: &str) -> Option<SlurmNode> {
    let (name, state) = line.trim().split_once('|')?;
    let condition = match state {
        "idle" | "planned" => Condition::Idle,
        "allocated" | "mixed" | "completing" | "allocated+" => Condition::Taken,
        // A flag behind the state (* not answering, $ maintenance, ~ powered off, ...), or another.
        _ => Condition::Unavailable,
    };
    Some(SlurmNode { name: name.parse().ok()?, condition })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A job that runs on a node.
    fn runs(node: &str) -> SlurmJob {
        let fields = ["7", "R", "None", "1", "1", node, "", "1", "1:00", "1", "(null)", "(null)"];
        let text = format!("M{}M\n", fields.join("M"));
        records::read(&text, &Mark::of("M")).unwrap().0.remove(0)
    }

    #[test]
    fn nodes_of_a_job_that_ended_between_two_calls_are_read_again() {
        let nodes = |states: [&str; 3]| {
            let lines = states.iter().enumerate();
            lines.map(|(at, state)| node(&format!("n{at}|{state}")).unwrap()).collect()
        };
        let nodes_before = nodes(["allocated", "allocated", "idle"]);
        let mut ledger =
            Ledger { nodes: nodes_before, jobs: vec![runs("n0")], ..Ledger::default() };
        assert_eq!(ledger.ownerless(), HashSet::from(["n1".parse().unwrap()]));
        // What is later said of the others comes after the jobs that were read, and is not
        // believed.
        ledger.read_again(nodes(["idle", "idle", "allocated"]));
        let conditions: Vec<Condition> = ledger.nodes.iter().map(|node| node.condition).collect();
        assert_eq!(conditions, [Condition::Taken, Condition::Idle, Condition::Idle]);
    }

    #[test]
    fn where_a_record_cannot_be_read_nodes_are_free_only_if_they_are_free_afterwards() {
        let nodes = |text: &str| nodes(text).unwrap().0;
        let bad = Unreadable { job: None, fault: "its state", nodes: Vec::new() };
        let mut ledger = Ledger {
            nodes: nodes("n0|allocated\nn1|idle\nn2|idle\nn3|down\nn4|idle\n"),
            jobs: vec![runs("n0")],
            unreadable: vec![bad],
        };
        // The job that cannot be read has started on n1. Nothing is said of n4 any more.
        ledger.read_again(nodes("n0|idle\nn1|allocated\nn2|idle\nn3|idle\n"));
        let conditions: Vec<Condition> = ledger.nodes.iter().map(|node| node.condition).collect();
        let expected = [
            Condition::Taken,
            Condition::Taken,
            Condition::Idle,
            Condition::Idle,
            Condition::Unavailable,
        ];
        assert_eq!(conditions, expected);
    }

    #[test]
    fn a_line_of_sinfo_that_cannot_be_read_costs_its_node_alone() {
        let (read, unreadable) = nodes("n0|idle\n-n1|idle\nn2\n\nn3|idle\n").unwrap();
        assert_eq!(read.iter().map(|node| node.name.as_str()).collect::<Vec<_>>(), ["n0", "n3"]);
        assert_eq!(unreadable.len(), 3);
        // A sinfo that was killed has not said of its last node what it is.
        assert!(nodes("n0|idle\nn1|idl").is_err());
    }

    #[test]
    fn conditions_of_nodes() {
        let of = |state: &str| node(&format!("n1|{state}")).unwrap().condition;
        assert_eq!(of("idle"), Condition::Idle);
        assert_eq!(of("completing"), Condition::Taken);
        for state in ["idle*", "drained", "draining", "down", "maint", "reserved", "allocated$"] {
            assert_eq!(of(state), Condition::Unavailable, "{state}");
        }
    }
}
