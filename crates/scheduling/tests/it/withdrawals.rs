//! Tests of jobs that are withdrawn, or that are started without the scheduler, as can happen in a
//! service.

use pavior_kernel::Time;
use pavior_mesh::JobId;
use pavior_scheduling::{Dispatcher, Kept, Start};

use crate::workloads::BACKFILLING;
use crate::world::{World, job, row};

struct Small(Dispatcher);

impl Small {
    fn new(nodes: u16, scheduler: &str) -> Small {
        Small(World::new(&format!("mesh:{nodes}x1"), "tff", scheduler).dispatcher)
    }

    /// Starts a job, bypassing the scheduler.
    fn begin(&mut self, id: u64, at: u64, nodes: u16, estimate: u64) {
        let request = row(nodes);
        self.0.grant(job(id, at, request, estimate, estimate), Time(at)).unwrap();
    }

    fn end(&mut self, id: u64) {
        self.0.end(JobId(id)).unwrap();
    }

    fn wait(&mut self, id: u64, at: u64, nodes: u16, estimate: u64) {
        self.0.submit(job(id, at, row(nodes), estimate, estimate)).unwrap();
    }

    fn next(&mut self, now: u64) -> Option<Start> {
        self.0.decide(Time(now), &mut ()).unwrap().map(|decision| decision.named().clone())
    }
}

#[test]
fn a_withdrawn_job_leaves_nothing_behind() {
    let others = ["scan-all", "bypass:1", "window", "easy-freedom"];
    for scheduler in BACKFILLING.into_iter().chain(others) {
        let mut small = Small::new(8, scheduler);
        small.begin(1, 0, 5, 100);
        for (id, nodes) in [(2, 8), (3, 4), (4, 4)] {
            small.wait(id, 0, nodes, 10);
        }
        assert_eq!(small.next(0), None, "{scheduler}: 3 nodes are free");
        assert_eq!(small.0.withdraw(1).unwrap().id, JobId(3));
        small.wait(5, 1, 2, 10);
        // Job 5 now has the index that belonged to job 4, which did not fit.
        let start = small.next(1).unwrap_or_else(|| panic!("{scheduler}: job 5 fits"));
        assert_eq!(start.index, 2, "{scheduler}");
        let nodes = start.placement.map_or(2, |placement| placement.nodes());
        assert_eq!(nodes, 2, "{scheduler}: it gets what it asks for");
    }
}

#[test]
fn a_withdrawn_booking_lets_others_move_up() {
    for scheduler in ["conservative", "conservative:count"] {
        let mut small = Small::new(8, scheduler);
        small.begin(1, 0, 5, 100);
        small.wait(2, 0, 8, 10);
        small.wait(3, 0, 2, 1000);
        assert_eq!(small.next(0), None, "{scheduler}: job 3 would delay job 2");
        let standing = small.0.standing(Time(0)).unwrap();
        assert_eq!(standing.kept, [Kept::ByReservations, Kept::ByReservations]);
        assert_eq!((standing.reserved[0].job, standing.reserved[0].from), (JobId(2), Time(100)));
        small.0.withdraw(0);
        assert_eq!(small.next(1).map(|start| start.index), Some(0), "{scheduler}");
    }
}

#[test]
fn no_job_starts_on_nodes_that_were_granted_beside_the_scheduler() {
    for scheduler in BACKFILLING {
        let mut small = Small::new(4, scheduler);
        small.begin(1, 0, 2, 100);
        small.begin(2, 0, 2, 50);
        small.wait(3, 0, 4, 10);
        assert_eq!(small.next(0), None);
        small.end(2);
        assert_eq!(small.next(50), None);
        small.begin(4, 60, 2, 1000);
        small.end(1);
        assert_eq!(small.next(100), None, "{scheduler}: job 4 holds two of the nodes");
    }
}

/// Only the bookings that overlap a grant may be postponed, and the ones behind them must move up.
#[test]
fn only_the_bookings_that_a_grant_overlaps_give_way() {
    for scheduler in ["conservative", "conservative:plain", "conservative:count"] {
        let mut small = Small::new(5, scheduler);
        small.begin(1, 0, 3, 10);
        let planned = |small: &mut Small, now| {
            assert_eq!(small.next(now), None, "{scheduler}");
            let reserved = small.0.standing(Time(now)).unwrap().reserved;
            reserved.iter().map(|one| (one.job.0, one.from.0)).collect::<Vec<_>>()
        };
        for (id, nodes, estimate) in [(2, 5, 10), (3, 3, 5), (4, 3, 5)] {
            small.wait(id, 0, nodes, estimate);
        }
        assert_eq!(planned(&mut small, 0), [(2, 10), (3, 20), (4, 25)]);
        // Job 5 ends before the first booking begins.
        small.begin(5, 1, 2, 9);
        assert_eq!(planned(&mut small, 1), [(2, 10), (3, 20), (4, 25)]);
        small.end(5);
        // Job 2 needs all nodes and must now wait for job 6, so jobs 3 and 4 start earlier.
        small.begin(6, 2, 1, 100);
        assert_eq!(planned(&mut small, 2), [(2, 102), (3, 10), (4, 15)]);
        assert_eq!(small.0.scheduler().broken_guarantees(), 0);
    }
}

#[test]
fn an_end_and_a_withdrawal_at_once_leave_each_job_its_own_booking() {
    for scheduler in ["conservative", "conservative:plain", "conservative:count"] {
        let mut small = Small::new(8, scheduler);
        small.begin(1, 0, 5, 100);
        for (id, nodes) in [(2, 8), (3, 2), (4, 8), (5, 1)] {
            small.wait(id, 0, nodes, 1000);
        }
        assert_eq!(small.next(0), None, "{scheduler}");
        small.0.withdraw(0);
        small.end(1);
        let started = small.0.start_next(Time(1), &mut ()).unwrap().unwrap();
        assert_eq!((started.job.id, started.placement.nodes()), (JobId(3), 2), "{scheduler}");
        assert_eq!(
            small.next(1).map(|start| start.index),
            Some(1),
            "{scheduler}: job 5 ends with it"
        );
    }
}

/// A job that cannot be booked before the latest possible time must start once the jobs ahead of it
/// are gone. Bookings can extend that far because a request without an estimate is assumed to last
/// a century.
#[test]
fn a_job_behind_the_end_of_time_starts_when_those_before_it_have_gone() {
    for scheduler in BACKFILLING {
        let mut small = Small::new(4, scheduler);
        small.begin(0, 0, 4, 1 << 60);
        for id in 1..=20 {
            small.wait(id, 0, 4, 1 << 60);
        }
        assert_eq!(small.next(0), None, "{scheduler}");
        for _ in 1..=18 {
            small.0.withdraw(0);
            assert_eq!(small.next(1), None, "{scheduler}");
        }
        small.end(0);
        let started = small.0.start_next(Time(2), &mut ()).unwrap();
        assert_eq!(started.map(|started| started.job.id), Some(JobId(19)), "{scheduler}");
    }
}
