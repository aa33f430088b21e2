//! Compares count-based scheduling with another simulator that tracks only node counts.
//!
//! With a strategy that succeeds whenever enough nodes are free, the positions of the nodes do not
//! matter, so start times must agree job by job.

use pavior_trials::size;
use pavior_workload::{Job, Service};
use proptest::prelude::*;

use crate::workloads::{Estimates, GRID, jobs};
use crate::world::World;

/// The job, start, end and estimated end.
type Run = (usize, u64, u64, u64);

/// Simulates the jobs tick by tick, with linear searches through lists.
fn by_count(jobs: &[Job], machine: u64, backfill: bool) -> Vec<u64> {
    let nodes = |job: usize| u64::from(jobs[job].request.nodes);
    let mut starts = vec![None; jobs.len()];
    let mut queue: Vec<usize> = Vec::new();
    let mut running: Vec<Run> = Vec::new();
    let mut arrived = 0;
    for now in 0.. {
        running.retain(|run| run.2 != now);
        while arrived < jobs.len() && jobs[arrived].arrival.0 == now {
            queue.push(arrived);
            arrived += 1;
        }
        let mut free = machine - running.iter().map(|run| nodes(run.0)).sum::<u64>();
        let mut start = |job: usize, free: &mut u64, running: &mut Vec<Run>| {
            let Service::Run(length) = jobs[job].service else { unreachable!() };
            *free -= nodes(job);
            starts[job] = Some(now);
            running.push((job, now, now + length.0, now + jobs[job].estimate.0));
        };
        while let Some(&head) = queue.first().filter(|&&head| nodes(head) <= free) {
            start(head, &mut free, &mut running);
            queue.remove(0);
        }
        if backfill && !queue.is_empty() {
            let (shadow, mut extra) = shadow(nodes(queue[0]), free, &running, &nodes);
            let mut index = 1;
            while index < queue.len() {
                let job = queue[index];
                let in_time = now + jobs[job].estimate.0 <= shadow;
                if nodes(job) <= free && (in_time || nodes(job) <= extra) {
                    if !in_time {
                        extra -= nodes(job);
                    }
                    start(job, &mut free, &mut running);
                    queue.remove(index);
                } else {
                    index += 1;
                }
            }
        }
        if starts.iter().all(Option::is_some) {
            break;
        }
    }
    starts.into_iter().map(|start| start.unwrap()).collect()
}

/// Returns the time at which the head is expected to fit, and the number of nodes to spare.
fn shadow(head: u64, free: u64, running: &[Run], nodes: &dyn Fn(usize) -> u64) -> (u64, u64) {
    let mut times: Vec<u64> = running.iter().map(|run| run.3).collect();
    times.sort_unstable();
    for at in times {
        let gone = running.iter().filter(|run| run.3 <= at).map(|run| nodes(run.0));
        let then = free + gone.sum::<u64>();
        if then >= head {
            return (at, then - head);
        }
    }
    unreachable!("every job fits the empty machine")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(size(19, 96, 96)))]

    #[test]
    fn start_times_agree_job_by_job(
        exact in jobs(60, Estimates::Exact),
        safe in jobs(60, Estimates::Safe),
    ) {
        for jobs in [exact, safe] {
            for (scheduler, backfill) in [("fcfs", false), ("easy:count", true)] {
                let reference = by_count(&jobs, 20, backfill);
                for strategy in ["naive", "random", "mbs", "paging", "hilbert"] {
                    let world = World::new(GRID, strategy, scheduler).run(&jobs);
                    let ours: Vec<u64> =
                        (0..jobs.len()).map(|job| world.start_of(job as u64).0).collect();
                    prop_assert_eq!(&ours, &reference, "{} with {}", scheduler, strategy);
                    prop_assert_eq!(world.broken(), 0);
                }
            }
        }
    }
}
