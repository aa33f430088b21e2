//! Measures the cost of backfilling with a long queue, and of grants that bypass the queue.
//!
//! ```sh
//! cargo bench -p pavior-scheduling --bench beside                       # all rows
//! cargo bench -p pavior-scheduling --bench beside -- conservative       # one scheduler
//! ```
//!
//! The machine is a 64x64 mesh, and each side of a job is at most a quarter of the machine's side.
//! Each row measures either draining a queue, or granting one node to a job whose estimate is a
//! minute or a century. Estimates of queued jobs are either exact or too long. The time to drain a
//! queue is the processor time reported by Linux. Compare rows only within the same run.

use std::time::{Duration, Instant};

use pavior_allocation::Machine;
use pavior_kernel::{Stream, Time};
use pavior_mesh::{JobId, Request};
use pavior_scheduling::{Dispatcher, Future, Selection};
use pavior_workload::{Job, Service};

const MINUTE: u64 = 60;
/// The estimate assumed for a job that does not specify one.
const CENTURY: u64 = 100 * 365 * 24 * 60 * MINUTE;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let schedulers = match &words[..] {
        [] => vec!["conservative", "conservative:depth=100", "conservative:count", "easy"],
        _ => words.iter().map(String::as_str).collect(),
    };
    for scheduler in schedulers {
        for (estimates, most) in [("right", 1), ("too long", 8)] {
            for waiting in [500, 1000, 2000] {
                let (took, end) = run_queue(scheduler, waiting, most);
                println!("{scheduler}\tqueue of {waiting}, {estimates}\t{took:?}\t{end}");
            }
        }
        for waiting in [1000, 2000, 5000] {
            for (length, estimate) in [("a minute", MINUTE), ("a century", CENTURY)] {
                let took = grant_beside(scheduler, waiting, estimate);
                println!("{scheduler}\t{waiting} waiting, a node for {length}\t{took:?}");
            }
        }
    }
}

/// Returns the processor time used by this thread so far.
fn processor_time() -> Duration {
    let read = std::fs::read_to_string("/proc/thread-self/schedstat").expect("this is Linux");
    let nanoseconds = read.split(' ').next().and_then(|text| text.parse().ok());
    Duration::from_nanos(nanoseconds.expect("its first word is a number"))
}

/// Generates jobs that run for up to an hour. Their sides are at least `least`, and a job's
/// estimate is up to `most` times its run time.
fn jobs(count: usize, least: u64, most: u64) -> impl Iterator<Item = Job> {
    let mut draw = Stream::new(1, 0, "bench");
    (1..=count as u64).map(move |number| {
        let [w, d] = [16, 16].map(|side| draw.between(least, side) as u16);
        let run = draw.between(MINUTE, 60 * MINUTE);
        Job {
            id: JobId(number),
            index: number,
            number,
            arrival: Time(0),
            request: Request::shape([w, d, 1]),
            service: Service::Run(Time(run)),
            estimate: Time(run * draw.between(1, most)),
        }
    })
}

fn dispatcher(scheduler: &str) -> Dispatcher {
    let scheduler: Selection = scheduler.parse().expect("a scheduler");
    let machine = Machine::new("mesh:64x64".parse().expect("a machine"), "tff");
    let machine = machine.expect("it works on every grid");
    Dispatcher::new(machine, scheduler.build(()).expect("a scheduler without code"))
}

/// Drains a queue. Returns the processor time used and a checksum of the start times.
fn run_queue(scheduler: &str, waiting: usize, most: u64) -> (Duration, u64) {
    let mut dispatcher = dispatcher(scheduler);
    jobs(waiting, 1, most).for_each(|job| dispatcher.submit(job).expect("each comes once"));
    let length = |job: &Job, _| match job.service {
        Service::Run(time) => time,
        _ => job.estimate,
    };
    let (now, end, moves) = (Time::ZERO, Time::MAX, Vec::new());
    let arrivals = std::iter::empty();
    let mut sum = 0u64;
    let began = processor_time();
    let starts = |job: JobId, at: Time| {
        sum = sum.wrapping_mul(31).wrapping_add(job.0 ^ at.0);
        true
    };
    Future { dispatcher, now, moves, arrivals, length, end }.run(starts).expect("none fails");
    (processor_time().saturating_sub(began), sum)
}

/// Returns the mean time of ten grants that bypass the queue, including the scheduler's response.
fn grant_beside(scheduler: &str, waiting: usize, estimate: u64) -> Duration {
    let mut dispatcher = dispatcher(scheduler);
    jobs(waiting, 2, 8).for_each(|job| dispatcher.submit(job).expect("each comes once"));
    let settle = |dispatcher: &mut Dispatcher, now: u64| {
        while dispatcher.start_next(Time(now), &mut ()).expect("none fails").is_some() {}
    };
    settle(&mut dispatcher, 0);
    let mut took = Duration::ZERO;
    for grant in 0..10 {
        let id = 1_000_000 + grant;
        let (request, estimate) = (Request::shape([1, 1, 1]), Time(estimate));
        let (arrival, service) = (Time(1 + grant), Service::Run(estimate));
        let (id, index, number) = (JobId(id), id, id);
        let job = Job { id, index, number, arrival, request, service, estimate };
        let began = Instant::now();
        dispatcher.grant(job, arrival).expect("a node is free");
        settle(&mut dispatcher, arrival.0);
        took += began.elapsed();
    }
    took / 10
}
