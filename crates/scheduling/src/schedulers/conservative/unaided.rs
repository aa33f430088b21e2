//! Tests that run the fast profile in lockstep with an uncached version of itself, because the
//! queues are too long for the plain profile.

use std::collections::BTreeSet;

use pavior_allocation::{Machine, Placement};
use pavior_kernel::{Stream, Time};
use pavior_mesh::{JobId, Request};
use pavior_workload::{Job, Service};

use super::by_count::ByCount;
use super::by_nodes::ByNodes;
use super::fast::{Fast, Timeline};
use super::rule::Conservative;
use crate::{Dispatcher, Scheduler};

/// Generates small jobs that run for up to an hour, with estimates of up to eight times the run
/// time.
fn jobs(count: u64, most: u64, seed: u64) -> Vec<Job> {
    let mut draw = Stream::new(seed, 0, "a long queue");
    let draw_job = |number| {
        let [w, d] = [(); 2].map(|()| draw.between(1, most) as u16);
        let run = draw.between(1, 60);
        let estimate = Time(run * draw.between(1, 8));
        let (request, service) = (Request::shape([w, d, 1]), Service::Run(Time(run)));
        let (id, arrival) = (JobId(number), Time(0));
        Job { id, index: number, number, arrival, request, service, estimate }
    };
    (0..count).map(draw_job).collect()
}

/// Returns the start times of the jobs in a queue. After every few starts, a long one-node job is
/// started outside the queue and a waiting job is withdrawn.
fn starts(
    grid: &str,
    jobs: &[Job],
    scheduler: Box<dyn Scheduler>,
    between: usize,
) -> Vec<(JobId, Time, Placement)> {
    let machine = Machine::new(grid.parse().unwrap(), "tff").unwrap();
    let mut dispatcher = Dispatcher::new(machine, scheduler);
    for job in jobs {
        dispatcher.submit(job.clone()).unwrap();
    }
    let (mut starts, mut now) = (Vec::new(), Time(0));
    let mut ends = BTreeSet::new();
    loop {
        while let Some(start) = dispatcher.start_next(now, &mut ()).unwrap() {
            let Service::Run(run) = start.job.service else { unreachable!("these jobs run") };
            ends.insert((now + run, start.job.id));
            starts.push((start.job.id, now, start.placement.clone()));
        }
        let Some((end, job)) = ends.pop_first() else { return starts };
        now = end;
        dispatcher.end(job).unwrap();
        if starts.len() % between == 0 {
            let id = JobId(1_000_000 + job.0);
            let granted = Job::new(id, now, Request::shape([1, 1, 1]), Time(1000));
            if dispatcher.grant(granted, now).is_ok() {
                ends.insert((now + Time(150), id));
            }
            let _ = dispatcher.withdraw(starts.len() % 17);
        }
    }
}

fn compare<T: Timeline + 'static>(grid: &str, jobs: &[Job], between: usize) {
    let aided = Box::new(Conservative::<Fast<T>>::new(usize::MAX, false));
    let unaided = Box::new(Conservative::<Fast<T, false>>::new(usize::MAX, false));
    let aided = starts(grid, jobs, aided, between);
    assert!(aided == starts(grid, jobs, unaided, between), "{grid}, {} jobs", jobs.len());
}

#[test]
fn cached_answers_do_not_change_a_long_queue() {
    for seed in 0..pavior_trials::size(2u64, 8, 80) {
        let between = [usize::MAX, 20][seed as usize % 2];
        let [long, short] = pavior_trials::size([100, 75], [200, 150], [200, 150]);
        compare::<ByNodes>("mesh:20x20", &jobs(long, 7, seed), between);
        compare::<ByNodes>("torus:16x12", &jobs(short, 7, seed), between);
        compare::<ByCount>("mesh:20x20", &jobs(long, 7, seed), between);
    }
}
