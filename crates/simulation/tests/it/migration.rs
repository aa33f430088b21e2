//! Tests of moving running jobs.

use std::sync::Arc;

use pavior_kernel::Time;
use pavior_mesh::{Cuboid, Grid, Occupancy};
use pavior_simulation::{Ending, JobRecord, Migration, Setup, Stay};
use pavior_workload::{Job, Service};
use proptest::prelude::*;

use crate::{job, recorded, setup};

fn moving(scheduler: &str, price: u64, may_move: fn(&Job) -> bool) -> Setup {
    let migration = Some(Migration { price: Time(price), may_move: Arc::new(may_move) });
    Setup { migration, ..setup("mesh:6x2", "tff", scheduler, Ending::Drained) }
}

fn records(setup: &Setup, jobs: &[Job]) -> Vec<JobRecord> {
    recorded(setup, jobs.to_vec().into()).0
}

/// Returns each job's start, end and number of moves.
fn times(setup: &Setup, jobs: &[Job]) -> Vec<(u64, u64, usize)> {
    let of = |record: &JobRecord| {
        let stays: Vec<Stay<'_>> = record.stays().collect();
        (stays[0].start.0, stays[stays.len() - 1].end.unwrap().0, stays.len() - 1)
    };
    records(setup, jobs).iter().map(of).collect()
}

/// ```text
///   . . b b . .    a runs on the left until 1, and b until 40. At 1, h requests 3x2 for 5. Eight
///   . . b b . .    nodes are free, but no 3x2. b, which has four nodes, moves by a column.
/// ```
fn blocked() -> [Job; 3] {
    [job(0, 0, [2, 2, 1], 1), job(1, 0, [2, 2, 1], 40), job(2, 1, [3, 2, 1], 5)]
}

#[test]
fn one_move_lets_the_oldest_start_and_postpones_an_end() {
    for scheduler in ["fcfs", "easy", "easy:count", "scan-all", "conservative"] {
        let setup = moving(scheduler, 3, |_| true);
        let expected = [(0, 1, 0), (0, 40 + 4 * 3, 1), (1, 6, 0)];
        assert_eq!(times(&setup, &blocked()), expected, "{scheduler}");
        let stays: Vec<(u64, Vec<Cuboid>)> = records(&setup, &blocked())[1]
            .stays()
            .map(|stay| (stay.start.0, stay.placement.parts().to_vec()))
            .collect();
        let at = |x| vec![Cuboid::new([x, 0, 0], [2, 2, 1])];
        assert_eq!(stays, [(0, at(2)), (1, at(3))], "{scheduler}");
    }
}

#[test]
fn jobs_move_only_if_it_pays_and_they_may() {
    let stay = [(0, 1, 0), (0, 40, 0), (40, 45, 0)];
    // The move shortens the wait by 39. Moving four nodes costs 36 at 9 each, and 40 at 10 each.
    assert_eq!(times(&moving("easy", 9, |_| true), &blocked())[1], (0, 76, 1));
    assert_eq!(times(&moving("easy", 10, |_| true), &blocked()), stay);
    assert_eq!(times(&moving("easy", u64::MAX, |_| true), &blocked()), stay);
    assert_eq!(times(&moving("easy", 0, |job| job.id.0 != 1), &blocked()), stay);
    // A strategy that grants scattered nodes never needs moves.
    let mbs = Setup { strategy: "mbs".parse().unwrap(), ..moving("easy", 0, |_| true) };
    assert_eq!(times(&mbs, &blocked())[2], (1, 6, 0));
}

/// Jobs must also be moved for first fit, which does not rotate boxes. The oldest job requests 3x2
/// on a 6x2 mesh, where a rotated box would not fit.
#[test]
fn a_strategy_that_does_not_turn_is_made_room_too() {
    let ff = Setup { strategy: "ff".parse().unwrap(), ..moving("easy", 0, |_| true) };
    assert_eq!(times(&ff, &blocked()), [(0, 1, 0), (0, 40, 1), (1, 6, 0)]);
}

#[test]
fn metrics_count_moves() {
    let wanted = ["moves", "nodes_moved", "migration_time"];
    let run = moving("easy", 3, |_| true).simulation(blocked()).measure(&wanted).unwrap();
    let measured = run.run().unwrap();
    let values = wanted.map(|name| measured.value(name));
    // `Context::of` counts in millionths.
    assert_eq!(values, [1.0, 4.0, 12e-6].map(Some));
}

/// Generates jobs for a 6x5 mesh, in order of arrival.
fn workload() -> impl Strategy<Value = Vec<Job>> {
    let draft = (0u64..5, 1u16..=4, 1u16..=4, 1u64..40, 0u64..20);
    prop::collection::vec(draft, 1..40).prop_map(|drafts| {
        let mut arrival = 0;
        let jobs = drafts.into_iter().enumerate().map(|(id, (gap, w, d, run, more))| {
            arrival += gap.saturating_sub(2);
            Job { estimate: Time(run + more), ..job(id as u64, arrival, [w, d, 1], run) }
        });
        jobs.collect()
    })
}

/// Checks every stay against a separate occupancy map to verify that no two stays overlap on a
/// node.
fn no_two_overlap(records: &[JobRecord], grid: Grid) {
    let mut changes = Vec::new();
    for stay in records.iter().flat_map(JobRecord::stays) {
        let end = stay.end.unwrap();
        if end > stay.start {
            changes.push((stay.start, true, stay.placement));
            changes.push((end, false, stay.placement));
        }
    }
    changes.sort_by_key(|&(at, starts, _)| (at, starts));
    let mut free = Occupancy::all_free(grid);
    for (_, starts, placement) in changes {
        let parts = placement.parts();
        if starts { free.take_all(parts).unwrap() } else { free.give_all(parts).unwrap() }
    }
    assert_eq!(free.count(), grid.nodes());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn moved_jobs_hold_their_nodes_alone_and_run_longer_by_what_they_pay(
        jobs in workload(),
        price in 0u64..4,
    ) {
        let grid = Grid::mesh(&[6, 5]).unwrap();
        for scheduler in ["easy", "fcfs", "conservative", "sjf", "easy-freedom"] {
            for strategy in ["tff", "ff", "gabl", "tbl"] {
                let setup = Setup {
                    grid,
                    strategy: strategy.parse().unwrap(),
                    ..moving(scheduler, price, |job| job.id.0 % 3 != 0)
                };
                let records = records(&setup, &jobs);
                no_two_overlap(&records, grid);
                for (record, job) in records.iter().zip(&jobs) {
                    let stays: Vec<Stay<'_>> = record.stays().collect();
                    let Some(last) = stays.last() else { continue };
                    let held = last.end.unwrap().since(stays[0].start).0;
                    let nodes = u64::from(last.placement.nodes());
                    let paid = price * nodes * (stays.len() as u64 - 1);
                    prop_assert_eq!(held, run_of(job) + paid);
                    prop_assert!(job.id.0 % 3 != 0 || stays.len() == 1);
                }
            }
        }
    }

    /// The run must stay the same if no job may be moved or if moves cost too much.
    #[test]
    fn without_moves_nothing_changes(jobs in workload()) {
        let grid = Grid::mesh(&[6, 5]).unwrap();
        for scheduler in ["easy", "conservative", "scan-all"] {
            let with = |price, may_move| Setup { grid, ..moving(scheduler, price, may_move) };
            let without = records(&Setup { migration: None, ..with(0, |_| true) }, &jobs);
            prop_assert_eq!(&records(&with(u64::MAX, |_| true), &jobs), &without);
            prop_assert_eq!(&records(&with(0, |_| false), &jobs), &without);
        }
    }
}

fn run_of(job: &Job) -> u64 {
    let Service::Run(run) = job.service else { unreachable!("these jobs run") };
    run.0
}
