//! Tests of waits, overtakings and broken promises.

use pavior_kernel::Time;
use pavior_mesh::{JobId, Request};
use pavior_simulation::metrics::Context;
use pavior_simulation::{Ending, Setup};
use pavior_workload::{Job, Service, TimeUnit};

use crate::setup;

const MACHINE: &str = "mesh:64";

fn job(id: u64, arrival: u64, nodes: u16, run: u64, estimate: u64) -> Job {
    Job {
        id: JobId(id),
        index: id,
        number: id,
        arrival: Time(arrival),
        request: Request::shape([nodes, 1, 1]),
        service: Service::Run(Time(run)),
        estimate: Time(estimate),
    }
}

/// Returns metric values after all jobs have run on [`MACHINE`], with a warm-up.
fn values(scheduler: &str, warmup: u64, jobs: Vec<Job>, names: &[&str]) -> Vec<Option<f64>> {
    let context = Context { time: TimeUnit::CYCLE, ..Context::of(MACHINE.parse().unwrap()) };
    let setup = Setup { warmup, ..setup(MACHINE, "ff", scheduler, Ending::Drained) };
    let run = setup.simulation(jobs).with_context(context).measure(names).unwrap();
    let measured = run.run().unwrap();
    names.iter().map(|name| measured.value(name)).collect()
}

#[test]
fn waits_are_told_by_size_class() {
    // On 64 nodes, jobs with 1 node are small, jobs with 2 to 8 are medium, and jobs with 9 or more
    // are large. All jobs wait for the first one.
    let jobs = vec![
        job(0, 0, 64, 10, 10),
        job(1, 1, 1, 1, 1), // waits 9
        job(2, 2, 2, 1, 1), // waits 8
        job(3, 4, 8, 1, 1), // waits 6
        job(4, 7, 9, 1, 1), // waits 3
    ];
    let names = [
        "waiting_max",
        "waiting_max_small",
        "waiting_max_medium",
        "waiting_max_large",
        "waiting_p99",
        "waiting_p99_medium",
    ];
    let expected = [9.0, 9.0, 8.0, 3.0, 9.0, 8.0].map(Some);
    assert_eq!(values("fcfs", 0, jobs.clone(), &names), expected);
    // After the warm-up, no small job remains.
    let none = values("fcfs", 2, jobs, &["waiting_max_small", "waiting_max"]);
    assert_eq!(none, [None, Some(8.0)]);
}

#[test]
fn a_percentile_is_the_nearest_rank() {
    // Job k waits k ticks. The 99th percentile of 200 waits is the 198th, which is 197 ticks.
    let jobs = (0..200).map(|k| job(k, 0, 64, 1, 1)).collect();
    let expected = [Some(197.0), Some(199.0)];
    assert_eq!(values("fcfs", 0, jobs, &["waiting_p99", "waiting_max"]), expected);
}

#[test]
fn each_older_job_left_waiting_is_an_overtaking() {
    let jobs = vec![
        job(0, 0, 60, 10, 10),
        job(1, 1, 64, 1, 1), // overtaken by 3 and 4
        job(2, 1, 64, 1, 1), // overtaken by 3 and 4
        job(3, 1, 1, 1, 1),
        job(4, 1, 2, 1, 1),
    ];
    assert_eq!(values("fcfs", 0, jobs.clone(), &["overtakings"]), [Some(0.0)]);
    assert_eq!(values("scan-all", 0, jobs, &["overtakings"]), [Some(4.0)]);
}

#[test]
fn broken_guarantees_are_counted_where_the_job_starts() {
    let jobs = vec![
        job(0, 0, 60, 9, 4),
        job(1, 0, 64, 1, 1), // promised 4, starts at 9
        job(2, 0, 64, 1, 1),
    ];
    assert_eq!(values("easy", 0, jobs.clone(), &["broken_guarantees"]), [Some(1.0)]);
    assert_eq!(values("easy", 2, jobs.clone(), &["broken_guarantees"]), [Some(0.0)]);
    assert_eq!(values("fcfs", 0, jobs, &["broken_guarantees"]), [Some(0.0)]);
}
