//! Tests that endless runs fail with an error that explains why.

use pavior_kernel::Time;
use pavior_mesh::NodeId;
use pavior_scheduling::{MachineView, Queue, Registry, Running, Scheduler, Start, entry};
use pavior_simulation::{
    Bounds, Ending, Endless, Failing, Inputs, Outcome, Restart, RunError, Setup, Simulation, Stop,
};
use pavior_workload::{Change, Component, FailureClasses, FailureEvent, Failures, Job, TimeUnit};

use crate::{job, setup};

type Events = Box<dyn Iterator<Item = FailureEvent> + Send>;

fn go(
    bounds: Bounds,
    scheduler: &str,
    ending: Ending,
    jobs: impl Iterator<Item = Job> + Send,
    events: Option<Events>,
) -> Result<Outcome, Endless> {
    let setup = setup("mesh:4x4", "tff", scheduler, ending);
    let failures = events.map(|events| Failing::new(events, Restart::Scratch));
    run_within(bounds, &setup, Inputs::from(jobs).with_failures(failures))
}

fn run_within(bounds: Bounds, setup: &Setup, inputs: Inputs<'_>) -> Result<Outcome, Endless> {
    let mut none = [];
    let run = Simulation::new(setup, inputs, &mut none).unwrap().within(bounds);
    run.run(&Stop::default()).map_err(|error| match error {
        RunError::Endless(endless) => endless,
        other => panic!("{other}"),
    })
}

/// Draws node failures on a 4x4 mesh. A node is repaired after one time unit on average.
fn failures(mttf: f64) -> Events {
    let classes = FailureClasses::nodes(mttf, 1.0);
    let machine = "mesh:4x4".parse().unwrap();
    Box::new(Failures::new(&machine, &classes, TimeUnit::TIME_UNIT, 1, 0).unwrap())
}

fn fail(at: u64, node: u32) -> FailureEvent {
    event(at, node, Change::Fail)
}

fn repair(at: u64, node: u32) -> FailureEvent {
    event(at, node, Change::Repair)
}

/// Returns failures and repairs of node 0 in turn, one per tick.
fn alternating(from: u64) -> impl Iterator<Item = FailureEvent> {
    (from..).step_by(2).flat_map(|at| [fail(at, 0), repair(at + 1, 0)])
}

const USUAL: fn() -> Bounds = Bounds::default;

#[test]
fn time_that_passes_what_can_be_told_is_an_error_that_names_the_job() {
    let late = 1 << 62;
    let jobs = |arrival, run| vec![job(0, 0, [1, 1, 1], 1), job(7, arrival, [1, 1, 1], run)];
    let run = |arrival, length| {
        go(USUAL(), "fcfs", Ending::Drained, jobs(arrival, length).into_iter(), None)
    };
    assert_eq!(run(late - 5, 5).unwrap().end, Time(late));
    assert_eq!(run(late - 5, 6), Err(Endless::Overflow { job: 7, what: "end" }));
    assert_eq!(run(late, u64::MAX), Err(Endless::Overflow { job: 7, what: "end" }));
    assert_eq!(run(u64::MAX, 1), Err(Endless::Overflow { job: 7, what: "arrive" }));
    let bounds = Bounds { until: Time(9), ..USUAL() };
    let all = jobs(9, 1).into_iter();
    assert_eq!(go(bounds, "fcfs", Ending::Drained, all, None), Err(Endless::TooLate));
}

#[test]
fn a_load_that_fills_the_queue_without_end_is_told() {
    let jobs = (0..).map(|id| job(id, id, [4, 4, 1], 10_000_000));
    let error = go(USUAL(), "fcfs", Ending::Completions(1000), jobs, None);
    assert_eq!(error, Err(Endless::TooManyWaiting { waiting: 1_000_001, job: 1 }));
    // A log has a fixed number of jobs.
    let jobs = (0..200).map(|id| job(id, 0, [4, 4, 1], 1));
    let bounds = Bounds { waiting: 10, ..USUAL() };
    assert_eq!(go(bounds, "fcfs", Ending::Drained, jobs, None).unwrap().waiting, 0);
}

#[test]
fn a_node_that_is_never_repaired_stops_a_run_that_needs_it() {
    for scheduler in ["fcfs", "easy", "conservative", "scan-all"] {
        let jobs = (0..).map(|id| job(id, id, [4, 4, 1], 1));
        let events: Events = Box::new([fail(0, 5)].into_iter());
        let error = go(USUAL(), scheduler, Ending::Completions(100), jobs, Some(events));
        assert_eq!(error, Err(Endless::Stuck { waiting: 1000, job: 0 }), "{scheduler}");
    }
}

#[test]
fn a_job_that_never_gets_through_is_told() {
    let jobs = (0..3).map(|id| job(id, id, [4, 4, 1], 1_000_000_000));
    let bounds = Bounds { interruptions: 50, ..USUAL() };
    let error = go(bounds, "fcfs", Ending::Drained, jobs, Some(failures(10.0)));
    assert_eq!(error, Err(Endless::Interrupted { job: 0, times: 50 }));
}

#[test]
fn failures_that_let_nothing_start_come_to_an_end() {
    let jobs = std::iter::once(job(3, 0, [4, 4, 1], 1));
    // One of the two nodes is missing at all times.
    let events: Events = Box::new((0..).map(|step: u64| {
        let at = step / 3;
        match step % 3 {
            0 => fail(2 * at, 0),
            1 => fail(2 * at + 1, 1),
            _ => repair(2 * at + 1, 0),
        }
    }));
    let error = go(USUAL(), "fcfs", Ending::Drained, jobs, Some(events));
    assert_eq!(error, Err(Endless::Stuck { waiting: 1, job: 3 }));
}

#[test]
fn many_that_wait_in_vain_are_told_sooner() {
    // One node is always missing, and with each change, a job of one of two shapes arrives. The
    // scheduler tries both shapes, so each tick n adds 10 + n / 100 to the count. The count reaches
    // 1,000,000 at about n = 13,200.
    let jobs = (0..).map(|id| job(id, id, [4, if id % 2 == 0 { 4 } else { 3 }, 1], 1));
    // Node 5 is also missing, so no box of either shape is free.
    let events: Events = Box::new([fail(0, 1), fail(0, 5)].into_iter().chain(alternating(0)));
    let error = go(USUAL(), "scan-all", Ending::Completions(100), jobs, Some(events));
    let Err(Endless::Stuck { waiting, job: 0 }) = error else { panic!("{error:?}") };
    assert!((13_100..13_300).contains(&waiting), "{waiting}");
}

#[test]
fn a_job_that_waits_long_for_a_healthy_machine_is_not_given_up() {
    // The first job needs all nodes. One node is missing, another one fails or is repaired at each
    // of 150,000 steps, and jobs keep arriving. After that, all nodes are available.
    let jobs = (0..200_000).map(|id| job(id, id, if id == 0 { [4, 4, 1] } else { [1; 3] }, 1));
    let changes = alternating(0).take(150_000);
    let events: Events =
        Box::new([fail(0, 1)].into_iter().chain(changes).chain([repair(150_000, 1)]));
    let outcome = go(USUAL(), "fcfs", Ending::Completions(100), jobs, Some(events));
    assert!(outcome.is_ok(), "{outcome:?}");
}

#[test]
fn nodes_that_fail_faster_than_jobs_run_end_a_run() {
    // Every started job is interrupted. Restarts do not count as progress.
    let large = (0..).map(|id| job(id, 1_000_000 * id, [4, 4, 1], 5_000_000));
    let error = go(USUAL(), "fcfs", Ending::Completions(100), large, Some(failures(1.0)));
    assert!(matches!(error, Err(Endless::Stuck { job: 0, .. })), "{error:?}");
    let small = (0..20).map(|id| job(id, 0, [1, 1, 1], 1_000_000_000));
    let bounds = Bounds { interruptions: u64::MAX, ..USUAL() };
    let error = go(bounds, "scan-all", Ending::Drained, small, Some(failures(1.0)));
    assert!(matches!(error, Err(Endless::NoneCompletes { times: 100_000, .. })), "{error:?}");
}

/// Runs until `wanted` jobs complete. Each job needs four nodes, and jobs arrive 100 time units
/// apart. On average, each of the 16 nodes fails after 10 time units and is repaired after one.
fn seldom(wanted: u64, long: u64, restart: Restart) -> Result<Outcome, Endless> {
    let jobs = (0..).map(move |id| job(id, 100_000_000 * id, [4, 1, 1], long));
    let setup = setup("mesh:4x4", "ff", "easy", Ending::Completions(wanted));
    let inputs = Inputs::from(jobs).with_failures(Failing::new(failures(10.0), restart));
    run_within(Bounds { interruptions: u64::MAX, ..USUAL() }, &setup, inputs)
}

#[test]
fn completions_out_of_reach_end_a_run() {
    // A job on four nodes loses one of them every 2.5 units on average. If a job takes 15 units,
    // about one start in 400 completes.
    let long = 15_000_000;
    let error = seldom(1_000_000, long, Restart::Scratch);
    let Err(Endless::FewComplete { times, completed }) = error else { panic!("{error:?}") };
    assert!(times > 10_000 && times > 100 * completed, "{times} {completed}");
    assert!(completed > 0);
    // The pace is the same, but only a few completions are needed.
    assert!(seldom(60, long, Restart::Scratch).is_ok());
    // Work saved by a checkpoint counts as progress.
    let kept = Restart::Checkpoint(Time(100_000));
    assert!(seldom(2_000, long, kept).is_ok());
}

#[test]
fn a_last_repair_after_many_changes_lets_a_run_go_on() {
    // Node 1 is missing while node 0 fails and is repaired 5,000 times. After that, all nodes
    // remain available.
    let jobs = (0..).map(|id| job(id, 100 * id, [4, 4, 1], 1));
    let changes = alternating(10).take(10_000);
    let events: Events =
        Box::new([fail(0, 1)].into_iter().chain(changes).chain([repair(20_000, 1)]));
    let outcome = go(USUAL(), "fcfs", Ending::Completions(100), jobs, Some(events));
    assert!(outcome.is_ok(), "{outcome:?}");
}

fn event(at: u64, node: u32, change: Change) -> FailureEvent {
    FailureEvent { at: Time(at), component: Component::Node(NodeId(node)), change }
}

/// A scheduler that starts every job except the second.
struct Forgetful;

impl Scheduler for Forgetful {
    fn next(
        &mut self,
        _: Time,
        queue: &Queue,
        _: &Running,
        view: &mut MachineView<'_>,
    ) -> Option<Start> {
        let others = queue.iter().enumerate().filter(|(_, job)| job.number != 1);
        let mut fitting = others.filter(|(_, job)| view.can_start(job).is_ok());
        fitting.next().map(|(place, _)| Start::at(place))
    }
}

#[test]
fn a_job_that_never_starts_on_a_machine_with_room_is_an_error_that_names_it() {
    let mut registry = Registry::new();
    registry.add(entry("forgetful", || Forgetful)).unwrap();
    let mut setup = setup("mesh:4x4", "tff", "fcfs", Ending::Drained);
    setup.scheduler = registry.select("forgetful").unwrap();
    let jobs = || (0..3).map(|id| job(id, id, [4, 4, 1], 5));
    let error = pavior_simulation::run(&setup, Inputs::from(jobs()), &mut []).unwrap_err();
    let RunError::Endless(endless) = &error else { panic!("{error}") };
    assert_eq!(*endless, Endless::NeverStarted { jobs: [1, 0, 0, 0], count: 1 });
    assert!(error.to_string().starts_with("job 1 never started"), "{error}");
    // Jobs queued behind one that cannot be placed do not count as forgotten.
    let events: Events = Box::new([fail(0, 5)].into_iter());
    let outcome = go(USUAL(), "fcfs", Ending::Drained, jobs(), Some(events)).unwrap();
    assert_eq!(outcome.waiting, 3);
}
