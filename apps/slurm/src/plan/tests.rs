//! Tests of race conditions with constructed ledgers.

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

const CONFIG: &str =
    "machine = \"mesh:4x2\"\nnodes = \"n{}\"\npartition = \"p\"\norder = \"ORDER\"\n";

fn config(order: &str) -> Config {
    Config::parse(&CONFIG.replace("ORDER", order)).unwrap()
}

fn ledger(jobs: Vec<SlurmJob>) -> Ledger {
    let held: Vec<&NodeName> = jobs.iter().flat_map(|job| &job.held).collect();
    let condition = |name: &NodeName| {
        if held.contains(&name) { Condition::Taken } else { Condition::Idle }
    };
    let nodes = names(&[0, 1, 2, 3, 4, 5, 6, 7]).into_iter();
    let nodes = nodes
        .map(|name| SlurmNode { condition: condition(&name), name, offer: Offer::default() })
        .collect();
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
    SlurmJob { comment: format!("shape={shape}"), ..job(name, nodes, priority) }
}

fn running(name: &str, shape: &str, held: &[u32], limit: u64) -> SlurmJob {
    SlurmJob {
        phase: Phase::Running,
        licenses: Licenses::default(),
        held: names(held),
        start: Some(1000),
        limit: Some(limit),
        ..shaped(name, shape, held.len() as u32, 1)
    }
}

fn opened(name: &str, shape: &str, nodes: u32, named: &[u32]) -> SlurmJob {
    SlurmJob { licenses: Licenses::default(), named: names(named), ..shaped(name, shape, nodes, 1) }
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

/// Returns `JOB NODES` for each opened gate.
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

#[test]
fn jobs_start_in_slurms_order() {
    let jobs = vec![job("1", 1, 5), shaped("2_3", "2x2", 4, 9), job("3", 3, 7)];
    let changes = Run::new("strict").at(&ledger(jobs), 1000);
    // Job 3 needs a row of three nodes, but only two nodes are left in each row.
    assert_eq!(opened_gates(&changes)[0], "2_3 n0,n1,n4,n5");
    assert_eq!(opened_gates(&changes).len(), 1, "strict: the next in order does not fit");
    let jobs = vec![job("1", 1, 5), shaped("2_3", "2x2", 4, 9), job("3", 3, 7)];
    let changes = Run::new("fit").at(&ledger(jobs), 1000);
    assert_eq!(opened_gates(&changes), ["2_3 n0,n1,n4,n5", "1 n2"]);
}

#[test]
fn backfilling_does_not_delay_the_first_job() {
    // Nodes n0 to n3 are held for 60 s, and the first job needs the whole machine.
    let held = || running("9", "4x1", &[0, 1, 2, 3], 60);
    let mut long = shaped("2", "2x1", 2, 5);
    long.limit = Some(600);
    let short = shaped("3", "2x1", 2, 4);
    let jobs = vec![held(), shaped("1", "4x2", 8, 9), long, short];
    let changes = Run::new("easy").at(&ledger(jobs), 1000);
    assert_eq!(opened_gates(&changes), ["3 n4,n5"]);
}

#[test]
fn unavailable_nodes_are_not_used() {
    let mut state = ledger(vec![shaped("1", "2x2", 4, 9)]);
    state.nodes[0].condition = Condition::Unavailable;
    // A job in another partition holds this node.
    state.nodes[2].condition = Condition::Taken;
    assert!(opened_gates(&Run::new("easy").at(&state, 1000)).is_empty());
    state.nodes[2].condition = Condition::Idle;
    assert_eq!(opened_gates(&Run::new("easy").at(&state, 1000)), ["1 n1,n2,n5,n6"]);
    // A node that Slurm does not list is unavailable, too.
    state.nodes.remove(1);
    assert_eq!(opened_gates(&Run::new("easy").at(&state, 1000)), ["1 n2,n3,n6,n7"]);
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
        let is_close =
            |change: &Change| matches!(change, Change::Close { job, .. } if *job == job_name("1"));
        assert!(changes.len() == 1 && is_close(&changes[0]), "{named:?}: {changes:?}");
    }
    // A running job holds a node on which another job's gate is open.
    let jobs = vec![opened("1", "2x1", 2, &[0, 1]), running("2", "1x1", &[1], 60)];
    let changes = Run::new("easy").at(&ledger(jobs), 1000);
    assert!(matches!(&changes[..], [Change::Close { job, .. }] if *job == job_name("1")));
}

#[test]
fn a_gate_closes_after_patience_which_a_new_daemon_restarts() {
    let state = ledger(vec![opened("1", "2x2", 4, &[0, 1, 4, 5]), shaped("2", "4x2", 8, 3)]);
    let mut run = Run::new("easy");
    assert!(run.at(&state, 1000).is_empty());
    assert!(run.at(&state, 1009).is_empty());
    let closed = run.at(&state, 1010);
    assert!(matches!(&closed[..], [Change::Close { wait_s: Some(10), .. }]), "{closed:?}");
    // The daemon is killed. Its memory is lost, so the timeouts restart.
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

#[test]
fn a_job_waits_for_the_end_of_a_reservation() {
    let mut state = ledger(vec![shaped("1", "2x2", 4, 9), shaped("2", "2x1", 2, 8)]);
    state.reservations = vec![Reservation {
        name: "repair".into(),
        nodes: names(&[0, 1, 2, 4, 5, 6]),
        start: 1030,
        end: 2000,
        ..Reservation::default()
    }];
    let mut run = Run::new("easy");
    let decision = run.decide(&state, 1000);
    assert_eq!(opened_gates(&decision.changes), ["2 n3,n7"]);
    let note = note_for(&decision, "1");
    assert!(decision.boxless.is_empty() && note.contains("the end of a reservation"), "{note}");
    assert_eq!(opened_gates(&run.at(&state, 2000))[0], "1 n0,n1,n4,n5");
}

/// Checks that jobs in a flexible reservation may start before it and use other nodes.
#[test]
fn a_job_in_a_flexible_reservation_may_use_other_nodes() {
    let job = SlurmJob { reservation: "flexi".into(), ..shaped("1", "2x2", 4, 9) };
    let mut state = ledger(vec![job, shaped("2", "2x1", 2, 8)]);
    let (start, end) = (1030, 2000);
    let of = |name: &str, nodes: &[u32]| Reservation {
        name: name.into(),
        nodes: names(nodes),
        start,
        end,
        ..Reservation::default()
    };
    state.reservations = vec![of("flexi", &[0, 1, 2]), of("repair", &[4, 7])];
    let never = Run::new("easy").decide(&state, 1000);
    assert!(opened_gates(&never.changes) == ["2 n5,n6"], "{never:?}");
    state.reservations[0].is_flex = true;
    assert_eq!(opened_gates(&Run::new("easy").at(&state, 1000)), ["1 n1,n2,n5,n6"]);
}

/// Checks Slurm's reason if its main scheduler tries an opened job only in a magnetic reservation.
#[test]
fn a_magnetic_reservation_extends_patience_and_is_named() {
    let (name, nodes) = ("magnet".to_string(), names(&[0, 1, 4, 5]));
    let end = 9000;
    let magnet = Reservation { name, nodes, end, is_magnetic: true, ..Reservation::default() };
    let reason = "ReqNodeNotAvail, May be reserved for other job";
    let open = SlurmJob { reason: reason.into(), ..opened("1", "2x2", 4, &[2, 3, 6, 7]) };
    let waits = shaped("2", "4x2", 8, 9);
    let mut state = ledger(vec![open, waits]);
    let closes = |state: &Ledger, now: u64| {
        let mut run = Run::new("easy");
        run.site.examination_s = 40;
        run.at(state, 1000);
        !run.at(state, now).is_empty()
    };
    assert!(!closes(&state, 1009) && closes(&state, 1010));
    state.reservations = vec![magnet];
    assert!(!closes(&state, 1039) && closes(&state, 1040));
    let note = note_for(&Run::new("easy").decide(&state, 1000), "2");
    let end = "; nodes of the magnetic reservation magnet need --reservation=magnet";
    assert!(note.ends_with(end), "{note}");
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
fn a_note_names_the_partition_of_a_foreign_job() {
    let strange = SlurmJob { partition: "oth\u{1b}er".into(), ..running("9", "4x1", &[0, 1], 60) };
    let mut run = Run::new("easy");
    let text = note_for(&run.decide(&ledger(vec![strange, shaped("1", "4x2", 8, 9)]), 1000), "1");
    assert!(text.contains("job 9 in partition oth") && !text.contains('\u{1b}'), "{text}");
}

#[test]
fn requeued_and_ungated_jobs_are_gated() {
    let mut requeued = opened("1", "2x2", 4, &[0, 1, 4, 5]);
    (requeued.reason, requeued.start) = ("BeginTime".into(), Some(1120));
    let changes = Run::new("easy").at(&ledger(vec![requeued]), 1000);
    assert!(matches!(&changes[..], [Change::Close { wait_s: Some(10), .. }]), "{changes:?}");
    let mut ungated = shaped("2", "2x2", 4, 77);
    ungated.licenses = "matlab:1".parse().unwrap();
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
    let mut requeued = opened("1", "2x2", 4, &[0, 1, 4, 5]);
    (requeued.reason, requeued.start) = ("BeginTime".into(), Some(1120));
    assert_eq!(run.at(&ledger(vec![requeued]), 1000).len(), 1);
    let closed = || ledger(vec![shaped("1", "2x2", 4, 9)]);
    assert!(run.at(&closed(), 1009).is_empty());
    assert_eq!(opened_gates(&run.at(&closed(), 1010)).len(), 1);
}

#[test]
fn a_job_on_wrong_nodes_is_requeued_once() {
    let state = ledger(vec![running("1", "2x2", &[0, 1, 2, 3], 60)]);
    let mut run = Run::new("easy");
    assert_eq!(run.at(&state, 1001), [Change::Requeue { job: job_name("1") }]);
    assert!(run.at(&state, 1002).is_empty());
    // A long-running job may have been shrunk, so it is not requeued.
    assert!(Run::new("easy").at(&state, 2000).is_empty());
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
    assert!(Run::new("easy").at(&ledger(vec![unseen]), 1000).is_empty());
    let mut later = SlurmJob { reason: "BeginTime".into(), ..shaped("1", "2x2", 4, 9) };
    later.start = Some(1001);
    assert!(Run::new("easy").at(&ledger(vec![later.clone()]), 1000).is_empty());
    assert_eq!(opened_gates(&Run::new("easy").at(&ledger(vec![later]), 1001)).len(), 1);
}

#[test]
fn a_reused_number_is_a_different_job() {
    let mut run = Run::new("easy");
    let state = ledger(vec![opened("1", "2x2", 4, &[0, 1, 4, 5])]);
    assert!(run.at(&state, 1000).is_empty());
    let mut again = opened("1", "2x2", 4, &[0, 1, 4, 5]);
    again.submitted = 1005;
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
fn an_unchanged_note_is_written_once() {
    let jobs = || vec![running("9", "4x1", &[0, 1, 2, 3], 60), shaped("1", "4x2", 8, 9)];
    let mut run = Run::new("easy");
    let mut note = |now| note_for(&run.decide(&ledger(jobs()), now), "1");
    assert_eq!(
        note(1000),
        "pavior: It needs 8 nodes, but only 4 are free; it is planned to start at \
         1970-01-01T00:17:40Z, on 4x2 at 0,0. In the way there: job 9 (4 nodes). Nearest free: 4x1 \
         at 0,1."
    );
    assert!(note(1005).is_empty() && note(1030).is_empty());
}

#[test]
fn a_malformed_record_reserves_its_nodes_only() {
    // Slurm reports n0 and n1 as idle, but a job with a malformed record names them.
    let mut state = ledger(vec![shaped("1", "2x2", 4, 9), shaped("2", "2x1", 2, 8)]);
    state.unreadable = vec![Unreadable {
        job: Some(job_name("7")),
        fault: "its licenses cannot be parsed",
        nodes: names(&[0, 1]),
    }];
    // The 2x1 box is rotated.
    assert_eq!(opened_gates(&Run::new("easy").at(&state, 1000)), ["1 n2,n3,n6,n7", "2 n4,n5"]);
}

#[test]
fn a_job_with_control_characters_is_not_placed_and_gets_a_note() {
    let bad = || SlurmJob { bad_comment: true, ..shaped("1", "2x2", 4, 9) };
    let runs = SlurmJob { bad_comment: true, ..running("3", "1x1", &[0, 1, 4, 5], 60) };
    let opened = SlurmJob { bad_comment: true, ..opened("4", "1x1", 1, &[7]) };
    let state = ledger(vec![bad(), shaped("2", "2x1", 2, 8), runs, opened]);
    let changes = Run::new("easy").decide(&state, 1001).changes;
    // Running jobs stay on their own nodes, open gates are closed, and other jobs are placed.
    assert_eq!(opened_gates(&changes), ["2 n2,n3"]);
    let text = "pavior: not placed: its comment contains control characters; resubmit the job";
    let note = |name: &str| Change::Comment { job: job_name(name), comment: Note::new(text) };
    assert!(changes.contains(&note("1")), "{changes:?}");
    assert!(changes.iter().any(|change| change.name() == "close" && change.job() == job_name("4")));
    assert!(changes.iter().all(|change| change.job() != job_name("3")), "{changes:?}");
}

#[test]
fn jobs_without_a_box_get_notes() {
    // The gate has just been installed: no box has five nodes, and the three nodes in use do not
    // form a box.
    let waits = job("1", 5, 9);
    let runs = SlurmJob { comment: String::new(), ..running("2", "1x1", &[0, 2, 5], 60) };
    let mut run = Run::new("easy");
    let decision = run.decide(&ledger(vec![waits, runs]), 5000);
    let note =
        |name: &str, text: &str| Change::Comment { job: job_name(name), comment: Note::new(text) };
    let never = "pavior: not placed: no box on the machine has 5 nodes; resubmit the job";
    let elsewhere = "pavior: runs on nodes that do not form a box of its shape; not requeued";
    assert_eq!(decision.changes, [note("2", elsewhere), note("1", never)]);
    assert_eq!(decision.boxless.len(), 2);
}

mod answers;
mod ends;
mod held_back;
mod preempting;
mod why;
