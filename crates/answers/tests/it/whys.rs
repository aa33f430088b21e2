//! Tests that all parts of an explanation refer to the same position and that its sentences are
//! correct.

use pavior_allocation::{Machine, Placement};
use pavior_answers::{
    Cause, Demand, PlannedStart, Question, Queued, SearchLimits, Shape, Snapshot, Weights, Why,
    Words, earliest, fit, unblock, why,
};
use pavior_kernel::{Stream, Time};
use pavior_mesh::{Cuboid, Grid, JobId, NodeId, Request};

use crate::states;

fn end(job: JobId) -> Option<Time> {
    Some(Time(60 * (1 + job.0 % 7))).filter(|_| job.0 % 5 != 4)
}

/// All parts of an answer must be correct and refer to the same position.
#[test]
fn all_parts_speak_of_one_place() {
    let (mut timed, mut moved, mut lost) = (0, 0, 0);
    for seed in 0..3_000 {
        let mut stream = Stream::new(seed, 0, "why");
        let (drawn, snapshot) = states::draw(&mut stream);
        let shape = Shape::new(drawn.shape);
        let demand = Demand::boxed(&snapshot, vec![shape]);
        let limits = SearchLimits::jobs(2);
        let question = Question { limits, ..Question::new(&demand, &end) };
        let answer = why(&snapshot, &question);
        let free = fit(&snapshot, shape);
        assert_eq!(answer.cause == Cause::Fits, free.is_some());
        assert_eq!(answer.place, free.into_iter().collect::<Vec<_>>());
        assert_eq!(answer.blocked.is_none(), free.is_some());
        let Some(blocked) = &answer.blocked else { continue };
        assert_eq!(answer.places(), [blocked.at]);
        let meets =
            |parts: &[Cuboid]| parts.iter().any(|at| at.intersects(&drawn.grid, &blocked.at));
        let mut there: Vec<(JobId, u64)> = snapshot
            .jobs()
            .filter(|(_, parts)| meets(parts))
            .map(|(job, parts)| (job, parts.iter().map(|at| u64::from(at.volume())).sum()))
            .collect();
        there.sort_by_key(|&(job, nodes)| (std::cmp::Reverse(nodes), job));
        assert_eq!(blocked.jobs, there);
        let is_lost = |node: &NodeId| drawn.failed.contains(node);
        let mut unavailable: Vec<NodeId> = blocked.at.nodes(&drawn.grid).filter(is_lost).collect();
        unavailable.sort_unstable();
        assert_eq!(blocked.unavailable, unavailable);
        let first = earliest(&snapshot, shape, end);
        assert_eq!(blocked.until, first.map(|first| first.at));
        if first.is_some() {
            timed += 1;
            let last = there.iter().map(|&(job, _)| end(job).expect("it ends")).max();
            assert_eq!((last, unavailable.len()), (blocked.until, 0));
        }
        lost += u32::from(!unavailable.is_empty());
        let moves = unblock(&snapshot, shape, &Weights::nodes(&snapshot), &limits).plan;
        moved += u32::from(moves.is_some());
        assert_eq!(blocked.moves, moves);
        // If the scheduler has planned a start, the answer uses the position and time of that
        // start.
        let at = Cuboid::new([0; 3], blocked.at.sides);
        let plan = PlannedStart { at: Time(9_999), place: Some(at) };
        let answer = why(&snapshot, &Question { planned: Some(plan), ..question });
        assert_eq!(answer.planned.map(|planned| planned.at), Some(Time(9_999)));
        let blocked = answer.blocked.expect("nothing is free");
        assert_eq!((blocked.at, blocked.until), (at, Some(Time(9_999))));
    }
    assert!(timed > 300 && moved > 300 && lost > 30, "{timed} {moved} {lost}");
}

/// Creates a row of 12 nodes in which jobs 1 to 4 hold 1, 2, 1, and 3 nodes, respectively.
fn row() -> Machine {
    let mut machine = Machine::new(Grid::mesh(&[12]).unwrap(), "ff").unwrap();
    for (job, base, side) in [(1, 1, 1), (2, 4, 2), (3, 8, 1), (4, 9, 3)] {
        let at = Placement::Whole(Cuboid::new([base, 0, 0], [side, 1, 1]));
        machine.allocate_at(JobId(job), at).unwrap();
    }
    machine
}

fn told(answer: &Why, grid: &Grid) -> Vec<String> {
    answer.lines(&Words {
        grid,
        job: &|JobId(job)| format!("job {job}"),
        time: &|Time(at)| format!("{:02}:{:02}", at / 60, at % 60),
        strategy: "ff",
        scheduler: "easy",
    })
}

fn ask(machine: &mut Machine, nodes: u32, queued: Queued, most: usize) -> Vec<String> {
    let demand = Demand::of(machine, &Request::shape([nodes as u16, 1, 1]));
    let snapshot = Snapshot::of(machine);
    let end = |JobId(job): JobId| Some(Time(600 + 60 * job));
    let limits = SearchLimits::jobs(most);
    let answer = why(&snapshot, &Question { queued, limits, ..Question::new(&demand, &end) });
    told(&answer, machine.grid())
}

#[test]
fn the_sentences_are_these() {
    let mut machine = row();
    let (from, until) = (Time(660), Time(860));
    let reserved = Queued::Reserved { by: JobId(9), from, until: Some(until) };
    let for_job_9 = "It fits, but would not end before job 9 starts; nodes are reserved for that \
                     job from 11:00 until 14:20.";
    let ahead = Queued::Ahead { reservation: 4, from, until };
    let for_reservation_4 = "It fits, but would not end before reservation 4 takes some of its \
                             nodes, from 11:00 until 14:20.";
    let (first, behind) = (Queued::First, Queued::Behind(Some(JobId(3))));
    let no_place = "It needs 4 nodes, and 5 are free, but `ff` cannot place it on them; 4 at 0 \
                    becomes free first, at 11:00.\nBlocked there by job 1 (1 node).";
    let moving = "Moving job 1 from 1 at 1 to 1 at 6 would free 4 at 0 sooner.";
    let too_few = "It needs 9 nodes, but only 5 are free; 9 at 0 becomes free first, at 13:00.\n\
                   Blocked there by job 2 (2 nodes), job 1 (1 node), job 3 (1 node).";
    for (nodes, queued, most, lines) in [
        (2, first, 2, "It fits now, on 2 at 2."),
        (2, reserved, 2, for_job_9),
        (2, ahead, 2, for_reservation_4),
        (2, behind, 2, "It is waiting its turn: under `easy`, job 3 starts first."),
        (4, first, 0, no_place),
        (4, first, 1, &format!("{no_place}\n{moving}")),
        (9, first, 2, too_few),
        (13, first, 2, "It can never fit: mesh:12 is too small."),
    ] {
        assert_eq!(ask(&mut machine, nodes, queued, most).join("\n"), lines);
    }
    machine.fail(NodeId(3)).unwrap();
    machine.fail(NodeId(6)).unwrap();
    assert_eq!(
        ask(&mut machine, 12, Queued::First, 2)[0],
        "It needs 12 nodes, but only 3 are free; it cannot start until 2 unavailable nodes in 12 \
         at 0 are back."
    );
}

#[test]
fn of_many_blockers_the_largest_are_named() {
    let snapshot =
        states::row(16, &[0, 1, 2, 3, 4, 5, 6, 7].map(|job| (2 * job, 1 + job % 2)), &[]);
    let demand = Demand::boxed(&snapshot, vec![Shape::new([16, 1, 1])]);
    let answer = why(&snapshot, &Question::new(&demand, &|_| None));
    let lines = told(&answer, snapshot.grid());
    assert_eq!(
        lines[1],
        "Blocked on 16 at 0 by job 1 (2 nodes), job 3 (2 nodes), job 5 (2 nodes), job 7 (2 \
         nodes), job 0 (1 node), and 3 more."
    );
    // If a blocking job's end time is unknown, the answer must not report a time.
    let some = |job: JobId| end(job).filter(|_| job.0 != 3);
    let answer = why(&snapshot, &Question::new(&demand, &some));
    assert_eq!(answer.blocked.unwrap().until, None);
}
