//! Tests, with drawings, of cases small enough to check by eye.

use pavior_allocation::Placement;
use pavior_kernel::Time;
use pavior_mesh::{Cuboid, Freedom, Request};
use pavior_workload::Job;

use crate::world::{World, job, row};

fn starts(grid: &str, scheduler: &str, jobs: &[Job]) -> Vec<u64> {
    let world = World::new(grid, "ff", scheduler).run(jobs);
    jobs.iter().map(|job| world.start_of(job.id.0).0).collect()
}

/// A count-based reservation delays the head, but a reservation of specific nodes does not:
///
/// ```text
///   x  0 1 2 3 4 5    a ends at 4, b at 9. The head h requests 3 in a row; c requests 1 until 20.
///      a a . . b b
/// count:  t = 0  a a c . b b      t = 4  . . c . b b      t = 9  . . c h h h
/// space:  t = 0  a a . c b b      t = 4  h h h c b b
/// ```
#[test]
fn counting_delays_the_head_and_geometry_does_not() {
    let jobs = [
        job(0, 0, row(2), 4, 4),   // a
        job(1, 0, row(2), 1, 1),   // keeps 2 and 3 until b has been placed
        job(2, 0, row(2), 9, 9),   // b
        job(3, 1, row(3), 5, 5),   // h
        job(4, 1, row(1), 19, 19), // c
    ];
    let count = World::new("mesh:6", "ff", "easy:count").run(&jobs);
    let geometry = World::new("mesh:6", "ff", "easy").run(&jobs);
    let node = |x| Placement::Whole(Cuboid::new([x, 0, 0], [1, 1, 1]));
    assert_eq!((count.start_of(4), &count.of(4).placement), (Time(1), &node(2)));
    assert_eq!((geometry.start_of(4), &geometry.of(4).placement), (Time(1), &node(3)));
    assert_eq!((count.start_of(3), count.broken()), (Time(9), 1));
    assert_eq!((geometry.start_of(3), geometry.broken()), (Time(4), 0));
}

/// Checks that job d must wait for job a, because d is outside the window of three. Job a fits at
/// 9:
///
/// ```text
///   [a b c] d     b starts; d fits too, but is outside the window until a starts
/// ```
#[test]
fn a_window_keeps_the_places_of_those_who_started() {
    let jobs = [
        job(0, 0, row(3), 9, 9),
        job(1, 0, row(4), 2, 2), // a
        job(2, 0, row(1), 9, 9), // b
        job(3, 0, row(4), 2, 2), // c
        job(4, 0, row(1), 9, 9), // d
    ];
    assert_eq!(starts("mesh:5", "window:3", &jobs), [0, 9, 0, 11, 9]);
    assert_eq!(starts("mesh:5", "window:4", &jobs), [0, 9, 0, 11, 0]);
}

/// The head is promised nodes at 7, when both a and b have ended. Job c ends by then, so it may use
/// those nodes. Job d does not, so it must use another node.
///
/// ```text
///   a a b . . .   a runs until 5, b until 7; the head requests 5 in a row and is promised 7
/// ```
#[test]
fn who_ends_in_time_may_use_reserved_nodes() {
    let jobs = [
        job(0, 0, row(2), 5, 5), // a
        job(1, 0, row(1), 7, 7), // b
        job(2, 0, row(5), 1, 1), // head: 0 to 4 at 7
        job(3, 0, row(2), 7, 7), // c: until 7, on 3 and 4
        job(4, 0, row(1), 8, 8), // d: outside the reservation, on 5
        job(5, 0, row(1), 2, 2), // e: nothing is left before 5
    ];
    for scheduler in ["easy", "conservative"] {
        assert_eq!(starts("mesh:6", scheduler, &jobs), [0, 0, 7, 0, 0, 5], "{scheduler}");
    }
}

/// Under EASY, only the head is protected, so job c may overtake job a even though this delays b.
/// Conservative backfilling keeps b's booking, so c has to wait.
///
/// ```text
///   x  0 1 2 3     r runs until 4. The head a (3 wide) is booked for 4, and b (4 wide) for 5, when
///      r r r .     a has ended. c is 1 wide and runs for 10.
/// ```
#[test]
fn conservative_protects_those_behind_the_head() {
    let jobs = [
        job(0, 0, row(3), 4, 4),   // r
        job(1, 0, row(3), 1, 1),   // a: 0 to 2 at 4
        job(2, 0, row(4), 2, 2),   // b: all at 5
        job(3, 0, row(1), 10, 10), // c: next to a, but in b's way
    ];
    assert_eq!(starts("mesh:4", "easy", &jobs), [0, 4, 10, 0]);
    assert_eq!(starts("mesh:4", "conservative", &jobs), [0, 4, 5, 7]);
}

/// Classes 0 (one node), 1 (two or three) and 2 (four) must be served in order.
#[test]
fn scan_goes_round() {
    let jobs = [
        job(0, 0, row(4), 10, 10),
        job(1, 1, row(1), 5, 5),
        job(2, 1, row(2), 5, 5),
        job(3, 1, row(4), 5, 5),
        job(4, 2, row(3), 5, 5),
    ];
    // Class 2 is current, so job 3 blocks all others until 10. Then the other classes follow.
    assert_eq!(starts("mesh:4", "scan", &jobs), [0, 15, 15, 10, 20]);
    assert_eq!(starts("mesh:4", "scan:down", &jobs), [0, 20, 15, 10, 15 + 5]);
}

/// Checks that, with a factor of 0.5, the second of two waiting jobs may bypass the head, but the
/// third of three may not.
#[test]
fn bypass_deepens_with_the_queue() {
    let jobs = [
        job(0, 0, row(3), 9, 9),
        job(1, 1, row(2), 1, 1),
        job(2, 1, row(2), 1, 1),
        job(3, 1, row(1), 1, 1),
        job(4, 3, row(2), 1, 1),
        job(5, 5, row(2), 1, 1),
    ];
    // At 1, three jobs wait and two are tried. At 3, four jobs wait and three are tried.
    assert_eq!(starts("mesh:4", "bypass", &jobs)[3], 3);
}

/// A job's freedom, not the strategy's own rule, decides where it fits. With a strategy that grants
/// by count, a job that needs a box must wait until the running job has ended. With a strategy that
/// grants boxes, a job that accepts a connected set fits next to the running job.
///
/// ```text
///   a a a    until 2; b requests 2 x 3, unturned:      a a a a    until 2; b requests 10 connected
///   . . .    the six free nodes are a box of 3 x 2     a a a a    nodes, which are not a 2 x 5 box
///   . . .                                              . . . .
///                                                      . . . .
///                                                      . . . .
/// ```
#[test]
fn plans_follow_the_freedom_of_a_job() {
    let cases = [
        ("mesh:3x3", "naive", [3, 1, 1], [2, 3, 1], Freedom::Box, 2),
        ("mesh:4x5", "tff", [4, 2, 1], [2, 5, 1], Freedom::Connected, 0),
    ];
    for scheduler in ["fcfs", "easy", "conservative", "conservative:count"] {
        for (grid, strategy, held, wanted, freedom, start) in cases {
            let wanted = Request::shape(wanted).with_freedom(freedom);
            let jobs = [job(0, 0, Request::shape(held), 2, 2), job(1, 0, wanted, 7, 7)];
            let world = World::new(grid, strategy, scheduler).run(&jobs);
            assert_eq!(world.start_of(1), Time(start), "{strategy} {scheduler}");
        }
    }
}
