//! Tests of wrong estimates, which postpone reservations and break promises.

use pavior_kernel::Time;
use pavior_trials::size;
use proptest::prelude::*;

use crate::workloads::{BACKFILLING, Estimates, GRID, jobs, strategies};
use crate::world::{World, job, row};

#[test]
fn a_promise_that_an_overrun_breaks_is_counted() {
    let jobs = [
        job(0, 0, row(3), 9, 4),   // estimated to end at 4
        job(1, 0, row(4), 2, 2),   // promised 4
        job(2, 5, row(1), 1, 1),   // arrives when the promise is overdue
        job(3, 6, row(1), 20, 20), // would keep the head from starting at 9
    ];
    // Conservative backfilling also promises the last job a start at 9, and breaks that promise
    // too.
    for (scheduler, broken) in
        [("easy", 1), ("easy:count", 1), ("conservative", 2), ("conservative:count", 2)]
    {
        let world = World::new("mesh:4", "ff", scheduler).run(&jobs);
        assert_eq!((world.start_of(1), world.broken()), (Time(9), broken), "{scheduler}");
        assert_eq!(world.start_of(3), Time(11), "{scheduler}");
    }
}

#[test]
fn an_early_end_moves_a_reservation_up() {
    let jobs = [
        job(0, 0, row(2), 3, 30),
        job(1, 0, row(1), 8, 8),
        job(2, 0, row(4), 2, 2),   // promised 30, then 8
        job(3, 4, row(1), 20, 20), // would end by 30, not by 8
    ];
    for scheduler in BACKFILLING {
        let world = World::new("mesh:4", "ff", scheduler).run(&jobs);
        assert_eq!((world.start_of(2), world.broken()), (Time(8), 0), "{scheduler}");
        assert_eq!(world.start_of(3), Time(10), "{scheduler}");
    }
}

#[test]
fn conservative_moves_up_in_the_order_of_arrival() {
    let jobs = [
        job(0, 0, row(4), 3, 30),
        job(1, 0, row(3), 5, 5), // booked for 30, then 3
        job(2, 0, row(2), 5, 5), // booked for 35, then 8
        job(3, 0, row(1), 5, 5), // booked for 30, then 3
    ];
    for scheduler in ["conservative", "conservative:count"] {
        let world = World::new("mesh:4", "ff", scheduler).run(&jobs);
        let starts: Vec<u64> = (0..4).map(|job| world.start_of(job).0).collect();
        assert_eq!((starts, world.broken()), (vec![0, 3, 8, 3], 0), "{scheduler}");
    }
}

#[test]
fn a_job_of_no_length_holds_its_nodes_for_its_instant() {
    let jobs = [job(0, 0, row(4), 0, 0), job(1, 0, row(4), 0, 0), job(2, 0, row(2), 1, 1)];
    for scheduler in BACKFILLING {
        let world = World::new("mesh:4", "ff", scheduler).run(&jobs);
        assert_eq!(world.starts().iter().map(|start| start.1.0).max(), Some(0), "{scheduler}");
    }
}

#[test]
fn estimates_up_to_the_end_of_time_keep_no_job_from_its_start() {
    let jobs: Vec<_> = (0..60).map(|id| job(id, 0, row(4), 5, 1 << 60)).collect();
    for scheduler in BACKFILLING {
        let world = World::new("mesh:4", "ff", scheduler).run(&jobs);
        assert_eq!((world.started.len(), world.start_of(59)), (60, Time(295)), "{scheduler}");
    }
}

/// At every tick, a job arrives that runs for 7 ticks with an estimate of 1 or 2. With
/// `promise=holds`, a job that needs the whole machine must still start soon after the first job
/// ends at 20.
#[test]
fn jobs_that_say_too_little_do_not_starve_a_large_one_whose_promise_holds() {
    for scheduler in BACKFILLING {
        let said = if scheduler.starts_with("easy") { 1 } else { 2 };
        let mut jobs = vec![job(0, 0, row(2), 20, 20), job(1, 1, row(4), 5, 5)];
        jobs.extend((0..150).map(|index| job(2 + index, 2 + index, row(1), 7, said)));
        let start = |promise: &str| {
            let scheduler = format!("{scheduler}:promise={promise}");
            World::new("mesh:4", "ff", &scheduler).run(&jobs).start_of(1)
        };
        let (moves, holds) = (start("moves"), start("holds"));
        assert!(Time(20) <= holds && holds <= Time(27), "{scheduler}: {holds}");
        assert!(moves > Time(60), "{scheduler}: {moves}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(size(19, 96, 96)))]

    /// However wrong their estimates are, all jobs must start, but never on nodes that are taken.
    /// (The world panics if a job starts on taken nodes.)
    #[test]
    fn wrong_estimates_break_promises_and_nothing_else(jobs in jobs(40, Estimates::Any)) {
        for strategy in ["tff", "tbl", "mbs", "naive", "random"] {
            for scheduler in BACKFILLING {
                let world = World::new(GRID, strategy, scheduler).run(&jobs);
                prop_assert_eq!(world.started.len(), jobs.len());
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(size(4, 24, 24)))]

    /// All jobs must start with every strategy, even one that can miss free boxes.
    #[test]
    fn every_strategy_can_be_planned_with(jobs in jobs(25, Estimates::Any)) {
        for strategy in strategies(GRID) {
            for scheduler in BACKFILLING {
                let world = World::new(GRID, strategy, scheduler).run(&jobs);
                prop_assert_eq!(world.started.len(), jobs.len(), "{} {}", scheduler, strategy);
            }
        }
    }
}
