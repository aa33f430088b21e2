//! Tests of jobs submitted after others have started or ended.

use std::sync::Arc;

use pavior_kernel::{Stream, Time};
use pavior_mesh::NodeId;
use pavior_simulation::{Ending, Failing, Fate, Inputs, JobRecord, Outcome, Restart};
use pavior_workload::traces::{Event, Link};
use pavior_workload::{Change, Component, FailureEvent, Job};

use crate::{job, recorded, setup};

fn link(predecessor: u32, follower: u32, think: u64) -> Link {
    Link { predecessor, follower, think: Time(think), event: Event::End }
}

fn go(
    (scheduler, strategy): (&str, &str),
    jobs: Vec<Job>,
    mut links: Vec<Link>,
    failures: Option<Failing>,
) -> (Vec<JobRecord>, Outcome) {
    links.sort_unstable();
    let setup = setup("mesh:4x4", strategy, scheduler, Ending::Drained);
    let links: Arc<[Link]> = links.into();
    recorded(&setup, Inputs::from(jobs).with_failures(failures).with_links(links))
}

/// A job's number and submission time, and its start and end unless it was rejected.
type JobTimes = (u64, u64, Option<(u64, u64)>);

/// Returns the times of each job, in order of submission.
fn times(records: &[JobRecord]) -> Vec<JobTimes> {
    let one = |record: &JobRecord| {
        let held = match record.fate {
            Fate::Started { start, end: Some(end), .. } => Some((start.0, end.0)),
            _ => None,
        };
        (record.job.number, record.job.arrival.0, held)
    };
    records.iter().map(one).collect()
}

const PLAIN: (&str, &str) = ("fcfs", "tff");
const WHOLE: [u16; 3] = [4, 4, 1];

#[test]
fn a_job_is_submitted_when_its_predecessor_has_ended_and_its_user_has_thought() {
    let jobs = vec![job(0, 5, WHOLE, 100), job(1, 5, WHOLE, 100), job(2, 6, [1, 1, 1], 1)];
    let (records, outcome) = go(PLAIN, jobs, vec![link(0, 1, 60)], None);
    // Waits are counted from the simulated submissions, and job 2 is submitted before job 1.
    let expected = [(0, 5, Some((5, 105))), (2, 6, Some((105, 106))), (1, 165, Some((165, 265)))];
    assert_eq!(times(&records), expected);
    let ids: Vec<(u64, u64)> = records.iter().map(|it| (it.job.id.0, it.job.index)).collect();
    assert_eq!(ids, [(0, 0), (1, 2), (2, 1)]);
    assert_eq!((outcome.arrived, outcome.unfollowed), (3, 0));
}

#[test]
fn a_later_submit_time_of_its_own_counts() {
    let jobs = vec![job(0, 0, WHOLE, 10), job(1, 50, WHOLE, 10), job(2, 5, [1, 1, 1], 1)];
    let links = [link(0, 1, 60), link(0, 2, 0), link(1, 2, 0)];
    let (records, _) = go(PLAIN, jobs, links[..1].to_vec(), None);
    assert_eq!(times(&records)[2], (1, 70, Some((70, 80))));
    let jobs = vec![job(0, 0, WHOLE, 10), job(1, 50, WHOLE, 10), job(2, 5, [1, 1, 1], 1)];
    let (records, _) = go(PLAIN, jobs, vec![link(0, 1, 20), links[1], links[2]], None);
    // Job 2 depends on both other jobs, so it waits for the one that ends later.
    assert_eq!(times(&records)[1..], [(1, 50, Some((50, 60))), (2, 60, Some((60, 61)))]);
}

#[test]
fn a_follower_without_think_time_is_submitted_in_the_same_instant() {
    let jobs = vec![job(0, 0, WHOLE, 10), job(1, 0, WHOLE, 0), job(2, 1, WHOLE, 5)];
    let (records, _) = go(PLAIN, jobs, vec![link(0, 1, 0), link(1, 2, 0)], None);
    let expected = [(0, 0, Some((0, 10))), (1, 10, Some((10, 10))), (2, 10, Some((10, 15)))];
    assert_eq!(times(&records), expected);
}

#[test]
fn followers_of_a_rejected_job_are_submitted_as_listed() {
    let jobs = [job(0, 7, [5, 5, 1], 10), job(1, 3, WHOLE, 10), job(2, 9, WHOLE, 10)];
    let jobs = vec![jobs[1].clone(), jobs[0].clone(), jobs[2].clone()];
    let (records, outcome) = go(PLAIN, jobs, vec![link(1, 0, 60), link(1, 2, 60)], None);
    let expected = [(1, 3, Some((3, 13))), (0, 7, None), (2, 9, Some((13, 23)))];
    assert_eq!(times(&records), expected);
    assert_eq!((outcome.unfollowed, outcome.rejected.len()), (2, 1));
}

#[test]
fn a_job_that_failures_restart_ends_at_its_last_end() {
    let event =
        |at, change| FailureEvent { at: Time(at), component: Component::Node(NodeId(0)), change };
    let failing = || {
        let events = [event(4, Change::Fail), event(6, Change::Repair)];
        Failing::new(events.into_iter(), Restart::Scratch)
    };
    let mut links = vec![link(0, 1, 3), Link { event: Event::Start, ..link(0, 2, 1) }];
    links.push(Link { event: Event::Start, ..link(1, 2, 0) });
    let jobs = vec![job(0, 0, WHOLE, 10), job(1, 0, WHOLE, 1), job(2, 0, WHOLE, 1)];
    let (records, _) = go(PLAIN, jobs.clone(), links[..1].to_vec(), Some(failing()));
    assert_eq!(times(&records)[2], (1, 19, Some((19, 20))));
    // Only a job's first start counts. Job 2 also waits for job 1, which starts later.
    let (records, _) = go(PLAIN, jobs, links, Some(failing()));
    assert_eq!(times(&records)[2], (2, 19, Some((20, 21))));
}

/// Generates jobs of up to 16 nodes in order of submission, and dependencies between them. A job
/// may depend on one that is submitted later.
fn drawn(draw: &mut Stream, count: u64) -> (Vec<Job>, Vec<Link>) {
    let mut now = 0;
    let jobs: Vec<Job> = (0..count)
        .map(|id| {
            now += draw.below(4);
            let sides = [1 + draw.below(4) as u16, 1 + draw.below(4) as u16, 1];
            let run = 1 + draw.below(9);
            Job { estimate: Time(run + draw.below(5)), ..job(id, now, sides, run) }
        })
        .collect();
    let mut links = Vec::new();
    // Links lead forward in this random order, so they form no cycles.
    let mut order: Vec<u32> = (0..count as u32).collect();
    for place in (1..order.len()).rev() {
        order.swap(place, draw.below(place as u64 + 1) as usize);
    }
    for place in 1..order.len() {
        for _ in 0..draw.below(3) {
            let before = order[draw.below(place as u64) as usize];
            let event = if draw.below(4) == 0 { Event::Start } else { Event::End };
            // Avoid submissions at the time of a start, because they would follow the scheduler's
            // first pass.
            let think = draw.below(12) + u64::from(event == Event::Start);
            links.push(Link { event, ..link(before, order[place], think) });
        }
    }
    (jobs, links)
}

/// Computes each job's (submit, start, end) tick by tick. Jobs start in order on any free nodes.
fn by_hand(jobs: &[Job], links: &[Link]) -> Vec<(u64, u64, u64)> {
    let mut known: Vec<[Option<u64>; 3]> = vec![[None; 3]; jobs.len()];
    let length = |job: &Job| match job.service {
        pavior_workload::Service::Run(run) => run.0,
        _ => unreachable!("all jobs run"),
    };
    let nodes = |job: &Job| u64::from(job.request.nodes);
    let mut queue: Vec<usize> = Vec::new();
    for now in 0.. {
        for (index, job) in jobs.iter().enumerate() {
            let event = |link: &Link| {
                let place = if link.event == Event::Start { 1 } else { 2 };
                known[link.predecessor as usize][place].filter(|&at| at <= now)
            };
            let mine = links.iter().filter(|link| link.follower as usize == index);
            let ready = mine.map(|link| event(link).is_some_and(|at| at + link.think.0 <= now));
            if known[index][0].is_none() && job.arrival.0 <= now && ready.fold(true, |a, b| a & b) {
                known[index][0] = Some(now);
                queue.push(index);
            }
        }
        let held = |known: &[[Option<u64>; 3]]| -> u64 {
            let runs = |times: &[Option<u64>; 3]| times[2].is_some_and(|end| end > now);
            jobs.iter().zip(known).filter(|(_, times)| runs(times)).map(|(job, _)| nodes(job)).sum()
        };
        while let Some(&first) = queue.first() {
            if held(&known) + nodes(&jobs[first]) > 16 {
                break;
            }
            queue.remove(0);
            known[first][1..].copy_from_slice(&[Some(now), Some(now + length(&jobs[first]))]);
        }
        if known.iter().all(|times| times[2].is_some_and(|end| end <= now)) {
            break;
        }
    }
    known.into_iter().map(|times| times.map(Option::unwrap).into()).collect()
}

#[test]
fn random_small_graphs_run_as_a_plain_second_implementation_says() {
    let mut draw = Stream::new(62, 0, "graphs");
    for round in 0..pavior_trials::size(300, 2_000, 20_000) {
        let count = 1 + draw.below(9);
        let (jobs, links) = drawn(&mut draw, count);
        let expected = by_hand(&jobs, &links);
        let (records, _) = go(("fcfs", "mbs"), jobs, links, None);
        let mut found = vec![(0, 0, 0); expected.len()];
        for (number, submit, held) in times(&records) {
            let (start, end) = held.unwrap();
            found[number as usize] = (submit, start, end);
        }
        assert_eq!(found, expected, "round {round}");
    }
}

#[test]
fn a_run_is_that_of_a_log_with_the_simulated_submit_times() {
    let mut draw = Stream::new(62, 1, "graphs");
    let schedulers =
        ["fcfs", "easy", "easy:count", "conservative", "conservative:count", "window", "sjf"];
    for scheduler in schedulers.into_iter().chain(["scan-all", "bypass", "ljf", "ssd"]) {
        for round in 0..pavior_trials::size(20, 100, 1_000) {
            let count = 1 + draw.below(30);
            let (jobs, links) = drawn(&mut draw, count);
            let names = (scheduler, ["tff", "mbs", "random"][round as usize % 3]);
            let (records, outcome) = go(names, jobs, links, None);
            let jobs: Vec<Job> = records.iter().map(|record| record.job.clone()).collect();
            assert!(jobs.iter().zip(0..).all(|(job, id)| job.id.0 == id), "{scheduler}");
            let setup = setup("mesh:4x4", names.1, scheduler, Ending::Drained);
            let listed = recorded(&setup, jobs.into());
            assert_eq!(listed, (records, outcome), "{scheduler}, round {round}");
        }
    }
}
