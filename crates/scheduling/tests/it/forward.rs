//! Tests of forward simulations that use estimated run times.

use pavior_allocation::Placement;
use pavior_kernel::Time;
use pavior_mesh::{Cuboid, JobId};
use pavior_scheduling::{AdvanceReservation, PlannedMove, run_forward};
use pavior_trials::size;
use pavior_workload::Job;
use proptest::prelude::*;

use crate::workloads::{Estimates, GRID, jobs, schedulers};
use crate::world::{World, job, row};

fn reserved(x: u16, from: u64, to: u64) -> AdvanceReservation {
    let grid = GRID.parse().unwrap();
    let boxes = vec![Cuboid::new([x, 0, 0], [2, 4, 1])];
    AdvanceReservation::new(from, &grid, boxes, (Time(from), Time(to))).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(size(9, 48, 48)))]

    /// If estimates are exact and all jobs arrive at the same time, the prediction must match the
    /// actual run.
    #[test]
    fn with_exact_estimates_it_is_what_happens(
        jobs in jobs(25, Estimates::Exact),
        ahead in prop::collection::vec((0u16..4, 0u64..40, 1u64..20), 0..3),
    ) {
        let jobs: Vec<Job> =
            jobs.into_iter().map(|job| Job { arrival: Time(0), ..job }).collect();
        let ahead: Vec<AdvanceReservation> =
            ahead.iter().map(|&(x, from, length)| reserved(x, from, from + length)).collect();
        for scheduler in schedulers() {
            let world = || World::new(GRID, "tff", &scheduler).reserving(&ahead);
            let happened = world().run(&jobs).starts();
            let mut dispatcher = world().dispatcher;
            for job in &jobs {
                dispatcher.submit(job.clone()).unwrap();
            }
            let foreseen = run_forward(dispatcher, Time(0), Vec::new()).unwrap();
            prop_assert_eq!(foreseen, happened, "{}", scheduler);
        }
    }
}

/// A job that moves at 3 makes room for the waiting job, unless it cannot move to the planned
/// nodes.
#[test]
fn jobs_move_at_their_time() {
    let at = |x| Placement::Whole(Cuboid::new([x, 0, 0], [2, 1, 1]));
    let start = |to: u16| {
        let mut dispatcher = World::new("mesh:6", "ff", "fcfs").dispatcher;
        dispatcher.hold(job(0, 0, row(2), 50, 50), Time(0), at(2)).unwrap();
        dispatcher.submit(job(1, 0, row(4), 5, 5)).unwrap();
        let step = PlannedMove { at: Time(3), job: JobId(0), to: at(to) };
        run_forward(dispatcher, Time(0), vec![step]).unwrap()
    };
    assert_eq!(start(4), [(JobId(1), Time(3))]);
    // If the new nodes are outside the machine, the job stays where it is.
    assert_eq!(start(5), [(JobId(1), Time(50))]);
}

#[test]
fn what_can_never_start_is_left_out() {
    let mut dispatcher = World::new("mesh:4", "ff", "easy").dispatcher;
    dispatcher.submit(job(0, 0, row(9), 5, 5)).unwrap();
    dispatcher.submit(job(1, 0, row(2), 5, 5)).unwrap();
    let starts = run_forward(dispatcher, Time(7), Vec::new()).unwrap();
    assert_eq!(starts, [(JobId(1), Time(7))]);
}
