//! What Slurm says: nodes and active jobs of the partition.
//!
//! `squeue -o` takes some 40 ms with 1,500 jobs, `--json` many times that. Nodes are read before
//! jobs: the other way round a node could look free that has just been given away. The nodes of a
//! job that ends in between are read once more. Without that they would count as another
//! partition's, for which no end is known, and a large box that needs them would have no
//! reservation in this cycle.

use std::collections::{HashMap, HashSet};
use std::process::{Command, Stdio};

use crate::{Config, LICENCE, SlurmError, hosts};

/// A job that waits, runs or ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SlurmJob {
    /// How it is addressed: `7`, or `7_3` for a task of an array.
    pub(crate) name: String,
    /// When it was submitted, or last requeued; with the name, its identity: numbers may be used
    /// again.
    pub(crate) submitted: u64,
    pub(crate) phase: Phase,
    /// Slurm's word for why it waits.
    pub(crate) reason: String,
    pub(crate) priority: u64,
    pub(crate) nodes: u32,
    /// The nodes that it holds.
    pub(crate) held: Vec<String>,
    /// The nodes that were named for it.
    pub(crate) named: Vec<String>,
    pub(crate) licences: String,
    /// When it started, or may start.
    pub(crate) start: Option<u64>,
    /// Its time limit in seconds; `None` without one.
    pub(crate) limit: Option<u64>,
    pub(crate) comment: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Pending,
    /// It holds nodes and runs, or is about to.
    Running,
    /// It still holds nodes.
    Completing,
}

impl SlurmJob {
    /// Whether it waits for the licence.
    pub(crate) fn gated(&self) -> bool {
        self.licences.split(',').any(|one| one.split(':').next() == Some(LICENCE))
    }

    /// Its other licences.
    pub(crate) fn other_licences(&self) -> String {
        let others = self.licences.split(',').filter(|one| {
            !one.is_empty() && *one != "(null)" && one.split(':').next() != Some(LICENCE)
        });
        others.collect::<Vec<_>>().join(",")
    }
}

/// A node of the partition, and whether Slurm could start a job on it or it is taken by one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SlurmNode {
    pub(crate) name: String,
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
}

impl Ledger {
    /// Asks Slurm.
    pub(crate) fn read(config: &Config) -> Result<Ledger, SlurmError> {
        let partition = config.partition.as_str();
        let nodes = Ledger::read_nodes(partition)?;
        let states = "PENDING,CONFIGURING,RUNNING,SUSPENDED,STOPPED,SIGNALING,STAGE_OUT,COMPLETING";
        let fields = "%i|%t|%r|%Q|%D|%N|%n|%S|%l|%V|%W|%k";
        let arguments = ["-h", "-r", "-p", partition, "-t", states, "-o", fields];
        let jobs = capture("squeue", &arguments)?;
        let jobs = jobs.lines().map(job).collect::<Result<_, _>>()?;
        let mut ledger = Ledger { nodes, jobs };
        if !ledger.ownerless().is_empty() {
            ledger.read_again(Ledger::read_nodes(partition)?);
        }
        Ok(ledger)
    }

    fn read_nodes(partition: &str) -> Result<Vec<SlurmNode>, SlurmError> {
        let nodes = capture("sinfo", &["-h", "-N", "-p", partition, "-o", "%N|%T"])?;
        nodes.lines().map(node).collect()
    }

    /// The nodes that are taken, but held by no job that was read.
    fn ownerless(&self) -> HashSet<String> {
        let held: HashSet<&String> =
            self.jobs.iter().flat_map(|job| job.held.iter().chain(&job.named)).collect();
        let taken = self.nodes.iter().filter(|node| node.condition == Condition::Taken);
        taken.map(|node| &node.name).filter(|name| !held.contains(name)).cloned().collect()
    }

    /// Takes the later conditions of the ownerless nodes.
    fn read_again(&mut self, later: Vec<SlurmNode>) {
        let ownerless = self.ownerless();
        let later: HashMap<String, Condition> =
            later.into_iter().map(|node| (node.name, node.condition)).collect();
        for node in self.nodes.iter_mut().filter(|node| ownerless.contains(&node.name)) {
            node.condition = later.get(&node.name).copied().unwrap_or(Condition::Unavailable);
        }
    }
}

/// Runs a command of Slurm's, and returns what it prints.
pub(crate) fn capture(command: &'static str, arguments: &[&str]) -> Result<String, SlurmError> {
    let output = Command::new(command)
        .args(arguments)
        .env("SLURM_TIME_FORMAT", "%s")
        .env("SLURM_BITSTR_LEN", "0")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| SlurmError::Command { command, error })?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr).trim().to_string();
        return Err(SlurmError::Failed { command, message });
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn node(line: &str) -> Result<SlurmNode, SlurmError> {
    let unreadable = || SlurmError::Unreadable { command: "sinfo", line: line.to_string() };
    let (name, state) = line.trim().split_once('|').ok_or_else(unreadable)?;
    let condition = match state {
        "idle" | "planned" => Condition::Idle,
        "allocated" | "mixed" | "completing" | "allocated+" => Condition::Taken,
        // A flag behind the state (* not answering, $ maintenance, ~ powered off, ...), or another.
        _ => Condition::Unavailable,
    };
    Ok(SlurmNode { name: name.to_string(), condition })
}

fn job(line: &str) -> Result<SlurmJob, SlurmError> {
    let unreadable = || SlurmError::Unreadable { command: "squeue", line: line.to_string() };
    let fields: Vec<&str> = line.splitn(12, '|').collect();
    let [
        name,
        state,
        reason,
        priority,
        nodes,
        held,
        named,
        start,
        limit,
        submitted,
        licences,
        comment,
    ] = fields[..]
    else {
        return Err(unreadable());
    };
    let phase = match state {
        "PD" => Phase::Pending,
        "CG" => Phase::Completing,
        _ => Phase::Running,
    };
    let list = |text: &str| match text {
        "" | "(null)" | "None assigned" => Some(Vec::new()),
        text => hosts::expand(text),
    };
    Ok(SlurmJob {
        name: name.to_string(),
        submitted: submitted.parse().map_err(|_| unreadable())?,
        phase,
        reason: reason.to_string(),
        priority: priority.parse().map_err(|_| unreadable())?,
        nodes: nodes.parse().map_err(|_| unreadable())?,
        held: list(held).ok_or_else(unreadable)?,
        named: list(named).ok_or_else(unreadable)?,
        licences: licences.replace("(null)", ""),
        start: start.parse().ok(),
        limit: time_limit(limit),
        comment: comment.replace("(null)", ""),
    })
}

/// Seconds of `days-hours:minutes:seconds`, its shorter forms included.
fn time_limit(text: &str) -> Option<u64> {
    let (days, rest) = match text.split_once('-') {
        Some((days, rest)) => (days.parse::<u64>().ok()?, rest),
        None => (0, text),
    };
    let parts = rest.split(':').map(|part| part.parse::<u64>().ok());
    let parts = parts.collect::<Option<Vec<u64>>>()?;
    let seconds = match (parts[..].len(), text.contains('-')) {
        (1, false) => parts[0] * 60,
        (1, true) => parts[0] * 3600,
        (2, true) => parts[0] * 3600 + parts[1] * 60,
        (2, false) => parts[0] * 60 + parts[1],
        (3, _) => parts[0] * 3600 + parts[1] * 60 + parts[2],
        _ => return None,
    };
    Some(days * 86_400 + seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_squeue_are_read() {
        let line = "3_1|PD|Licenses|4294901757|4||n[02-03]|N/A|1-00:00:00|1795311390|matlab:2,pavior:1|shape=2x2 a|b";
        let read = job(line).unwrap();
        assert_eq!((read.name.as_str(), read.phase, read.nodes), ("3_1", Phase::Pending, 4));
        assert_eq!((read.named.len(), read.limit, read.start), (2, Some(86_400), None));
        assert!(read.gated() && read.other_licences() == "matlab:2");
        assert_eq!(read.comment, "shape=2x2 a|b");
        assert!(job("3|PD").is_err());
    }

    #[test]
    fn time_limits_are_read() {
        let all = ["30", "1:30", "2:00:00", "1-00", "1-12:30", "UNLIMITED", "NOT_SET"];
        let read = all.map(time_limit);
        let some = [1800, 90, 7200, 86_400, 131_400].map(Some);
        assert_eq!(read[..5], some);
        assert_eq!(read[5..], [None, None]);
    }

    #[test]
    fn nodes_of_a_job_that_ended_between_two_calls_are_read_again() {
        let nodes = |states: [&str; 3]| {
            let lines = states.iter().enumerate();
            lines.map(|(at, state)| node(&format!("n{at}|{state}")).unwrap()).collect()
        };
        let runs = job("7|R|None|1|1|n0||1|1:00|1|(null)|").unwrap();
        let mut ledger =
            Ledger { nodes: nodes(["allocated", "allocated", "idle"]), jobs: vec![runs] };
        assert_eq!(ledger.ownerless(), HashSet::from(["n1".to_string()]));
        // What is later said of the others comes after the jobs that were read, and is not
        // believed.
        ledger.read_again(nodes(["idle", "idle", "allocated"]));
        let conditions: Vec<Condition> = ledger.nodes.iter().map(|node| node.condition).collect();
        assert_eq!(conditions, [Condition::Taken, Condition::Idle, Condition::Idle]);
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
