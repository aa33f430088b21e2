//! Tests for opening gates on nodes that are still in use by jobs that Slurm can preempt.

use super::*;
use crate::ledger::qos::Qos;
use crate::ledger::site::{Mode, Preemption};

fn run(order: &str) -> Run {
    let mut run = Run::new(order);
    run.site.preemption = Preemption::ByQos;
    run.site.mode = Mode::Requeue;
    let high = Qos { preempts: vec!["low".into()], ..Qos::default() };
    run.site.qos = [("high".into(), high), ("low".into(), Qos::default())].into();
    run
}

fn low(name: &str, shape: &str, held: &[u32]) -> SlurmJob {
    SlurmJob { qos: "low".into(), ..running(name, shape, held, 6000) }
}

fn high(name: &str, shape: &str, nodes: u32) -> SlurmJob {
    SlurmJob { qos: "high".into(), ..shaped(name, shape, nodes, 99) }
}

#[test]
fn preemption_chooses_the_box_where_the_least_work_is_lost() {
    // Jobs 1 and 2 have done little work; job 3 may not be preempted.
    let one = SlurmJob { start: Some(900), ..low("1", "2x1", &[0, 1]) };
    let two = SlurmJob { start: Some(990), ..low("2", "2x1", &[4, 5]) };
    let three = running("3", "2x2", &[2, 3, 6, 7], 6000);
    let jobs = vec![one, two, three, high("4", "2x1", 2)];
    let changes = run("easy").at(&ledger(jobs.clone()), 1000);
    assert_eq!(opened_gates(&changes), ["4 n4,n5"]);
    assert_eq!(changes.len(), 1, "the daemon ends no job itself: {changes:?}");
    // A box that requires preempting job 3 is not chosen.
    let jobs = [&jobs[..3], &[high("4", "4x1", 4)]].concat();
    assert!(run("easy").at(&ledger(jobs), 1000).is_empty());
}

#[test]
fn the_gate_stays_open_while_preempted_jobs_end() {
    let mut run = run("easy");
    let victim = || low("1", "2x1", &[0, 1]);
    let rest = || running("2", "2x2", &[2, 3, 6, 7], 6000);
    let waits = || shaped("5", "1x1", 1, 1);
    let changes = run.at(&ledger(vec![victim(), rest(), high("4", "2x2", 4)]), 1000);
    assert_eq!(opened_gates(&changes), ["4 n0,n1,n4,n5"]);
    let open = || SlurmJob { qos: "high".into(), ..opened("4", "2x2", 4, &[0, 1, 4, 5]) };
    // Nodes n4 and n5 are idle, but they are kept for the job whose gate is open.
    let at = |run: &mut Run, jobs, now| run.at(&ledger(jobs), now);
    assert!(at(&mut run, vec![victim(), rest(), open(), waits()], 1005).is_empty());
    let ending = SlurmJob { phase: Phase::Completing, ..victim() };
    assert!(at(&mut run, vec![ending, rest(), open(), waits()], 1030).is_empty());
    // The preempted job is back in the queue, but its nodes are not all free yet.
    let (reason, start) = ("BeginTime".into(), Some(1150));
    let gone = SlurmJob { reason, start, ..opened("1", "2x1", 2, &[0, 1]) };
    let mut state = ledger(vec![gone, rest(), open(), waits()]);
    state.nodes[0].condition = Condition::Taken;
    let changes = run.at(&state, 1031);
    assert!(only_closes(&changes, "1"));
    assert!(at(&mut run, vec![rest(), open(), waits()], 1032).is_empty());
}

#[test]
fn the_gate_stays_open_on_idle_nodes_of_the_jobs_reservation() {
    let mut run = run("easy");
    let reserved = |job| {
        let job = SlurmJob { reservation: "r".into(), qos: "high".into(), ..job };
        let mut state = ledger(vec![low("1", "1x1", &[0]), job]);
        state.nodes[1].condition = Condition::Reserved;
        let (name, nodes) = ("r".into(), names(&[0, 1]));
        state.reservations = vec![Reservation { name, nodes, end: 9000, ..Reservation::default() }];
        state
    };
    let changes = run.at(&reserved(shaped("4", "2x1", 2, 99)), 1000);
    assert_eq!(opened_gates(&changes), ["4 n0,n1"]);
    assert!(run.at(&reserved(opened("4", "2x1", 2, &[0, 1])), 1001).is_empty());
}

#[test]
fn the_gate_closes_if_slurm_preempts_no_job() {
    let mut run = run("easy");
    let victim = || low("1", "4x2", &[0, 1, 2, 3, 4, 5, 6, 7]);
    let job = || high("4", "2x2", 4);
    assert_eq!(opened_gates(&run.at(&ledger(vec![victim(), job()]), 1000)), ["4 n0,n1,n4,n5"]);
    let open = || SlurmJob { qos: "high".into(), ..opened("4", "2x2", 4, &[0, 1, 4, 5]) };
    assert!(run.at(&ledger(vec![victim(), open()]), 1009).is_empty());
    assert!(only_closes(&run.at(&ledger(vec![victim(), open()]), 1010), "4"));
    assert!(run.at(&ledger(vec![victim(), job()]), 1100).is_empty());
    assert_eq!(opened_gates(&run.at(&ledger(vec![victim(), job()]), 1700)).len(), 1);
}

#[test]
fn preemption_for_a_later_job_does_not_delay_the_first() {
    // The first job may not preempt other jobs. It gets n0 to n3 once job 9 ends.
    let held = || running("9", "4x1", &[0, 1, 2, 3], 600);
    let first = || shaped("1", "4x1", 4, 100);
    let below = || low("2", "4x1", &[4, 5, 6, 7]);
    let jobs = || vec![held(), below(), first(), high("4", "2x1", 2)];
    assert_eq!(opened_gates(&run("easy").at(&ledger(jobs()), 1000)), ["4 n4,n5"]);
    assert!(run("strict").at(&ledger(jobs()), 1000).is_empty());
    // A job that ends before the first job starts may use the first job's nodes, unless the
    // preempted job's grace time makes it end too late.
    let mut jobs = jobs();
    jobs[1].limit = Some(300);
    jobs[3].limit = Some(300);
    assert_eq!(opened_gates(&run("easy").at(&ledger(jobs.clone()), 1000)), ["4 n4,n5"]);
    let mut graceful = run("easy");
    graceful.site.qos.get_mut("low").unwrap().grace_s = 60;
    assert!(graceful.at(&ledger(jobs.clone()), 1000).is_empty());
    // If the low-priority job ends sooner, its nodes go to the first job.
    jobs[3].limit = Some(7200);
    assert!(run("easy").at(&ledger(jobs), 1000).is_empty());
}

#[test]
fn only_one_job_preempts_at_a_time() {
    let victims = vec![low("1", "4x1", &[0, 1, 2, 3]), low("2", "4x1", &[4, 5, 6, 7])];
    let jobs = [victims, vec![high("4", "4x1", 4), high("5", "4x1", 4)]].concat();
    assert_eq!(opened_gates(&run("fit").at(&ledger(jobs), 1000)).len(), 1);
}
