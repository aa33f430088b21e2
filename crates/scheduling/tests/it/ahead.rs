//! Tests of advance reservations. No scheduler may start a job that would overlap a reservation.
//! [`World`] checks every start.

use pavior_allocation::Placement;
use pavior_kernel::Time;
use pavior_mesh::{Cuboid, JobId};
use pavior_scheduling::{
    AdvanceReservation, BadReservation, DispatchError, MachineView, Queue, Running, Scheduler,
    Start, StartError,
};
use pavior_trials::size;
use pavior_workload::Job;
use proptest::prelude::*;

use crate::workloads::{Estimates, GRID, jobs, jobs_with_freedoms, schedulers, strategies};
use crate::world::{Upset, World, fail_and_repair, in_lock_step, job, row};

/// The schedulers that plan the starts of waiting jobs.
const PLANNING: [&str; 5] =
    ["easy", "easy:count", "easy-freedom", "conservative", "conservative:count"];

/// Creates a reservation of whole columns of a machine for the given time interval.
fn columns(number: u64, grid: &str, x: u16, width: u16, time: (u64, u64)) -> AdvanceReservation {
    let grid = grid.parse().unwrap();
    let mut whole = Cuboid::whole(&grid);
    (whole.base[0], whole.sides[0]) = (x, width);
    AdvanceReservation::new(number, &grid, vec![whole], (Time(time.0), Time(time.1))).unwrap()
}

/// Creates reservations of boxes on [`GRID`], some of which overlap in time and space.
fn reservations() -> impl Strategy<Value = Vec<AdvanceReservation>> {
    let draft = ((0u16..5, 0u16..4), (1u16..=5, 1u16..=4), 0u64..60, 1u64..25);
    prop::collection::vec(draft, 1..5).prop_map(|drafts| {
        let grid = GRID.parse().unwrap();
        let one = |(number, ((x, y), (w, d), from, length))| {
            let sides = [u16::min(w, 5 - x), u16::min(d, 4 - y), 1];
            let boxes = vec![Cuboid::new([x, y, 0], sides)];
            let time = (Time(from), Time(from + length));
            AdvanceReservation::new(number, &grid, boxes, time).unwrap()
        };
        (0..).zip(drafts).map(one).collect()
    })
}

/// Three jobs start on four nodes, two of which are reserved from 10 to 20:
///
/// ```text
///   a  2 nodes for 30 from 0      starts next to the reserved nodes
///   b  2 nodes for 10 from 0      runs on the reserved nodes until the reservation begins
///   c  3 nodes for 1 from 10      waits until the reservation is over and a has ended
/// ```
#[test]
fn a_job_starts_beside_a_reservation_or_ends_by_it_or_waits() {
    let jobs = [job(0, 0, row(2), 30, 30), job(1, 0, row(2), 10, 10), job(2, 10, row(3), 1, 1)];
    for scheduler in schedulers() {
        let reserved = [columns(1, "mesh:4", 0, 2, (10, 20))];
        let world = World::new("mesh:4", "ff", &scheduler).reserving(&reserved).run(&jobs);
        let on = |x| Placement::Whole(Cuboid::new([x, 0, 0], [2, 1, 1]));
        assert_eq!((world.start_of(0), &world.of(0).placement), (Time(0), &on(2)), "{scheduler}");
        assert_eq!((world.start_of(1), &world.of(1).placement), (Time(0), &on(0)), "{scheduler}");
        assert_eq!(world.start_of(2), Time(30), "{scheduler}");
    }
}

/// A job that outruns its estimate keeps its nodes until it ends, even if they are reserved. The
/// nodes must then stay free until the reservation ends.
#[test]
fn nobody_is_ended_for_a_reservation() {
    let jobs = [job(0, 0, row(4), 12, 5), job(1, 1, row(1), 1, 1)];
    for scheduler in schedulers() {
        let reserved = [columns(1, "mesh:4", 0, 4, (6, 15))];
        let world = World::new("mesh:4", "ff", &scheduler).reserving(&reserved).run(&jobs);
        assert_eq!((world.start_of(0), world.start_of(1)), (Time(0), Time(15)), "{scheduler}");
    }
}

/// The head must be promised a start in the gap between two reservations if it fits there, and
/// otherwise a start after both. The promise must not delay the job behind the head.
#[test]
fn plans_are_made_around_reservations() {
    for (estimate, start) in [(4, 10), (5, 30)] {
        let jobs = [
            job(0, 0, row(4), 8, 8),
            job(1, 1, row(3), estimate, estimate),
            job(2, 2, row(1), 2, 2),
        ];
        for scheduler in PLANNING {
            let reserved =
                [columns(1, "mesh:4", 0, 2, (9, 10)), columns(2, "mesh:4", 1, 3, (14, 30))];
            let world = World::new("mesh:4", "ff", scheduler).reserving(&reserved).run(&jobs);
            assert_eq!((world.start_of(1), world.broken()), (Time(start), 0), "{scheduler}");
            assert_eq!(world.start_of(2), Time(8), "{scheduler}");
        }
    }
}

#[test]
fn a_reservation_that_is_made_or_given_up_voids_promises() {
    for scheduler in PLANNING {
        let mut world = World::new("mesh:4", "ff", scheduler);
        let dispatcher = &mut world.dispatcher;
        dispatcher.grant(job(0, 0, row(4), 5, 5), Time(0)).unwrap();
        dispatcher.submit(job(1, 0, row(4), 5, 5)).unwrap();
        assert!(dispatcher.start_next(Time(0), &mut ()).unwrap().is_none());
        dispatcher.reserve(columns(7, "mesh:4", 3, 1, (9, 20))).unwrap();
        assert_eq!(dispatcher.standing(Time(1)), None, "{scheduler}");
        dispatcher.end(JobId(0));
        assert!(dispatcher.start_next(Time(5), &mut ()).unwrap().is_none(), "{scheduler}");
        assert!(dispatcher.give_up(8).is_none() && dispatcher.give_up(7).is_some());
        let started = dispatcher.start_next(Time(6), &mut ()).unwrap();
        assert_eq!(started.map(|start| start.job.id), Some(JobId(1)), "{scheduler}");
        assert_eq!(world.broken(), 0, "{scheduler}");
    }
}

/// A custom scheduler that ignores reservations and never queries the machine.
struct Stubborn(Option<Placement>);

impl Scheduler for Stubborn {
    fn next(&mut self, _: Time, _: &Queue, _: &Running, _: &mut MachineView<'_>) -> Option<Start> {
        Some(Start { index: 0, placement: self.0.clone() })
    }
}

#[test]
fn a_scheduler_that_asks_nobody_is_stopped() {
    let at = |x, width| Placement::Whole(Cuboid::new([x, 0, 0], [width, 1, 1]));
    let start = |placement, width, estimate| {
        let world = World::with("mesh:4", "ff", Box::new(Stubborn(placement)));
        let mut dispatcher = world.reserving(&[columns(3, "mesh:4", 2, 2, (9, 20))]).dispatcher;
        dispatcher.submit(job(1, 0, row(width), estimate, estimate)).unwrap();
        let started = dispatcher
            .start_next(Time(2), &mut ())
            .map(|start| start.map(|start| start.placement.clone()));
        (started, dispatcher.machine().free().count())
    };
    let reserved = StartError::Reserved { job: JobId(1), reservation: 3 };
    for (placement, error) in [(Some(at(1, 3)), reserved), (None, StartError::DoesNotFit(JobId(1)))]
    {
        let (refused, free) = start(placement.clone(), 3, 8);
        assert!(matches!(refused, Err(DispatchError::Start(found)) if found == error));
        assert_eq!((start(placement, 3, 7).0.unwrap().is_some(), free), (true, 4));
    }
    assert_eq!(start(None, 2, 100).0.unwrap(), Some(at(0, 2)));
}

#[test]
fn what_cannot_be_reserved_is_refused() {
    let grid = "mesh:4".parse().unwrap();
    let part = |x| vec![Cuboid::new([x, 0, 0], [2, 1, 1])];
    let reserve =
        |boxes, from, to| AdvanceReservation::new(1, &grid, boxes, (Time(from), Time(to)));
    assert_eq!(reserve(part(0), 5, 5), Err(BadReservation::NoTime));
    assert_eq!(reserve(Vec::new(), 5, 6), Err(BadReservation::NoNodes));
    assert!(matches!(reserve(part(3), 5, 6), Err(BadReservation::Outside { .. })));
    let overlapping = [part(0), part(1)].concat();
    assert_eq!(reserve(overlapping, 5, 6).unwrap().others().count(), 1);
}

/// Finds the earliest start of a job on a row of four nodes by trying all times and positions. The
/// first job holds the leftmost nodes until it ends. `ahead` lists the reservations.
fn first_time(
    (width, length): (u16, u64),
    first: (u16, u64),
    ahead: &[(u16, u16, u64, u64)],
) -> u64 {
    let open = |at: u64, x: u16| {
        let held = x < first.0 && at < first.1;
        let reserved = ahead
            .iter()
            .any(|&(y, w, from, to)| (y..y + w).contains(&x) && (from..to).contains(&at));
        !held && !reserved
    };
    let fits =
        |at: u64, x: u16| (at..at + length).all(|then| (x..x + width).all(|node| open(then, node)));
    (0..1000).find(|at| (0..=4 - width).any(|x| fits(*at, x))).unwrap()
}

#[test]
fn in_every_small_case_a_job_starts_at_the_first_time_at_which_it_can() {
    let mut cases = 0;
    let spans = |most: u64| (1..most).flat_map(move |to| (0..to).map(move |from| (from, to)));
    let places = || (0..4u16).flat_map(|x| (1..=4 - x).map(move |width| (x, width)));
    for first in (0..=4).flat_map(|width| [1, 3].map(|end| (width, end))) {
        for (x, width) in places() {
            for (from, to) in spans(6) {
                // The first job may overlap a reservation because it is already running.
                let later = (4 - width, 1, to + 1, to + 3);
                for ahead in [vec![(x, width, from, to)], vec![(x, width, from, to), later]] {
                    cases += 1;
                    check(first, &ahead);
                }
            }
        }
    }
    assert_eq!(cases, 10 * 10 * 15 * 2);
}

fn check(first: (u16, u64), ahead: &[(u16, u16, u64, u64)]) {
    let jobs = [(1, 2), (2, 3), (4, 4), (2, 1), (3, 2), (4, 1)];
    for job_of in jobs.into_iter().take(size(3, 6, 6)) {
        let expected = first_time(job_of, first, ahead);
        for scheduler in ["fcfs", "scan-all", "easy", "easy:plain", "conservative"] {
            let mut world = World::new("mesh:4", "ff", scheduler);
            if first.0 > 0 {
                world = world.holding(job(0, 0, row(first.0), first.1, first.1));
            }
            let reserved: Vec<AdvanceReservation> = (0..)
                .zip(ahead)
                .map(|(number, &(x, width, from, to))| {
                    columns(number, "mesh:4", x, width, (from, to))
                })
                .collect();
            let world = world.reserving(&reserved);
            let world = world.run(&[job(1, 0, row(job_of.0), job_of.1, job_of.1)]);
            let start = (world.start_of(1), world.broken());
            assert_eq!(start, (Time(expected), 0), "{scheduler} {job_of:?} {first:?} {ahead:?}");
        }
    }
}

fn compare(scheduler: &str, jobs: &[Job], reserved: &[AdvanceReservation], upsets: &[Upset]) {
    for strategy in STEADY {
        let world = |scheduler: &str| World::new(GRID, strategy, scheduler).reserving(reserved);
        in_lock_step(world(scheduler), world(&format!("{scheduler}:plain")), jobs, upsets);
    }
}

/// Strategies whose answers depend only on the free nodes, or that are queried on new forks.
const STEADY: [&str; 8] = ["ff", "tff", "bf", "fs", "naive", "mbs", "gabl", "anca"];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(size(9, 48, 48)))]

    #[test]
    fn no_scheduler_starts_a_job_into_a_reservation_and_all_jobs_start(
        jobs in jobs(25, Estimates::Any),
        reserved in reservations(),
    ) {
        for scheduler in schedulers() {
            for strategy in ["tff", "tbl", "naive", "mbs", "random"] {
                let world = World::new(GRID, strategy, &scheduler).reserving(&reserved).run(&jobs);
                prop_assert_eq!(world.started.len(), jobs.len(), "{} {}", scheduler, strategy);
            }
        }
    }

    #[test]
    fn easy_plans_around_reservations_as_its_plain_form(
        jobs in jobs_with_freedoms(40, Estimates::Any),
        reserved in reservations(),
    ) {
        compare("easy", &jobs, &reserved, &[]);
    }

    /// With exact estimates, no job may start later than promised, even with reservations.
    #[test]
    fn with_exact_estimates_no_promise_is_broken_by_a_reservation(
        jobs in jobs(30, Estimates::Exact),
        reserved in reservations(),
    ) {
        for strategy in ["tff", "tbl", "naive", "mbs"] {
            for scheduler in ["easy", "conservative"] {
                let world = World::new(GRID, strategy, scheduler).reserving(&reserved).run(&jobs);
                prop_assert_eq!(world.broken(), 0, "{} {}", scheduler, strategy);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(size(2, 12, 12)))]

    #[test]
    fn every_strategy_is_asked_beside_reservations(
        jobs in jobs(20, Estimates::Any),
        reserved in reservations(),
    ) {
        for strategy in strategies(GRID) {
            for scheduler in ["scan-all", "easy", "conservative"] {
                let world = World::new(GRID, strategy, scheduler).reserving(&reserved).run(&jobs);
                prop_assert_eq!(world.started.len(), jobs.len(), "{} {}", scheduler, strategy);
            }
        }
    }

    #[test]
    fn conservative_plans_around_reservations_as_its_plain_form(
        jobs in jobs_with_freedoms(40, Estimates::Any),
        reserved in reservations(),
    ) {
        compare("conservative", &jobs, &reserved, &[]);
    }

    #[test]
    fn plans_around_reservations_are_those_of_the_plain_form_while_nodes_fail(
        jobs in jobs(30, Estimates::Any),
        reserved in reservations(),
        nodes in prop::collection::vec(0u32..20, 3),
    ) {
        let upsets = fail_and_repair(&nodes);
        for scheduler in ["easy", "conservative"] {
            compare(scheduler, &jobs, &reserved, &upsets);
        }
    }
}
