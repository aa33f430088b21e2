//! Compares plans that make room by a given time with all possible sets of requeued and moved jobs.

use pavior_answers::{Prospect, Room, RoomPlan, SearchLimits, Shape, room_by};
use pavior_kernel::{Stream, Time};
use pavior_mesh::{Cuboid, JobId, NodeId, Sides};

use crate::brute::{self, State};
use crate::states;
use crate::unblocks::carry_out;

const BY: Time = Time(10);

/// Creates the example row, in which job a runs until time 8 and job b until time 20.
fn row(failed: &[NodeId]) -> (pavior_answers::Snapshot, impl Fn(JobId) -> Prospect) {
    let snapshot = states::row(6, &[(0, 2), (2, 2)], failed);
    let prospect = |JobId(job)| Prospect {
        end: Some(Time([8, 20][job as usize])),
        loss: Some([100, 30][job as usize]),
    };
    (snapshot, prospect)
}

#[test]
fn who_ends_in_time_need_not_move() {
    let four = [Shape::new([4, 1, 1])];
    let ask = |failed: &[NodeId], by, most| {
        let (snapshot, prospect) = row(failed);
        room_by(&snapshot, Room::Box(&four), Time(by), prospect, &SearchLimits::jobs(most))
    };
    let plan = ask(&[], 9, 1).plan.unwrap();
    assert_eq!((plan.lost, plan.moves.jobs), (0, vec![JobId(1)]));
    assert_eq!((plan.ready, plan.awaited), (vec![Time(0)], vec![JobId(0)]));
    // A node has failed, so there is no room for both b and the box.
    let plan = ask(&[NodeId(5)], 9, 1).plan.unwrap();
    assert_eq!((plan.requeued, plan.lost, plan.moves.jobs), (vec![JobId(1)], 30, Vec::new()));
    // At time 7, both jobs block the box. Without b, four nodes in a row are free.
    let plan = ask(&[], 7, 1).plan;
    assert_eq!(plan.map(|plan| (plan.requeued, plan.lost)), Some((vec![JobId(1)], 30)));
    assert_eq!(ask(&[], 20, 1).plan.unwrap().awaited, [JobId(0), JobId(1)]);
    let none = ask(&[], 7, 0);
    assert_eq!((none.plan, none.proven), (None, true));
}

#[test]
fn the_sum_of_losses_saturates() {
    let snapshot = states::row(3, &[(0, 1), (1, 1), (2, 1)], &[]);
    let prospect = |job: JobId| Prospect { end: None, loss: Some(u64::MAX - 2 + job.0) };
    let room = [Shape::new([3, 1, 1])];
    let limits = SearchLimits::jobs(3);
    let answer = room_by(&snapshot, Room::Box(&room), BY, prospect, &limits);
    let plan = answer.plan.unwrap();
    assert_eq!((plan.requeued.len(), plan.lost), (3, u64::MAX));
}

#[test]
fn a_move_waits_for_those_whose_nodes_it_takes() {
    let (snapshot, prospect) = row(&[NodeId(4), NodeId(5)]);
    let nodes = [NodeId(2), NodeId(3)];
    let answer = room_by(&snapshot, Room::Nodes(&nodes), BY, prospect, &SearchLimits::jobs(1));
    let plan = answer.plan.unwrap();
    assert_eq!((plan.lost, plan.moves.jobs.clone()), (0, vec![JobId(1)]));
    assert_eq!(plan.moves.moves[0].to, [Cuboid::new([0, 0, 0], [2, 1, 1])]);
    assert_eq!((plan.ready, plan.awaited), (vec![Time(8)], vec![JobId(0)]));
}

#[test]
fn who_may_not_be_requeued_is_not() {
    let (snapshot, prospect) = row(&[NodeId(4), NodeId(5)]);
    let nodes = [NodeId(0)];
    let kept = |job| Prospect { loss: None, ..prospect(job) };
    let ask = |by: u64, kept: &dyn Fn(JobId) -> Prospect| {
        room_by(&snapshot, Room::Nodes(&nodes), Time(by), kept, &SearchLimits::jobs(2))
    };
    assert_eq!(ask(8, &kept).plan.map(|plan| plan.awaited), Some(vec![JobId(0)]));
    assert_eq!((ask(7, &kept).plan, ask(7, &kept).proven), (None, true));
    // Job b is requeued, and job a moves to b's nodes. Requeuing job a would lose more work.
    let plan = ask(7, &prospect).plan.unwrap();
    assert_eq!((plan.requeued, plan.lost, plan.moves.jobs), (vec![JobId(1)], 30, vec![JobId(0)]));
}

/// A box, if one is wanted, and the nodes to drain.
type Wanted = (Option<Sides>, u32);

/// Returns the reference answer: the minimum (loss, weight) over sets of at most `most` requeued
/// and moved jobs.
fn least(
    state: &State,
    (shape, drained): Wanted,
    prospects: &[Prospect],
    most: usize,
) -> Option<(u64, u64)> {
    let staying: Vec<usize> = (0..state.jobs.len())
        .filter(|&job| prospects[job].end.is_none_or(|end| end > BY))
        .collect();
    let may = |set: &Vec<usize>| set.iter().all(|&job| prospects[staying[job]].loss.is_some());
    let sets = brute::subsets(staying.len(), most).into_iter().filter(may);
    let judged = sets.filter_map(|requeued| {
        let lost = requeued.iter().filter_map(|&job| prospects[staying[job]].loss).sum::<u64>();
        let left: Vec<usize> = (0..staying.len()).filter(|job| !requeued.contains(job)).collect();
        let jobs: Vec<Vec<Cuboid>> =
            left.iter().map(|&job| state.jobs[staying[job]].clone()).collect();
        let then = State { jobs, ..*state };
        let (required, then) = (then.holders(drained), then.drained(drained));
        let boxes = shape.map_or(([1; 3], 0), |sides| (sides, 1));
        let cost = then.least(boxes, (&required, most - requeued.len()), &then.sizes());
        Some((lost, cost?))
    });
    judged.min()
}

/// Removes the jobs that end in time or are requeued, then checks a plan by executing its moves.
fn check(state: &State, plan: &RoomPlan, prospects: &[Prospect], (shape, drained): Wanted) {
    let ends = |job: usize| prospects[job].end.is_some_and(|end| end <= BY);
    let mut jobs = state.jobs.clone();
    for (job, parts) in jobs.iter_mut().enumerate() {
        if ends(job) || plan.requeued.contains(&JobId(job as u64)) {
            parts.clear();
        }
    }
    let then = State { jobs, ..*state };
    carry_out(&then.drained(drained), &plan.moves, shape.unwrap_or([1; 3]));
    let lost = plan.requeued.iter().map(|job| prospects[job.0 as usize].loss.unwrap());
    assert_eq!(plan.lost, lost.sum::<u64>());
    // Each move needs only nodes whose jobs have ended by the time of the move.
    for (step, ready) in plan.moves.moves.iter().zip(&plan.ready) {
        for job in (0..state.jobs.len()).filter(|&job| ends(job)) {
            if prospects[job].end.unwrap() > *ready {
                assert_eq!(state.held(job) & brute::masks(&state.grid, &step.to), 0);
            }
        }
    }
    assert!(plan.ready.is_sorted() && plan.awaited.iter().all(|job| ends(job.0 as usize)));
}

#[test]
fn two_thousand_states() {
    let mut stream = Stream::new(42, 0, "room-by");
    let (mut seen, mut circles) = ([0u32; 4], 0);
    for case in 0..2000u64 {
        let (drawn, snapshot) = states::draw(&mut stream);
        let state = State::new(drawn.grid, &drawn.jobs, &drawn.failed, case % 4 != 3);
        let mut below = |n: u64| stream.next_u64() % n;
        let prospects: Vec<Prospect> = (0..drawn.jobs.len())
            .map(|_| Prospect {
                end: Some(Time(below(20))).filter(|_| below(5) > 0),
                loss: Some(below(6)).filter(|_| below(5) > 0),
            })
            .collect();
        let most = if case % 8 == 0 { 3 } else { below(3) as usize };
        let nodes = below(1 << 32) as u32 & below(1 << 32) as u32 & below(1 << 32) as u32;
        let (shape, drained) = if case % 3 == 0 { (None, nodes) } else { (Some(drawn.shape), 0) };
        let ids = brute::nodes(drained);
        let shapes: Vec<Shape> = shape.map(Shape::new).into_iter().collect();
        let room = if shape.is_some() { Room::Box(&shapes) } else { Room::Nodes(&ids) };
        let limits = SearchLimits { turn: state.turn, ..SearchLimits::jobs(most) };
        let answer = room_by(&snapshot, room, BY, |job| prospects[job.0 as usize], &limits);
        assert!(answer.proven, "small machines are always decided");
        let judged = least(&state, (shape, drained), &prospects, most);
        if let Some(plan) = &answer.plan {
            check(&state, plan, &prospects, (shape, drained));
            assert!(plan.requeued.len() + plan.moves.jobs.len() <= most);
            seen[usize::from(!plan.requeued.is_empty()) + 2 * usize::from(plan.moves.cost > 0)] +=
                1;
        }
        let found = answer.plan.map(|plan| (plan.lost, plan.moves.cost));
        if found != judged {
            // If the answers differ, a cheaper set fits, but its moves block each other in a cycle.
            assert!(found.is_none_or(|found| judged.is_some_and(|judged| judged < found)));
            circles += 1;
        }
    }
    assert!(seen.iter().all(|count| *count > 10) && circles < 10, "{seen:?} {circles}");
}
