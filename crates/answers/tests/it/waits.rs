//! Tests that every job in a random queue gets a correct reason for waiting, under every scheduler.

use pavior_allocation::Machine;
use pavior_answers::{Cause, Queued, Why, waits};
use pavior_kernel::{Stream, Time};
use pavior_mesh::{JobId, NodeId, Request};
use pavior_scheduling::{Dispatcher, Kept, Reserved, Scheduler, Selection, Standing};
use pavior_workload::Job;

const SCHEDULERS: &str = "fcfs ssd sjf ljf scan scan-all window:3 bypass easy easy:count \
     conservative conservative:count conservative:depth=3 conservative:count:depth=3";
const STRATEGIES: [&str; 4] = ["tff", "gabl", "paging", "mbs"];
/// The run time estimate assumed for jobs without one.
const FOREVER: Time = Time(1 << 50);
const ENDLESS: Time = Time(1 << 49);

pub(crate) fn scheduler(name: &str) -> Box<dyn Scheduler> {
    name.parse::<Selection>().unwrap().build(()).unwrap()
}

fn fresh(strategy: &str, name: &str) -> Dispatcher {
    let machine = Machine::new("mesh:8x6".parse().unwrap(), strategy).unwrap();
    Dispatcher::new(machine, scheduler(name))
}

pub(crate) fn job(id: u64, request: Request, arrival: Time, estimate: Time) -> Job {
    Job::new(JobId(id), arrival, request, estimate)
}

/// Makes a random change to the machine or the queue, then lets the scheduler start jobs.
fn step(numbers: &mut Stream, dispatcher: &mut Dispatcher, now: Time, id: u64) {
    let (waiting, running) = (dispatcher.queue().len(), dispatcher.running().by_estimated_end());
    let running: Vec<JobId> = running.map(|running| running.job.id).collect();
    match numbers.below(20) {
        0 | 1 if waiting > 0 => {
            dispatcher.withdraw(numbers.below(waiting as u64) as usize).unwrap();
        }
        2..=7 if !running.is_empty() => {
            let at = numbers.below(running.len() as u64) as usize;
            dispatcher.end(running[at]).unwrap();
        }
        8 => {
            let node = NodeId(numbers.below(48) as u32);
            if numbers.below(3) == 0 {
                dispatcher.fail(node).unwrap();
            } else {
                dispatcher.repair(node).unwrap();
            }
        }
        kind => {
            let request = if numbers.below(2) == 0 {
                Request::nodes(1 + numbers.below(30) as u32)
            } else {
                Request::shape([1 + numbers.below(8) as u16, 1 + numbers.below(6) as u16])
            };
            let said = Time(1000 * (1 + numbers.below(500)));
            let estimate = if numbers.below(5) > 0 { said } else { FOREVER };
            let job = job(id, request, now, estimate);
            if kind == 9 {
                drop(dispatcher.grant(job, now));
            } else if dispatcher.could_ever_fit(&request).is_ok() {
                dispatcher.submit(job).unwrap();
            }
        }
    }
    while dispatcher.start_next(now, &mut ()).unwrap().is_some() {}
}

fn reasons(dispatcher: &Dispatcher, now: Time) -> Vec<(Job, Why)> {
    let standing = dispatcher.standing(now);
    let found = waits(dispatcher, standing.as_ref(), (now, ENDLESS));
    let jobs = || dispatcher.queue().iter();
    assert!(jobs().map(|job| job.id).eq(found.iter().map(|(job, _)| *job)));
    jobs().cloned().zip(found.into_iter().map(|(_, why)| why)).collect()
}

fn holds(dispatcher: &mut Dispatcher, now: Time, name: &str, of: (&Job, &Why)) -> bool {
    let (waiting, why) = of;
    let free = u64::from(dispatcher.machine().free().count());
    let is_settled = dispatcher.standing(now).is_some();
    let probed = dispatcher.probe(waiting, now);
    let waits =
        |other: JobId| other != waiting.id && dispatcher.queue().iter().any(|one| one.id == other);
    let lacks = why.needed > why.free;
    let reserves = name.starts_with("easy") || name.starts_with("conservative");
    let orders =
        !["scan-all", "easy", "easy:count", "conservative", "conservative:count"].contains(&name);
    let counts = why.free == free && why.planned.is_none_or(|planned| reserves && planned.at > now);
    let kind = match why.cause {
        Cause::Nodes => lacks && probed.is_err(),
        Cause::Place => !lacks && probed.is_err(),
        Cause::Queue(Queued::Reserved { by, from, until }) => {
            probed.is_ok() && reserves && waits(by) && until.is_none_or(|until| from < until)
        }
        Cause::Queue(Queued::Behind(behind)) => orders && behind.is_none_or(waits),
        // A scheduler that has already examined this state gives a more specific reason.
        Cause::Queue(Queued::Kept) => probed.is_ok() && !is_settled,
        _ => false,
    };
    counts && kind
}

/// Counts the waiting jobs whose reported reason is wrong.
fn wrong(dispatcher: &mut Dispatcher, now: Time, name: &str, tried: &mut usize) -> usize {
    let mut found = reasons(dispatcher, now);
    *tried += found.len();
    found.retain(|(waiting, why)| !holds(dispatcher, now, name, (waiting, why)));
    for (waiting, why) in &found {
        eprintln!("{name}: {waiting:?}: {why:?}");
    }
    found.len()
}

#[test]
fn every_waiting_job_has_a_true_reason() {
    let (mut tried, mut failed) = (0, 0);
    for (index, name) in SCHEDULERS.split(' ').enumerate() {
        for strategy in STRATEGIES {
            let mut dispatcher = fresh(strategy, name);
            let mut numbers = Stream::new(index as u64, 0, "waits");
            let mut now = Time(1_000_000);
            for id in 0..pavior_trials::size(150, 150, 3000) as u64 {
                now = Time(now.0 + numbers.below(20_000));
                step(&mut numbers, &mut dispatcher, now, id);
                failed += wrong(&mut dispatcher, now, name, &mut tried);
            }
            // The fork's scheduler has not examined this state, so its reasons are less specific.
            let mut again = dispatcher.fork(scheduler(name), |job| job.estimate);
            failed += wrong(&mut again, now, name, &mut tried);
        }
    }
    pavior_trials::attacked("pages", "reasons for waiting", tried, failed);
}

/// A scheduler may reserve nodes for a later time although the job could be placed now.
#[test]
fn a_job_does_not_wait_for_itself() {
    let mut dispatcher = fresh("tff", "fcfs");
    dispatcher.submit(job(1, Request::shape([2, 2]), Time(0), Time(60))).unwrap();
    let (job, from, to) = (JobId(1), Time(100), Time(160));
    let own = Reserved { job, from, to, nodes: 4, placement: None };
    let kept = vec![Kept::ByReservations];
    let standing = Standing { kept, reserved: vec![own], ends: Vec::new() };
    let found = waits(&dispatcher, Some(&standing), (Time(0), ENDLESS));
    assert_eq!(found[0].1.cause, Cause::Queue(Queued::Kept));
}

/// Explaining a queue of 10,000 jobs must take only a bounded number of strategy queries.
#[test]
fn a_long_queue_is_answered_within_bounds() {
    let mut dispatcher = fresh("gabl", "conservative:depth=100");
    let now = Time(1_000_000);
    for number in 0..10_000_u32 {
        let estimate = Time(1000 * u64::from(1 + number % 977));
        let request = Request::nodes(1 + number % 48);
        dispatcher.submit(job(number.into(), request, now, estimate)).unwrap();
        while dispatcher.start_next(now, &mut ()).unwrap().is_some() {}
    }
    let found = reasons(&dispatcher, now);
    assert_eq!(found.len(), dispatcher.queue().len());
    assert!(found.len() > 9000);
}
