//! Tests of the order of simultaneous events, the end of a run, and the warm-up.

use pavior_kernel::Time;
use pavior_simulation::metrics::{ALL, Context, Metric};
use pavior_simulation::{Ending, Fate, Inputs, Observer, Outcome, Recorder, Setup, run};
use pavior_workload::{Job, TimeUnit};

use crate::{job, setup};

/// The start and end of a job.
type Times = Option<(u64, Option<u64>)>;

/// Runs jobs. Returns the outcome, each job's times, and a function that looks up a metric's value
/// by name.
fn go(
    setup: &Setup,
    jobs: Vec<Job>,
) -> (Outcome, Vec<Times>, impl Fn(&str) -> Option<f64> + use<>) {
    let context = Context { time: TimeUnit::CYCLE, ..Context::of(setup.grid) };
    let mut metrics: Vec<Box<dyn Metric>> = ALL.iter().map(|spec| (spec.build)(&context)).collect();
    let mut recorder = Recorder::default();
    let mut observers: Vec<&mut dyn Observer> =
        metrics.iter_mut().map(|metric| &mut **metric as &mut dyn Observer).collect();
    observers.push(&mut recorder);
    let inputs = Inputs::from(jobs);
    let outcome = run(setup, inputs, &mut observers).unwrap();
    let times = recorder
        .into_records()
        .iter()
        .map(|record| match &record.fate {
            Fate::Started { start, end, .. } => Some((start.0, end.map(|end| end.0))),
            _ => None,
        })
        .collect();
    let values: Vec<Option<f64>> = metrics.iter().map(|metric| metric.value()).collect();
    let value =
        move |name: &str| values[ALL.iter().position(|spec| spec.name == name).expect("a metric")];
    (outcome, times, value)
}

#[test]
fn departures_come_before_arrivals_and_arrivals_before_the_scheduler() {
    // Job 0 departs at 10. Job 1, which needs the whole machine, arrives at 10 and starts
    // immediately.
    let jobs = vec![job(0, 0, [4, 4, 1], 10), job(1, 10, [4, 4, 1], 5)];
    let (outcome, times, value) = go(&setup("mesh:4x4", "tff", "fcfs", Ending::Drained), jobs);
    assert_eq!(times, [Some((0, Some(10))), Some((10, Some(15)))]);
    assert_eq!(outcome.end, Time(15));
    assert_eq!(value("waiting"), Some(0.0));
    assert_eq!(value("utilization"), Some(1.0));
    assert_eq!(value("attempts"), Some(2.0));
}

#[test]
fn arrivals_of_one_instant_queue_in_order_before_anyone_starts() {
    // Both jobs arrive at 0, and the second is shorter. SSD must see both before it decides.
    let jobs = vec![job(0, 0, [4, 4, 1], 10), job(1, 0, [4, 4, 1], 3)];
    let (_, times, _) = go(&setup("mesh:4x4", "tff", "ssd", Ending::Drained), jobs);
    assert_eq!(times, [Some((3, Some(13))), Some((0, Some(3)))]);
}

#[test]
fn a_job_of_zero_length_departs_in_a_further_round_of_its_instant() {
    let whole = [4, 4, 1];
    let jobs = vec![job(0, 5, whole, 0), job(1, 5, whole, 0), job(2, 5, whole, 2)];
    let (outcome, times, value) = go(&setup("mesh:4x4", "tff", "fcfs", Ending::Drained), jobs);
    assert_eq!(times, [Some((5, Some(5))), Some((5, Some(5))), Some((5, Some(7)))]);
    assert_eq!((outcome.end, value("completed")), (Time(7), Some(3.0)));
}

#[test]
fn a_job_that_never_fits_is_rejected_and_blocks_no_other() {
    let jobs = vec![job(0, 0, [5, 1, 1], 9), job(1, 0, [1, 5, 1], 9), job(2, 1, [4, 2, 1], 9)];
    let (outcome, times, value) = go(&setup("mesh:4x4", "ff", "fcfs", Ending::Drained), jobs);
    assert_eq!(times, [None, None, Some((1, Some(10)))]);
    assert_eq!((outcome.arrived, outcome.rejected.len()), (3, 2));
    assert_eq!((value("rejected"), value("completed")), (Some(2.0), Some(1.0)));
}

#[test]
fn a_run_ends_at_its_completion() {
    // Two jobs depart at 10. The run ends with the first departure, so the second never happens.
    let jobs = vec![job(0, 0, [2, 4, 1], 10), job(1, 0, [2, 4, 1], 10), job(2, 4, [4, 4, 1], 1)];
    let (outcome, times, value) =
        go(&setup("mesh:4x4", "tff", "fcfs", Ending::Completions(1)), jobs);
    assert_eq!(times, [Some((0, Some(10))), Some((0, None)), None]);
    assert_eq!((outcome.end, outcome.waiting), (Time(10), 1));
    assert_eq!(value("completed"), Some(1.0));
    assert_eq!(value("utilization"), Some(1.0));
}

#[test]
fn a_warm_up_drops_completions_and_starts_time_averages_anew() {
    let jobs = vec![job(0, 0, [4, 4, 1], 10), job(1, 0, [4, 2, 1], 10), job(2, 0, [4, 2, 1], 30)];
    let setup = Setup { warmup: 1, ..setup("mesh:4x4", "tff", "fcfs", Ending::Drained) };
    let (_, times, value) = go(&setup, jobs);
    assert_eq!(times, [Some((0, Some(10))), Some((10, Some(20))), Some((10, Some(40)))]);
    assert_eq!(value("completed"), Some(2.0));
    assert_eq!(value("turnaround"), Some(30.0));
    // From 10 on, 16 nodes are busy for 10 ticks, and then 8 nodes for 20 ticks.
    assert_eq!(value("utilization"), Some((16.0 * 10.0 + 8.0 * 20.0) / (16.0 * 30.0)));
    assert_eq!(value("busy_submeshes"), Some((2.0 * 10.0 + 20.0) / 30.0));
    assert_eq!(value("makespan"), Some(40.0));
}

#[test]
fn fragmentation_is_counted_at_refusals_with_enough_free_nodes() {
    // Job 1 holds the middle columns. The 8 free nodes are in the two outer columns.
    let jobs = vec![job(0, 0, [1, 4, 1], 9), job(1, 0, [2, 4, 1], 20), job(2, 10, [2, 4, 1], 1)];
    let (_, times, value) = go(&setup("mesh:4x4", "ff", "fcfs", Ending::Drained), jobs);
    assert_eq!(times[2], Some((20, Some(21))));
    assert_eq!(value("external_fragmentation"), Some(0.5));
    assert_eq!(value("internal_fragmentation_required"), Some(0.0));
    assert_eq!(value("blocks_per_job"), Some(1.0));
}

#[test]
fn the_largest_free_submesh_is_averaged_over_time() {
    let jobs = vec![job(0, 0, [2, 4, 1], 10), job(1, 0, [1, 1, 1], 20)];
    let (_, _, value) = go(&setup("mesh:4x4", "ff", "fcfs", Ending::Drained), jobs);
    // Until 10, the free nodes are two columns minus one node, and the largest free box is 2x3.
    // After that, all nodes except (2, 0) are free, and the largest free box is 4x3.
    assert_eq!(value("largest_free"), Some((6.0 * 10.0 + 12.0 * 10.0) / (16.0 * 20.0)));
}

#[test]
fn slots_are_averaged_over_time() {
    // Until 10, the free nodes are two columns minus one node, which leaves room for three 2x1
    // boxes. After that, all nodes except one are free.
    let run = |metric: &str| {
        let jobs = vec![job(0, 0, [2, 4, 1], 10), job(1, 0, [1, 1, 1], 20)];
        let setup = setup("mesh:4x4", "ff", "fcfs", Ending::Drained);
        let measured = setup.simulation(jobs.into_iter()).measure(&[metric]).unwrap().run();
        measured.unwrap().value(metric)
    };
    assert_eq!(run("slots:2x1"), Some((3.0 * 10.0 + 7.0 * 10.0) / 20.0));
    assert_eq!(run("slots:2x2"), Some((1.0 * 10.0 + 3.0 * 10.0) / 20.0));
    assert_eq!(run("slots:4x4x4"), Some(0.0), "no such box");
}

/// An 8-node job runs from 0 to 10, and a one-node job from 0 to 20. A 16-node job arrives at 5 and
/// waits for both. Two small jobs arrive later, at 12.
#[test]
fn metrics_of_sizes_and_of_the_time_in_which_jobs_arrive() {
    let small = [1, 1, 1];
    let jobs = [
        job(0, 0, [2, 4, 1], 10),
        job(1, 0, small, 20),
        job(2, 5, [4, 4, 1], 5),
        job(3, 12, small, 1),
        job(4, 12, small, 1),
    ];
    let run = |metric: &str| {
        let setup = setup("mesh:4x4", "ff", "fcfs", Ending::Drained);
        let context = Context { time: TimeUnit::CYCLE, ..Context::of(setup.grid) };
        let run = setup.simulation(jobs.clone().into_iter()).with_context(context);
        run.measure(&[metric]).unwrap().run().unwrap().value(metric)
    };
    assert_eq!(run("waiting_of:16-16"), Some(15.0));
    assert_eq!(run("waiting_of:1-1"), Some((0.0 + 13.0 + 13.0) / 3.0));
    assert_eq!(run("waiting_of:2-7"), None);
    assert_eq!(run("utilization_arriving"), Some((9.0 * 10.0 + 2.0) / 12.0 / 16.0));
    // Boxes are counted when the first and fifth jobs arrive. At first, all nodes are free and 4
    // boxes fit. Later, one node is taken and 3 boxes fit.
    assert_eq!(run("slots_arriving:2x2"), Some(3.5));
    assert_eq!(run("node_time_lost"), Some(0.0));
}

#[test]
fn a_metric_with_an_option_is_named_with_it() {
    use pavior_simulation::metrics::named;
    assert_eq!(named("slots:4x4x4").unwrap().name, "slots:4x4x4");
    assert!(std::ptr::eq(named("slots:3x2").unwrap(), named("slots:3x2").unwrap()));
    for wrong in ["slots", "slots:", "slots:4x", "slots:0x4", "slots:4x4x4x4", "slots:a"] {
        let bad = named(wrong).err().unwrap();
        assert!(bad.reason.contains("such as slots:4x4x4"), "{wrong}: {}", bad.reason);
    }
    assert_eq!(named("waiting_of:5-032").unwrap().name, "waiting_of:5-32");
    for wrong in ["waiting_of", "waiting_of:5", "waiting_of:9-5", "waiting_of:-1-5"] {
        let bad = named(wrong).err().unwrap();
        assert!(bad.reason.contains("such as waiting_of:5-32"), "{wrong}: {}", bad.reason);
    }
    assert!(named("solts:4x4").is_err() && named("turnaround:2").is_err());
}
