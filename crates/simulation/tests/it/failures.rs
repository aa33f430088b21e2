//! Tests of node failures during a run.

use pavior_kernel::Time;
use pavior_mesh::NodeId;
use pavior_simulation::{Ending, Failing, Fate, Inputs, Observer, Recorder, Restart, run};
use pavior_workload::{Change, Component, FailureClasses, FailureEvent, Failures, Job, TimeUnit};

use crate::{job, setup};

fn event(at: u64, node: u32, change: Change) -> FailureEvent {
    FailureEvent { at: Time(at), component: Component::Node(NodeId(node)), change }
}

/// Returns the start and end of each job's last run.
fn go(
    jobs: Vec<Job>,
    events: Vec<FailureEvent>,
    restart: Restart,
) -> Vec<Option<(u64, Option<u64>)>> {
    let setup = setup("mesh:4x4", "tff", "fcfs", Ending::Drained);
    let mut recorder = Recorder::default();
    let mut observers: Vec<&mut dyn Observer> = vec![&mut recorder];
    let failures = Some(Failing::new(events.into_iter(), restart));
    run(&setup, Inputs::from(jobs).with_failures(failures), &mut observers).unwrap();
    let times = recorder.into_records().into_iter().map(|record| match record.fate {
        Fate::Started { start, end, .. } => Some((start.0, end.map(|end| end.0))),
        _ => None,
    });
    times.collect()
}

#[test]
fn a_job_on_a_failed_node_starts_again_from_scratch() {
    let jobs = vec![job(0, 0, [2, 2, 1], 10), job(1, 0, [2, 2, 1], 10)];
    let times = go(jobs, vec![event(4, 0, Change::Fail)], Restart::Scratch);
    // The interrupted job releases its nodes and immediately starts in another 2x2 box.
    assert_eq!(times, [Some((4, Some(14))), Some((0, Some(10)))]);
}

#[test]
fn with_checkpoints_only_the_time_since_the_last_is_lost() {
    let jobs = vec![job(0, 0, [2, 2, 1], 10)];
    let times = go(jobs, vec![event(7, 0, Change::Fail)], Restart::Checkpoint(Time(3)));
    // The checkpoint saves 6 of 10 ticks.
    assert_eq!(times, [Some((7, Some(11)))]);
}

#[test]
fn an_interrupted_job_waits_at_its_old_place() {
    let whole = [4, 4, 1];
    let jobs = vec![job(0, 0, whole, 10), job(1, 1, whole, 10), job(2, 2, [1, 1, 1], 1)];
    let events = vec![event(4, 5, Change::Fail), event(6, 5, Change::Repair)];
    let times = go(jobs, events, Restart::Scratch);
    assert_eq!(times, [Some((6, Some(16))), Some((16, Some(26))), Some((26, Some(27)))]);
}

#[test]
fn departures_come_before_failures_and_repairs_before_both_arrivals_and_the_scheduler() {
    // At 10, job 0 departs before its node fails. At 12, the repair lets job 1 start immediately.
    let jobs = vec![job(0, 0, [4, 4, 1], 10), job(1, 12, [4, 4, 1], 5)];
    let events = vec![event(10, 3, Change::Fail), event(12, 3, Change::Repair)];
    let times = go(jobs, events, Restart::Scratch);
    assert_eq!(times, [Some((0, Some(10))), Some((12, Some(17)))]);
}

#[test]
fn a_node_that_is_never_repaired_keeps_a_job_waiting_and_the_run_ends() {
    let jobs = vec![job(0, 3, [4, 4, 1], 10)];
    let times = go(jobs, vec![event(1, 0, Change::Fail)], Restart::Scratch);
    assert_eq!(times, [None]);
}

#[test]
fn a_job_that_fails_at_its_start_departs_once() {
    let jobs = vec![job(0, 0, [4, 4, 1], 10)];
    let events = vec![
        event(0, 0, Change::Fail),
        event(2, 0, Change::Repair),
        event(2, 1, Change::Fail),
        event(3, 1, Change::Repair),
        event(3, 2, Change::Fail),
        event(5, 2, Change::Repair),
    ];
    let times = go(jobs, events, Restart::Scratch);
    assert_eq!(times, [Some((5, Some(15)))]);
}

#[test]
fn drawn_failures_end_with_the_jobs() {
    let grid = "mesh:4x4".parse().unwrap();
    let events =
        Failures::new(&grid, &FailureClasses::nodes(300.0, 10.0), TimeUnit::CYCLE, 1, 0).unwrap();
    let setup = setup("mesh:4x4", "tbl", "fcfs", Ending::Drained);
    let jobs: Vec<Job> = (0..200).map(|id| job(id, id * 3, [3, 2, 1], 7)).collect();
    let mut recorder = Recorder::default();
    let mut observers: Vec<&mut dyn Observer> = vec![&mut recorder];
    let failures = Some(Failing::new(events, Restart::Scratch));
    let inputs = Inputs::from(jobs).with_failures(failures);
    let outcome = run(&setup, inputs, &mut observers).unwrap();
    assert_eq!(outcome.waiting, 0);
    let done = |fate: &Fate| matches!(fate, Fate::Started { end: Some(_), .. });
    assert!(recorder.into_records().iter().all(|record| done(&record.fate)));
}
