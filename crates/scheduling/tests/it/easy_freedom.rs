//! Tests of EASY with a freedom level chosen for each job.

use std::collections::BTreeMap;

use pavior_allocation::Placement;
use pavior_kernel::Time;
use pavior_mesh::{Cuboid, Freedom, Grid, JobId, Request};
use pavior_trials::size;
use pavior_workload::Job;
use proptest::prelude::*;

use crate::workloads::{Estimates, GRID, jobs};
use crate::world::{StartObserver, World, job, row};

const CHOICE: &str = "easy-freedom";

/// A delay after the first job that makes the arrival rate almost zero.
const LATER: u64 = 1 << 40;

fn later(jobs: &[Job]) -> Vec<Job> {
    let long_ago = job(1_000, 0, row(1), 1, 1);
    let late = |job: &Job| Job { arrival: Time(LATER + job.arrival.0), ..job.clone() };
    [long_ago].into_iter().chain(jobs.iter().map(late)).collect()
}

/// Predicts that each piece after the first lengthens a job's run time by this fraction.
fn by_pieces(each: f64) -> impl Fn(&Job, &Placement) -> f64 + Copy {
    move |_, placement| 1.0 + each * (placement.parts().len() as f64 - 1.0)
}

/// Runs late-arriving jobs on a row of nodes. Each extra piece adds this fraction to the run time.
fn run_later(grid: &str, each: f64, jobs: &[Job]) -> World {
    World::new(grid, "ff", CHOICE).predicting(by_pieces(each)).run(&later(jobs))
}

/// The head starts in two pieces only if the penalty for the second piece is low enough:
///
/// ```text
///   x  0 1 2 3 4 5    a ends at 4, b at 9. At 1, h arrives and requests 4 in a row for 10.
///      a a . b . .    It could start in two pieces at 4, or in a row at 9.
/// ```
#[test]
fn a_job_starts_in_pieces_if_that_costs_it_less_than_to_wait() {
    let jobs = [
        job(0, 0, row(2), 4, 4),   // a
        job(1, 0, row(1), 1, 1),   // keeps 2 until b has been placed
        job(2, 0, row(1), 9, 9),   // b
        job(3, 1, row(4), 10, 10), // h
    ];
    // Starting in two pieces at 4 costs 3 plus 10 times the penalty for the second piece. Starting
    // in one row at 9 costs 8.
    for (each, start) in [(0.0, 4), (0.4, 4), (0.5, 4), (0.6, 9), (f64::INFINITY, 9)] {
        let world = run_later("mesh:6", each, &jobs);
        assert_eq!((world.start_of(3), world.broken()), (Time(LATER + start), 0), "{each}");
    }
    // Without a prediction there is no penalty.
    assert_eq!(World::new("mesh:6", "ff", CHOICE).run(&jobs).start_of(3), Time(4));
}

/// A job that requests 2x2 may get a free 4x1 box only if its freedom allows it.
#[test]
fn a_job_is_no_freer_than_it_allows() {
    let h = Request::shape([2, 2, 1]);
    let jobs = |freedom| {
        [job(0, 0, Request::shape([4, 1, 1]), 5, 5), job(1, 1, h.with_freedom(freedom), 10, 10)]
    };
    let start = |freedom| {
        let world =
            World::new("mesh:4x2", "ff", CHOICE).predicting(|_: &Job, placement: &Placement| {
                // A line takes longer than a square.
                if placement.parts()[0].sides == [4, 1, 1] { 1.2 } else { 1.0 }
            });
        let world = world.run(&later(&jobs(freedom)));
        (world.start_of(1).since(Time(LATER)), world.of(1).placement.clone())
    };
    let line = Placement::Whole(Cuboid::new([0, 1, 0], [4, 1, 1]));
    assert_eq!(start(Some(Freedom::Turned)).0, Time(5));
    assert_eq!(start(Some(Freedom::AnyBox)), (Time(1), line.clone()));
    assert_eq!(start(None), (Time(1), line));
}

/// Delays of other jobs count too. The head arrives at 1 and uses 4 of 6 nodes. Starting in two
/// pieces at 4 makes it run 3 ticks longer and costs 3 + 3, plus 3 * 4 / 6 for each other waiting
/// job. Starting in one row at 9 costs 8. With two or more other waiting jobs, the head waits.
///
/// ```text
///   x  0 1 2 3 4 5
///      a a . b . .
/// ```
#[test]
fn what_the_others_wait_longer_counts_too() {
    let jobs = [
        job(0, 0, row(2), 4, 4),
        job(1, 0, row(1), 1, 1),
        job(2, 0, row(1), 9, 9),
        job(3, 1, row(4), 10, 10),
        job(4, 1, row(6), 1, 1),
        job(5, 1, row(6), 1, 1),
        job(6, 1, row(6), 1, 1),
    ];
    for (count, start) in [(4, 4), (5, 4), (6, 9), (7, 9)] {
        let world = run_later("mesh:6", 0.3, &jobs[..count]);
        assert_eq!(world.start_of(3), Time(LATER + start), "{count}");
    }
}

/// Delays of future arrivals count too. The first job arrives 40 or 300 ticks earlier. Starting in
/// one row costs 8. Starting in two pieces at 4 adds 4 to the run time and costs 3 + 4, plus 4 * 4
/// / 6 for each job that arrives within 12. There are 12 * 4 / 41 or 12 * 4 / 301 such jobs.
#[test]
fn what_those_wait_longer_that_come_meanwhile_counts_too() {
    for (ago, each, start) in [(40, 0.4, 9), (300, 0.4, 4), (40, 0.3, 4)] {
        let jobs = [
            job(9, 0, row(1), 1, 1),
            job(0, ago, row(2), 4, 4),
            job(1, ago, row(1), 1, 1),
            job(2, ago, row(1), 9, 9),
            job(3, ago + 1, row(4), 10, 10),
        ];
        let world = World::new("mesh:6", "ff", CHOICE).predicting(by_pieces(each)).run(&jobs);
        assert_eq!(world.start_of(3), Time(ago + start), "{ago}, {each}");
    }
}

/// While the head waits until 9, a two-node job behind it may wait too if that is cheaper. This job
/// could start immediately in two pieces, or in one row at 2.
///
/// ```text
///   x  0 1 2 3 4      a ends at 9, b at 2. The head requests all five; c requests two in a row,
///      . a . b a      and must end by 9.
/// ```
#[test]
fn other_jobs_wait_for_their_box_too() {
    let single = |(id, run)| job(id, 0, row(1), run, run);
    let mut jobs: Vec<Job> = (0..).zip([1, 9, 1, 2, 9]).map(single).collect();
    jobs.extend([job(5, 1, row(5), 1, 1), job(6, 1, row(2), 5, 5)]);
    let start = |each| {
        let world = run_later("mesh:5", each, &jobs);
        assert_eq!((world.start_of(5), world.broken()), (Time(LATER + 9), 0));
        (world.start_of(6).since(Time(LATER)), world.of(6).placement.parts().len())
    };
    assert_eq!(start(0.1), (Time(1), 2));
    assert_eq!(start(0.5), (Time(2), 1));
    // In two pieces, the job would end at 11, after the head's planned start.
    assert_eq!(start(1.0), (Time(2), 1));
}

/// The number and arrival rate of other jobs, which determine the cost of extra time.
#[derive(Clone, Copy)]
struct Known {
    /// The number of other waiting jobs.
    others: usize,
    /// The number of jobs after the first, divided by the time since the first arrived.
    rate: f64,
}

impl Known {
    fn of(world: &World, first: Time) -> Known {
        let arrived = world.dispatcher.queue().len() + world.started.len();
        let elapsed = world.now.since(first).ticks();
        let rate = if elapsed > 0.0 { (arrived - 1) as f64 / elapsed } else { 0.0 };
        Known { others: world.dispatcher.queue().len() - 1, rate }
    }
}

/// The minimum cost of a job when it first becomes head, and the lowest number and arrival rate of
/// other jobs since then.
struct Seen {
    at: Time,
    cost: Time,
    least: Known,
}

/// An observer that computes each job's minimum cost when it first becomes head, by trying every
/// level of freedom on copies of the machine.
struct Least<F> {
    growth: F,
    first: Option<Time>,
    seen: BTreeMap<JobId, Seen>,
}

impl<F: Fn(&Job, &Placement) -> f64> Least<F> {
    /// Returns the cost of a placement. Each job that is waiting, or that arrives within three
    /// times the extra time, is delayed by the extra time multiplied by this job's share of the
    /// machine.
    fn cost(&self, job: &Job, waits: Time, placement: &Placement, known: Known) -> Time {
        let added = (job.estimate.ticks() * ((self.growth)(job, placement) - 1.0)).round();
        let grid: Grid = GRID.parse().unwrap();
        let share = f64::from(job.request.nodes) / f64::from(grid.nodes());
        let delayed = known.others as f64 + 3.0 * known.rate * added;
        Time(waits.0 + added as u64 + (added * share * delayed) as u64)
    }
}

impl<F: Fn(&Job, &Placement) -> f64> StartObserver for Least<F> {
    fn asked(&mut self, world: &World) {
        let head = world.dispatcher.queue().get(0).unwrap();
        let known = Known::of(world, *self.first.get_or_insert(world.now));
        if let Some(seen) = self.seen.get_mut(&head.id) {
            seen.least.others = seen.least.others.min(known.others);
            seen.least.rate = seen.least.rate.min(known.rate);
            return;
        }
        let costs = Freedom::ALL.into_iter().filter_map(|level| {
            let (at, placement) = world.first_fit(&head.request.with_freedom(level))?;
            Some(self.cost(head, at.since(world.now), &placement, known))
        });
        let seen = Seen { at: world.now, cost: costs.min().unwrap(), least: known };
        self.seen.insert(head.id, seen);
    }
}

/// Returns a run-time factor that depends on the longest side and the number of pieces.
fn some_growth(_: &Job, placement: &Placement) -> f64 {
    let parts = placement.parts();
    let long = parts.iter().map(|part| part.sides[0].max(part.sides[1])).max().unwrap();
    1.0 + 0.1 * f64::from(long) + 0.3 * (parts.len() as f64 - 1.0)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(size(19, 96, 96)))]

    /// A head that starts immediately must do so at the lowest cost of all levels. One that starts
    /// later must cost no more than that lowest cost. A head switches options only if the new
    /// option is no later and costs less. Costs drop when fewer jobs are waiting or arriving, so
    /// the lowest load since the job became head is used.
    #[test]
    fn no_head_costs_more_than_its_cheapest_level(jobs in jobs(30, Estimates::Exact)) {
        for strategy in ["ff", "tff", "mbs", "naive"] {
            let mut least = Least { growth: some_growth, first: None, seen: BTreeMap::new() };
            let world = World::new(GRID, strategy, CHOICE).predicting(some_growth);
            let world = world.run_watched(&jobs, &mut least);
            prop_assert_eq!((world.broken(), world.started.len()), (0, jobs.len()));
            for (id, seen) in &least.seen {
                let (job, started) = (&jobs[id.0 as usize], world.of(id.0));
                let waits = started.at.since(seen.at);
                let paid = least.cost(job, waits, &started.placement, seen.least);
                prop_assert!(paid <= seen.cost, "{id:?}: {paid:?} > {:?}, {strategy}", seen.cost);
                prop_assert!(started.at > seen.at || paid == seen.cost, "{id:?} {strategy}");
            }
        }
    }

    /// Jobs that accept only their exact box must be scheduled as under `easy`.
    #[test]
    fn without_a_choice_it_is_easy(jobs in jobs(40, Estimates::Safe)) {
        let bound =
            |job: &Job| Job { request: job.request.with_freedom(Freedom::Box), ..job.clone() };
        let jobs: Vec<Job> = jobs.iter().map(bound).collect();
        for strategy in ["tff", "mbs"] {
            let easy = World::new(GRID, strategy, "easy").run(&jobs);
            let choice = World::new(GRID, strategy, CHOICE).predicting(by_pieces(1.0));
            let choice = choice.run(&jobs);
            prop_assert_eq!(easy.started, choice.started, "{}", strategy);
        }
    }

    /// If extra pieces cost nothing, the head may wait only while too few nodes are free.
    #[test]
    fn what_costs_nothing_starts_in_pieces_at_once(jobs in jobs(30, Estimates::Any)) {
        struct Counted;
        impl StartObserver for Counted {
            fn settled(&mut self, world: &mut World) {
                if let Some(head) = world.dispatcher.queue().get(0) {
                    assert!(head.request.nodes > world.dispatcher.machine().free().count());
                }
            }
        }
        let world = World::new(GRID, "tff", CHOICE).predicting(by_pieces(0.0));
        prop_assert_eq!(world.run_watched(&jobs, &mut Counted).started.len(), jobs.len());
    }
}
