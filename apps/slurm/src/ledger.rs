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

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use crate::ask::{Call, LIMITS, Question, capture};
use crate::demands::{self, Demands, Offer};
use crate::names::{JobName, Licences, NodeName, array_of, number};
use crate::records::{self, Mark, Unreadable};
use crate::reservations::{self, Reservation};
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
    pub(crate) partition: String,
    /// Empty where Slurm keeps no accounts.
    pub(crate) qos: String,
    pub(crate) account: String,
    /// The number of its user.
    pub(crate) user: u32,
    /// The reservation that it asks for; empty for none.
    pub(crate) reservation: String,
    /// What it demands of its nodes, or what of it is not understood.
    pub(crate) demands: Result<Demands, &'static str>,
    /// When it started, or may start.
    pub(crate) start: Option<u64>,
    /// Its time limit in seconds; `None` without one.
    pub(crate) limit: Option<u64>,
    /// When Slurm ends it, or ended it: its time limit behind its start, and later by the time in
    /// which it was suspended. `None` if Slurm does not say.
    pub(crate) end: Option<u64>,
    pub(crate) comment: String,
    /// The comment has control characters, which the gate refuses: the job is not placed.
    pub(crate) bad_comment: bool,
}

impl SlurmJob {
    /// When it has given its nodes back at the latest, as far as Slurm knows: a job that waits as
    /// if it started now. `None` if there is no such time.
    pub(crate) fn until(&self, now: u64) -> Option<u64> {
        let from = |start: u64| self.limit.map(|limit| start.saturating_add(limit));
        match self.phase {
            Phase::Pending => from(now),
            Phase::Running => self.end.or_else(|| from(self.start.unwrap_or(now))),
            Phase::Completing => Some(now + 1),
        }
    }

    /// The nodes that it holds, or is to hold.
    fn owned(&self) -> &[NodeName] {
        match self.phase {
            Phase::Pending => &self.named,
            Phase::Running | Phase::Completing => &self.held,
        }
    }
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
    pub(crate) offer: Offer,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Condition {
    Idle,
    /// Some job holds it; jobs may be placed there when it is gone.
    Taken,
    /// No job holds it, and jobs of its reservation alone may be placed there.
    Reserved,
    /// Slurm powers it off, and starts no job on it before that has ended; then it wakes it.
    PoweringOff,
    /// Down, drained, not answering.
    Unavailable,
}

/// What `sinfo` is asked for of each node: name, state, features, GRES, memory, processors, layout
/// of processors, temporary disk.
const FORMAT: &str = "%N|%T|%f|%G|%m|%c|%z|%d";

/// Everything that is read in a cycle.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ledger {
    pub(crate) nodes: Vec<SlurmNode>,
    pub(crate) jobs: Vec<SlurmJob>,
    /// What is not read as one of them, or only in part.
    pub(crate) unreadable: Vec<Unreadable>,
    pub(crate) reservations: Vec<Reservation>,
}

impl Ledger {
    /// Asks Slurm.
    pub(crate) fn read(config: &Config) -> Result<Ledger, SlurmError> {
        let partition = config.partition.as_str();
        let reservations = reservations::read(&capture(Question::Show, &["reservation", "-o"])?);
        let (nodes, bad_lines) = Ledger::read_nodes(partition)?;
        let active = "RUNNING,CONFIGURING,SUSPENDED,STOPPED,SIGNALING,STAGE_OUT,COMPLETING";
        let states = format!("PENDING,{active}");
        let (jobs, mut unreadable) = Ledger::squeue(&["-p", partition, "-t", &states])?;
        unreadable.extend(bad_lines);
        let mut ledger = Ledger { nodes, jobs, unreadable, reservations };
        if !ledger.ownerless().is_empty() {
            // A line that cannot be read now makes its node unavailable.
            let (later, _) = Ledger::read_nodes(partition)?;
            ledger.read_again(later);
        }
        if ledger.nodes.iter().any(|node| node.condition == Condition::Taken)
            && !ledger.ownerless().is_empty()
        {
            // Jobs of other partitions may hold them.
            let (all, _) = Ledger::squeue(&["-t", active])?;
            ledger.add_strangers(all);
        }
        Ok(ledger)
    }

    /// Finds the job that a text names. An array stands for its first task, of those that wait if
    /// any do, and a line about the array is returned with it; else that is empty.
    pub(crate) fn find(&self, text: &str) -> Option<(JobName, String)> {
        let is_known = |name: &JobName| {
            let unreadable = || self.unreadable.iter().any(|record| record.job == Some(*name));
            self.jobs.iter().any(|job| job.name == *name) || unreadable()
        };
        if let Some(name) = text.parse().ok().filter(is_known) {
            return Some((name, String::new()));
        }
        let array = array_of(text)?;
        let tasks = || self.jobs.iter().filter(|job| job.name.array() == Some(array));
        let holds = |job: &SlurmJob| job.phase != Phase::Pending;
        let order = |job: &&SlurmJob| (holds(job), Reverse(job.priority), job.name);
        let first = tasks().min_by_key(order)?;
        let holding = tasks().filter(|job| holds(job)).count();
        let waiting = tasks().count() - holding;
        let which = if holds(first) { "running" } else { "waiting" };
        let name = first.name;
        Some((
            name,
            format!(
                "Tasks of array {array}: {waiting} waiting, {holding} running. The first {which} \
                 one is {name}.\n"
            ),
        ))
    }

    /// Adds jobs of other partitions that hold nodes of this one.
    fn add_strangers(&mut self, jobs: Vec<SlurmJob>) {
        let ownerless = self.ownerless();
        self.jobs.extend(jobs.into_iter().filter(|job| {
            !job.held.is_empty() && job.held.iter().any(|node| ownerless.contains(node))
        }));
    }

    fn squeue(which: &[&str]) -> Result<(Vec<SlurmJob>, Vec<Unreadable>), SlurmError> {
        let mark = Mark::new()?;
        let arguments = [&["-h", "-r", "--noconvert"], which].concat();
        let format = mark.format();
        let environment = [("SQUEUE_FORMAT", format.as_str())];
        let (arguments, environment) = (&arguments, &environment);
        let said = Call { question: Question::Jobs, arguments, environment }.answer(LIMITS)?;
        records::read(&said, &mark)
    }

    fn read_nodes(partition: &str) -> Result<(Vec<SlurmNode>, Vec<Unreadable>), SlurmError> {
        nodes(&capture(Question::Nodes, &["-h", "-N", "-p", partition, "-o", FORMAT])?)
    }

    /// The nodes that are taken, but that no job read here holds or is to hold. What an ending job
    /// has given back still stands among the nodes that it asked for. If a record that may hold
    /// nodes cannot be read, every node counts as taken: it may be that job's.
    fn ownerless(&self) -> HashSet<NodeName> {
        let held: HashSet<&NodeName> = self.jobs.iter().flat_map(SlurmJob::owned).collect();
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
    let mut seen = HashSet::new();
    for line in text.lines() {
        match node(line) {
            // Of several partitions, each has its nodes in a line of its own.
            Some(node) if !seen.insert(node.name.clone()) => {}
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
    let fields: Vec<&str> = line.trim().split('|').collect();
    let [name, state, features, gres, memory, cpus, layout, disk] = fields[..] else {
        return None;
    };
    Some(SlurmNode {
        name: name.parse().ok()?,
        condition: condition(state),
        offer: Offer {
            // What of it is not understood serves no job that asks for it.
            features: demands::features(features).unwrap_or_default(),
            gres: demands::gres(gres).unwrap_or_default(),
            memory: demands::mebibytes(memory)?,
            cpus: number(cpus)?,
            layout: demands::layout(layout)?,
            disk: demands::mebibytes(disk)?,
        },
    })
}

/// What a state of Slurm's means, with the flags behind it. A node with `~` is powered off, and
/// Slurm powers it on for a job. One with `#` is being powered on, and its job starts then. One
/// with `%` is being powered off, and one with `!` will be when its job has ended, also if it
/// drains until then. One with `-` is planned for a job. All other flags (`*` not answering, `$` in
/// maintenance, `@` to be rebooted, ...) keep jobs away.
fn condition(state: &str) -> Condition {
    let flags = ['*', '~', '#', '!', '%', '$', '@', '^', '-', '+'];
    let base = state.trim_end_matches(flags);
    let flags = &state[base.len()..];
    let only = |harmless: &str| flags.chars().all(|flag| harmless.contains(flag));
    match base {
        "idle" | "planned" if only("~#-") => Condition::Idle,
        "idle" | "planned" if only("%!-") => Condition::PoweringOff,
        "reserved" | "maint" if only("~#-") => Condition::Reserved,
        "allocated" | "mixed" | "completing" if only("~#!-+") => Condition::Taken,
        "draining" if flags == "!" => Condition::Taken,
        _ => Condition::Unavailable,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A job that runs on a node.
    fn runs(node: &str) -> SlurmJob {
        let fields = ["7", "R", "None", "1", "1", node, "", "1", "1:00", "1", "(null)"];
        let text = records::tests::line(&records::tests::with_demands(&fields), "(null)");
        records::read(&text, &Mark::of(records::tests::MARK)).unwrap().0.remove(0)
    }

    #[test]
    fn an_array_is_found_by_its_number() {
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
        let found = |text: &str| ledger.find(text).map(|(name, line)| (name.to_string(), line));
        let seven = "Tasks of array 7: 3 waiting, 1 running. The first waiting one is 7_3.\n";
        for text in ["7", "7_[2-10%2]"] {
            assert_eq!(found(text), Some(("7_3".into(), seven.into())));
        }
        assert_eq!(found("7_2"), Some(("7_2".into(), String::new())));
        let eight = "Tasks of array 8: 0 waiting, 1 running. The first running one is 8_4.\n";
        assert_eq!(found("8"), Some(("8_4".into(), eight.into())));
        assert_eq!(found("6").unwrap().1, "");
        assert_eq!(["5", "7_9", "6_[1]", "x"].map(found), [const { None }; 4]);
    }

    /// What `sinfo` prints of a node.
    fn line(name: &str, state: &str) -> String {
        format!("{name}|{state}|(null)|(null)|100|1|1:1:1|0\n")
    }

    /// What `sinfo` prints of nodes, each given as its name and state.
    fn lines(nodes: &str) -> String {
        let nodes = nodes.lines().map(|node| match node.split_once('|') {
            Some((name, state)) => line(name, state),
            None => format!("{node}\n"),
        });
        nodes.collect()
    }

    /// A job whose gate was open asked for its nodes by name. All but one are back when the jobs
    /// are read, and were taken when the nodes were.
    #[test]
    fn nodes_that_an_ending_job_has_given_back_are_read_again() {
        let names = |text: &str| crate::hosts::expand(text).unwrap();
        let ends = SlurmJob { phase: Phase::Completing, named: names("n[1-3]"), ..runs("n1") };
        let read = |text: &str| nodes(&lines(text)).unwrap().0;
        let before = read("n1|completing\nn2|completing\nn3|completing\n");
        let mut ledger = Ledger { nodes: before, jobs: vec![ends], ..Ledger::default() };
        assert_eq!(ledger.ownerless(), names("n[2-3]").into_iter().collect());
        ledger.read_again(read("n1|completing\nn2|idle\nn3|idle\n"));
        assert!(ledger.ownerless().is_empty());
        let waits = SlurmJob { phase: Phase::Pending, held: Vec::new(), ..ledger.jobs[0].clone() };
        let before = read("n1|allocated\nn2|allocated\nn3|allocated\n");
        let ledger = Ledger { nodes: before, jobs: vec![waits], ..Ledger::default() };
        assert!(ledger.ownerless().is_empty(), "it is about to have them");
    }

    #[test]
    fn nodes_of_a_job_that_ended_between_two_calls_are_read_again() {
        let nodes = |states: [&str; 3]| {
            let lines = states.iter().enumerate();
            lines.map(|(at, state)| node(&line(&format!("n{at}"), state)).unwrap()).collect()
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
        let nodes = |text: &str| nodes(&lines(text)).unwrap().0;
        let bad = Unreadable { job: None, fault: "its state", nodes: Vec::new() };
        let mut ledger = Ledger {
            nodes: nodes("n0|allocated\nn1|idle\nn2|idle\nn3|down\nn4|idle\n"),
            jobs: vec![runs("n0")],
            unreadable: vec![bad],
            ..Ledger::default()
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
        let (read, unreadable) = nodes(&lines("n0|idle\n-n1|idle\nn2\n\nn3|idle")).unwrap();
        assert_eq!(read.iter().map(|node| node.name.as_str()).collect::<Vec<_>>(), ["n0", "n3"]);
        assert_eq!(unreadable.len(), 3);
        // A sinfo that was killed has not said of its last node what it is.
        assert!(nodes("n0|idle\nn1|idl").is_err());
    }

    #[test]
    fn a_node_of_two_partitions_is_one_node() {
        let (read, unreadable) = nodes(&lines("n0|idle\nn0|idle\nn1|idle\nn1|idle")).unwrap();
        assert_eq!((read.len(), unreadable.len()), (2, 0));
    }

    #[test]
    fn conditions_of_nodes() {
        for (states, condition) in [
            (&["idle", "idle~", "idle#", "idle-", "planned"][..], Condition::Idle),
            (&["reserved", "maint", "maint~"], Condition::Reserved),
            (&["completing", "allocated", "allocated#", "allocated+", "mixed"], Condition::Taken),
            (&["allocated!", "mixed!", "completing!", "draining!"], Condition::Taken),
            (&["idle%", "idle!", "planned%"], Condition::PoweringOff),
            (&["idle*", "drained", "draining", "down~", "drained%"], Condition::Unavailable),
            (&["down", "allocated$", "reserved*", "reserved%", "", "~"], Condition::Unavailable),
        ] {
            for state in states {
                assert_eq!(super::condition(state), condition, "{state}");
            }
        }
    }
}
