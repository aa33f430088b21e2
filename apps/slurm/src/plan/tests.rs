//! Tests for cycles with constructed ledgers. The machine has rows n0 to n3 and n4 to n7.

use super::*;
use crate::Config;
use crate::ledger::demands::Offer;
use crate::ledger::records::Unreadable;
use crate::ledger::reservations::Reservation;
use crate::ledger::usage::Usage;
use crate::ledger::{Condition, Ledger, SlurmNode};
use crate::names::{Licenses, NodeName};
use crate::plan::change::Priority;
use crate::plan::request::shaper;

fn config(order: &str) -> Config {
    Config::with_lines("mesh:4x2", &format!("order = \"{order}\"\n"))
}

fn ledger(jobs: Vec<SlurmJob>) -> Ledger {
    let held: Vec<&NodeName> = jobs.iter().flat_map(|job| &job.held_nodes).collect();
    let node = |name: NodeName| {
        let condition = if held.contains(&&name) { Condition::Taken } else { Condition::Idle };
        SlurmNode { condition, name, offer: Offer::default() }
    };
    let nodes = names(&[0, 1, 2, 3, 4, 5, 6, 7]).into_iter().map(node).collect();
    Ledger { nodes, jobs, ..Ledger::default() }
}

fn job(name: &str, nodes: u32, priority: u64) -> SlurmJob {
    SlurmJob { priority, limit: Some(60), ..SlurmJob::waiting(name, nodes) }
}

fn names(nodes: &[u32]) -> Vec<NodeName> {
    nodes.iter().map(|node| format!("n{node}").parse().unwrap()).collect()
}

fn job_name(job: &str) -> JobName {
    job.parse().unwrap()
}

fn shaped(name: &str, shape: &str, nodes: u32, priority: u64) -> SlurmJob {
    SlurmJob { comment: Ok(format!("shape={shape}")), ..job(name, nodes, priority) }
}

fn running(name: &str, shape: &str, held: &[u32], limit: u64) -> SlurmJob {
    SlurmJob {
        phase: Phase::Running,
        licenses: Licenses::default(),
        held_nodes: names(held),
        start: Some(1000),
        limit: Some(limit),
        ..shaped(name, shape, held.len() as u32, 1)
    }
}

fn opened(name: &str, shape: &str, nodes: u32, named: &[u32]) -> SlurmJob {
    SlurmJob {
        licenses: Licenses::default(),
        requested_nodes: names(named),
        ..shaped(name, shape, nodes, 1)
    }
}

struct Run {
    config: Config,
    memory: Memory,
    site: Site,
    usage: Usage,
}

impl Run {
    fn new(order: &str) -> Run {
        let site = Site { is_fifo: true, ..Site::default() };
        Run { config: config(order), memory: Memory::default(), site, usage: Usage::default() }
    }

    fn decide(&mut self, ledger: &Ledger, now: u64) -> Decision {
        let mut shaper = shaper(&self.config.grid);
        let world = World { config: &self.config, ledger, now };
        let rules = Rules { site: &self.site, usage: &self.usage };
        decide(world, rules, &mut shaper, &mut self.memory).unwrap()
    }

    /// Returns a cycle's changes, without notes.
    fn at(&mut self, ledger: &Ledger, now: u64) -> Vec<Change> {
        let changes = self.decide(ledger, now).changes.into_iter();
        changes.filter(|change| !matches!(change, Change::Comment { .. })).collect()
    }
}

/// Returns the note for a job.
fn note_for(decision: &Decision, job: &str) -> String {
    let notes = decision.changes.iter().filter_map(|change| match change {
        Change::Comment { job: other, comment } if *other == job_name(job) => {
            Some(comment.as_str())
        }
        _ => None,
    });
    notes.collect()
}

/// Returns the opened gates, each in the form `JOB NODES`.
fn opened_gates(changes: &[Change]) -> Vec<String> {
    let open = |change: &Change| match change {
        Change::Open { job, nodes, .. } => {
            let nodes: Vec<&str> = nodes.iter().map(NodeName::as_str).collect();
            Some(format!("{job} {}", nodes.join(",")))
        }
        _ => None,
    };
    changes.iter().filter_map(open).collect()
}

/// Returns the gates opened in a daemon's first cycle.
fn opened_first(order: &str, ledger: &Ledger) -> Vec<String> {
    opened_gates(&Run::new(order).at(ledger, 1000))
}

/// Returns true if the closing of a job's gate is the only change.
fn only_closes(changes: &[Change], job: &str) -> bool {
    matches!(changes, [Change::Close { job: other, .. }] if *other == job_name(job))
}

#[test]
fn jobs_start_in_slurms_order() {
    let jobs = ledger(vec![job("1", 1, 5), shaped("2_3", "2x2", 4, 9), job("3", 3, 7)]);
    // Job 3 needs a row of three nodes, but only two nodes are left in each row.
    let strict = opened_first("strict", &jobs);
    assert_eq!(strict, ["2_3 n0,n1,n4,n5"], "the next in order does not fit");
    assert_eq!(opened_first("fit", &jobs), ["2_3 n0,n1,n4,n5", "1 n2"]);
}

#[test]
fn backfilling_does_not_delay_the_first_job() {
    // Nodes n0 to n3 are in use for 60 s, and the first job needs the whole machine.
    let held = running("9", "4x1", &[0, 1, 2, 3], 60);
    let long = SlurmJob { limit: Some(600), ..shaped("2", "2x1", 2, 5) };
    let jobs = vec![held, shaped("1", "4x2", 8, 9), long, shaped("3", "2x1", 2, 4)];
    assert_eq!(opened_first("easy", &ledger(jobs)), ["3 n4,n5"]);
}

#[test]
fn jobs_held_back_by_slurm_are_not_changed() {
    let reasons =
        ["Dependency", "JobHeldUser", "JobHeldAdmin", "PartitionDown", "QOSMaxJobsPerUser"];
    for reason in reasons {
        let held = SlurmJob { reason: reason.into(), ..shaped("1", "2x2", 4, 9) };
        assert!(Run::new("easy").at(&ledger(vec![held]), 1000).is_empty(), "{reason}");
    }
    // Slurm has not examined the job since it was changed.
    let unseen = SlurmJob { start: Some(1005), reason: "None".into(), ..shaped("1", "2x2", 4, 9) };
    assert!(Run::new("easy").at(&ledger(vec![unseen.clone()]), 1000).is_empty());
    let later = SlurmJob { reason: "BeginTime".into(), start: Some(1001), ..unseen };
    let later = ledger(vec![later]);
    assert!(Run::new("easy").at(&later, 1000).is_empty());
    assert_eq!(opened_gates(&Run::new("easy").at(&later, 1001)).len(), 1);
}

#[test]
fn unavailable_nodes_are_not_used() {
    let mut state = ledger(vec![shaped("1", "2x2", 4, 9)]);
    state.nodes[0].condition = Condition::Unavailable;
    // A job in another partition holds this node.
    state.nodes[2].condition = Condition::Taken;
    assert!(opened_first("easy", &state).is_empty());
    state.nodes[2].condition = Condition::Idle;
    assert_eq!(opened_first("easy", &state), ["1 n1,n2,n5,n6"]);
    // A node that Slurm does not list is unavailable, too.
    state.nodes.remove(1);
    assert_eq!(opened_first("easy", &state), ["1 n2,n3,n6,n7"]);
}

#[test]
fn a_job_with_the_reason_node_down_starts_once_the_nodes_are_idle() {
    let down = "Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority \
                partitions";
    for reason in [down, "ReqNodeNotAvail, UnavailableNodes:n0", &down.replace(' ', "_")] {
        let waits = SlurmJob { reason: reason.into(), ..shaped("1", "4x2", 8, 9) };
        let mut run = Run::new("easy");
        let mut state = ledger(vec![waits]);
        state.nodes[0].condition = Condition::Unavailable;
        let note = note_for(&run.decide(&state, 1000), "1");
        let words = "cannot start until the unavailable node in 4x2 at 0,0 is back";
        assert!(note.contains(words), "{note}");
        state.nodes[0].condition = Condition::Idle;
        assert_eq!(opened_gates(&run.at(&state, 1001)).len(), 1);
    }
}

#[test]
fn an_obstructed_gate_closes_and_keeps_its_nodes_for_a_cycle() {
    for (named, broken) in [(&[0, 1, 4, 5][..], Some(0)), (&[0, 1, 4], None), (&[0, 1, 2, 3], None)]
    {
        let mut state = ledger(vec![opened("1", "2x2", 4, named)]);
        if let Some(node) = broken {
            state.nodes[node as usize].condition = Condition::Unavailable;
        }
        let changes = Run::new("easy").at(&state, 1000);
        assert!(only_closes(&changes, "1"), "{named:?}: {changes:?}");
    }
    // A running job holds a node on which another job's gate is open.
    let jobs = vec![opened("1", "2x1", 2, &[0, 1]), running("2", "1x1", &[1], 60)];
    assert!(only_closes(&Run::new("easy").at(&ledger(jobs), 1000), "1"));
}

#[test]
fn a_gate_closes_after_patience_which_a_new_daemon_restarts() {
    let state = ledger(vec![opened("1", "2x2", 4, &[0, 1, 4, 5]), shaped("2", "4x2", 8, 3)]);
    let mut run = Run::new("easy");
    assert!(run.at(&state, 1000).is_empty());
    assert!(run.at(&state, 1009).is_empty());
    let closed = run.at(&state, 1010);
    assert!(matches!(&closed[..], [Change::Close { wait_s: Some(10), .. }]), "{closed:?}");
    // The daemon is killed and loses its memory, so the timeouts restart.
    let mut next = Run::new("easy");
    assert!(next.at(&state, 1012).is_empty());
}

#[test]
fn patience_is_longer_until_slurm_has_examined_the_job() {
    let closes = |reason: &str, licenses: &str, now| {
        let mut run = Run::new("easy");
        run.site.examination_s = 40;
        let open = SlurmJob {
            reason: reason.into(),
            licenses: licenses.parse().unwrap(),
            ..opened("1", "2x2", 4, &[0, 1, 4, 5])
        };
        let state = ledger(vec![open]);
        assert!(run.at(&state, 1000).is_empty());
        !run.at(&state, now).is_empty()
    };
    for unseen in ["None", "Licenses", "Priority"] {
        assert!(!closes(unseen, "(null)", 1039) && closes(unseen, "(null)", 1040), "{unseen}");
    }
    assert!(closes("Resources", "(null)", 1010) && closes("Licenses", "matlab:1", 1010));
}

/// Returns a ledger with a job that was requeued while its gate was open.
fn requeued() -> Ledger {
    let (reason, start) = ("BeginTime".into(), Some(1120));
    ledger(vec![SlurmJob { reason, start, ..opened("1", "2x2", 4, &[0, 1, 4, 5]) }])
}

#[test]
fn requeued_and_ungated_jobs_are_gated() {
    let changes = Run::new("easy").at(&requeued(), 1000);
    assert!(matches!(&changes[..], [Change::Close { wait_s: Some(10), .. }]), "{changes:?}");
    let licenses = "matlab:1".parse().unwrap();
    let ungated = SlurmJob { licenses, ..shaped("2", "2x2", 4, 77) };
    let changes = Run::new("easy").at(&ledger(vec![ungated]), 1000);
    let close = Change::Close {
        job: job_name("2"),
        licenses: "matlab:1,pavior:1".parse().unwrap(),
        wait_s: None,
        priority: Priority::Fixed(77),
    };
    assert_eq!(changes, [close]);
}

#[test]
fn a_closed_gate_stays_closed_for_the_cooldown() {
    let mut run = Run::new("easy");
    assert_eq!(run.at(&requeued(), 1000).len(), 1);
    let closed = ledger(vec![shaped("1", "2x2", 4, 9)]);
    assert!(run.at(&closed, 1009).is_empty());
    assert_eq!(opened_gates(&run.at(&closed, 1010)).len(), 1);
}

#[test]
fn a_job_on_wrong_nodes_is_requeued_once() {
    let state = ledger(vec![running("1", "2x2", &[0, 1, 2, 3], 60)]);
    let mut run = Run::new("easy");
    assert_eq!(run.at(&state, 1001), [Change::Requeue { job: job_name("1") }]);
    assert!(run.at(&state, 1002).is_empty());
    // A job that has been running for a while may have been shrunk, so it is not requeued.
    assert!(Run::new("easy").at(&state, 2000).is_empty());
}

#[test]
fn a_reused_number_is_a_different_job() {
    let mut run = Run::new("easy");
    let state = ledger(vec![opened("1", "2x2", 4, &[0, 1, 4, 5])]);
    assert!(run.at(&state, 1000).is_empty());
    let again = SlurmJob { submitted: 1005, ..state.jobs[0].clone() };
    assert!(run.at(&ledger(vec![again]), 1011).is_empty(), "its patience begins when it is seen");
}

#[test]
fn nodes_held_by_two_jobs_are_reported() {
    let jobs = vec![running("1", "2x1", &[0, 1], 60), running("2", "2x1", &[1, 2], 60)];
    let decision = Run::new("easy").decide(&ledger(jobs), 5000);
    assert_eq!(decision.overlaps, [NodeId(1)]);
    // Slurm lets a job start before the job that it preempts has completely ended.
    let ends = SlurmJob { phase: Phase::Completing, ..running("1", "2x1", &[0, 1], 60) };
    let jobs = vec![ends, running("2", "2x1", &[1, 2], 60)];
    assert!(Run::new("easy").decide(&ledger(jobs), 5000).overlaps.is_empty());
}

#[test]
fn a_malformed_record_reserves_its_nodes_only() {
    // Slurm reports n0 and n1 as idle, but they are named in a malformed job record.
    let mut state = ledger(vec![shaped("1", "2x2", 4, 9), shaped("2", "2x1", 2, 8)]);
    state.unreadable = vec![Unreadable {
        job: Some(job_name("7")),
        nodes: names(&[0, 1]),
        ..Unreadable::new("its licenses cannot be parsed")
    }];
    // The 2x1 box is rotated.
    assert_eq!(opened_first("easy", &state), ["1 n2,n3,n6,n7", "2 n4,n5"]);
}

mod answers;
mod ends;
mod held_back;
mod preempting;
mod reservations;
mod why;
