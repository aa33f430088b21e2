//! Tests of node failures, which void promises and plans.

use pavior_kernel::Time;
use pavior_mesh::{NodeId, Request};
use pavior_trials::size;
use proptest::prelude::*;

use crate::workloads::{BACKFILLING, Estimates, GRID, jobs, schedulers};
use crate::world::{World, job, row};

#[test]
fn a_failure_voids_promises() {
    let jobs = [
        job(0, 0, row(2), 4, 4),
        job(1, 0, row(3), 2, 2), // promised 4, on 0 to 2 of mesh:4
        job(2, 9, row(1), 1, 1),
    ];
    for scheduler in BACKFILLING {
        let upsets = [(Time(2), NodeId(1), true), (Time(7), NodeId(1), false)];
        let world = World::new("mesh:4", "ff", scheduler).failing(&upsets).run(&jobs);
        assert_eq!((world.start_of(1), world.broken()), (Time(7), 0), "{scheduler}");
    }
}

/// In the fork for the time just before job 3's reservation, job 4 has ended, but its failed nodes
/// stay taken. These nodes must not be released when job 4 actually ends.
#[test]
fn a_job_may_end_of_which_all_nodes_have_failed() {
    let shape = |a, b| Request::shape([a, b]);
    let jobs = [
        job(0, 0, shape(1, 2), 4, 4),
        job(1, 0, shape(1, 1), 4, 4),
        job(2, 0, shape(5, 2), 13, 13),
        job(3, 1, shape(3, 3), 4, 4),
        job(4, 1, shape(1, 2), 15, 15),
    ];
    for (scheduler, strategy) in [("easy", "tbl"), ("easy", "tff"), ("conservative", "tbl")] {
        let upsets = [
            (Time(2), NodeId(11), true),
            (Time(11), NodeId(16), true),
            (Time(17), NodeId(16), false),
            (Time(17), NodeId(11), false),
        ];
        let world = World::new(GRID, strategy, scheduler).failing(&upsets).run(&jobs);
        assert_eq!((world.started.len(), world.broken()), (5, 0), "{scheduler} {strategy}");
    }
}

/// Generates failures and repairs of nodes on [`GRID`], in order of time. All nodes end up
/// repaired.
fn upsets() -> impl Strategy<Value = Vec<(Time, NodeId, bool)>> {
    prop::collection::vec((0u64..40, 0u32..20, 1u64..30), 0..6).prop_map(|failures| {
        let mut upsets: Vec<(Time, NodeId, bool)> = failures
            .into_iter()
            .flat_map(|(at, node, length)| {
                [(Time(at), NodeId(node), true), (Time(at + length), NodeId(node), false)]
            })
            .collect();
        upsets.sort_by_key(|upset| upset.0);
        upsets
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(size(19, 96, 96)))]

    /// All jobs must start even though nodes fail. Jobs keep failed nodes until they end.
    #[test]
    fn all_jobs_start_whatever_fails(jobs in jobs(25, Estimates::Any), upsets in upsets()) {
        for scheduler in schedulers() {
            for strategy in ["tff", "tbl", "naive"] {
                let world = World::new(GRID, strategy, &scheduler).failing(&upsets).run(&jobs);
                prop_assert_eq!(world.started.len(), jobs.len(), "{} {}", scheduler, strategy);
            }
        }
    }

    /// Each failure voids earlier promises. Later promises must be kept, because they do not count
    /// on failed nodes becoming free.
    #[test]
    fn promises_after_a_failure_are_kept(jobs in jobs(25, Estimates::Exact), upsets in upsets()) {
        for scheduler in ["easy", "conservative"] {
            for strategy in ["tff", "tbl", "naive", "mbs"] {
                let world = World::new(GRID, strategy, scheduler).failing(&upsets).run(&jobs);
                prop_assert_eq!(world.broken(), 0, "{} {}", scheduler, strategy);
            }
        }
    }
}
