//! Compares free places, nearest boxes, blockers, and the earliest places with their definitions.

use pavior_answers::{Blockers, Shape, Snapshot, Weights, blockers, earliest, fit, nearest};
use pavior_kernel::Time;
use pavior_mesh::{Cuboid, Grid, JobId, NodeId, Sides, orientations, volume};
use pavior_trials::size;

use crate::brute::{self, State};
use crate::states;

/// Checks all four answers in one state.
pub(crate) fn judge(state: &State, snapshot: &Snapshot, shape: Sides, salt: u64) {
    for turn in [true, false] {
        let ask = if turn { Shape::new(shape) } else { Shape::fixed(shape) };
        let places = brute::places(&state.grid, shape, turn);
        let free = state.free_without(&[]);
        let first = places.iter().find(|(_, nodes)| nodes & !free == 0).map(|(at, _)| *at);
        assert_eq!(fit(snapshot, ask), first);
        let weights: Vec<u64> =
            (0..state.jobs.len() as u64).map(|job| (job * 13 + salt) % 7).collect();
        judge_blockers(state, snapshot, ask, &places, &weights);
        judge_earliest(state, snapshot, ask, &places, &weights);
        judge_nearest(state, snapshot, ask);
    }
}

fn judge_blockers(
    state: &State,
    snapshot: &Snapshot,
    ask: Shape,
    places: &[(Cuboid, u32)],
    weights: &[u64],
) {
    let mut best: Option<Blockers> = None;
    for (at, nodes) in places {
        let jobs = state.holders(*nodes);
        let weight = jobs.iter().map(|&job| weights[job]).sum();
        let unavailable = brute::nodes(nodes & !state.healthy);
        let cost = (unavailable.len(), weight);
        if best.as_ref().is_none_or(|best| cost < (best.unavailable.len(), best.weight)) {
            let jobs = jobs.into_iter().map(|job| JobId(job as u64)).collect();
            best = Some(Blockers { at: *at, weight, jobs, unavailable });
        }
    }
    let own = Weights::new(snapshot, |job| weights[job.0 as usize]).unwrap();
    assert_eq!(blockers(snapshot, ask, &own), best);
}

fn judge_earliest(
    state: &State,
    snapshot: &Snapshot,
    ask: Shape,
    places: &[(Cuboid, u32)],
    weights: &[u64],
) {
    // Some jobs never end.
    let end = |job: usize| (weights[job] != 3).then_some(Time(weights[job] + 1));
    let mut best: Option<(Time, Cuboid)> = None;
    for (at, nodes) in places.iter().filter(|(_, nodes)| nodes & !state.healthy == 0) {
        let met = state.holders(*nodes);
        let last = met.into_iter().map(end).try_fold(Time::ZERO, |last, end| Some(last.max(end?)));
        if let Some(last) = last
            && best.is_none_or(|(least, _)| last < least)
        {
            best = Some((last, *at));
        }
    }
    let answer = earliest(snapshot, ask, |job| end(job.0 as usize));
    assert_eq!(answer.map(|answer| (answer.at, answer.place)), best);
}

fn judge_nearest(state: &State, snapshot: &Snapshot, ask: Shape) {
    let free = state.free_without(&[]);
    let within = |inner: Sides, outer: Sides| (0..3).all(|axis| inner[axis] <= outer[axis]);
    let count = if ask.turn { 6 } else { 1 };
    let mut all = Vec::new();
    for (turn, asked) in orientations(ask.sides).take(count).enumerate() {
        for at in states::boxes(state.grid) {
            if within(at.sides, asked) && brute::mask(&state.grid, &at) & !free == 0 {
                let cut: u16 = (0..3).map(|axis| asked[axis] - at.sides[axis]).sum();
                let [x, y, z] = at.base;
                let sides = std::cmp::Reverse(at.sides);
                let more = std::cmp::Reverse(volume(at.sides));
                all.push(((more, cut, turn, sides, [z, y, x]), at));
            }
        }
    }
    all.sort();
    let mut listed: Vec<Cuboid> = Vec::new();
    for (_, at) in all {
        let dominated =
            |other: &Cuboid| orientations(at.sides).take(count).any(|s| within(s, other.sides));
        if !listed.iter().any(dominated) {
            listed.push(at);
        }
    }
    assert_eq!(nearest(snapshot, ask, usize::MAX), listed);
    for count in [2, 1] {
        listed.truncate(count);
        assert_eq!(nearest(snapshot, ask, count), listed);
    }
}

#[test]
fn every_state_of_small_machines() {
    let grids = ["mesh:6", "torus:6", "mesh:3x2", "torus:3x2", "grid:2x3w", "mesh:2x2x2"];
    for grid in grids.into_iter().take(size(4, 6, 6)) {
        let grid: Grid = grid.parse().unwrap();
        let mut count = 0u64;
        states::every(grid, true, &mut |state, snapshot| {
            count += 1;
            for code in 0..grid.nodes() {
                let shape = grid.point(NodeId(code)).map(|side| side + 1);
                judge(state, snapshot, shape, count);
            }
        });
        assert!(count > 100, "{grid}: {count} states");
    }
}

#[test]
fn what_never_fits_is_none() {
    let grid = Grid::mesh(&[4, 2]).unwrap();
    let snapshot = states::snapshot(grid, &[], &[NodeId(1), NodeId(6)]);
    let weights = Weights::nodes(&snapshot);
    assert_eq!(blockers(&snapshot, Shape::new([5, 1, 1]), &weights), None);
    let whole = blockers(&snapshot, Shape::new([4, 2, 1]), &weights).unwrap();
    assert_eq!((whole.weight, whole.unavailable), (0, vec![NodeId(1), NodeId(6)]));
    for shape in [[5, 1, 1], [4, 2, 1]] {
        assert_eq!(earliest(&snapshot, Shape::new(shape), |_| None), None);
    }
}
