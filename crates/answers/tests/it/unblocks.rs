//! Executes plans that unblock a request, one step at a time, and compares them with the reference
//! implementation.

use pavior_answers::{MovePlan, Planned, SearchLimits, Shape, Snapshot, Weights, unblock};
use pavior_mesh::{Cuboid, Grid, JobId, NodeId, Sides};

use crate::brute::{self, State};
use crate::states;

/// Executes a plan. Each move must be to healthy, free nodes, and the job must keep its shape.
pub(crate) fn carry_out(state: &State, plan: &MovePlan, shape: Sides) {
    let grid = &state.grid;
    let mut jobs = state.jobs.clone();
    let mut moved: Vec<JobId> = Vec::new();
    for step in &plan.moves {
        let job = step.job.0 as usize;
        assert_eq!(step.from, jobs[job], "a job moves from where it is");
        jobs[job] = Vec::new();
        assert_eq!(step.to.len(), step.from.len());
        for (index, (from, to)) in step.from.iter().zip(&step.to).enumerate() {
            assert!(to.lies_on(grid) && *to == to.canonical(grid));
            assert_eq!(sides(from, state.turn), sides(to, state.turn), "a part keeps its shape");
            let others = jobs.iter().fold(0, |all, parts| all | brute::masks(grid, parts));
            let own = brute::masks(grid, &step.to[..index]);
            let free = state.healthy & !others & !own;
            assert_eq!(brute::mask(grid, to) & !free, 0, "the nodes are free");
        }
        jobs[job].clone_from(&step.to);
        if !moved.contains(&step.job) {
            moved.push(step.job);
        }
    }
    moved.sort_unstable();
    assert_eq!(moved, plan.jobs);
    let mut free = jobs.iter().fold(state.healthy, |free, parts| free & !brute::masks(grid, parts));
    for at in &plan.boxes {
        assert_eq!(sides(at, true), sides(&Cuboid::new([0; 3], shape), true));
        assert_eq!(brute::mask(grid, at) & !free, 0, "the box is free");
        free &= !brute::mask(grid, at);
    }
}

fn sides(part: &Cuboid, turn: bool) -> Sides {
    let mut sides = part.sides;
    if turn {
        sides.sort_unstable();
    }
    sides
}

/// Checks one answer. Returns the number of cheaper sets for which no feasible order exists.
pub(crate) fn judge(
    state: &State,
    snapshot: &Snapshot,
    shape: Sides,
    most: usize,
    weigh: impl Fn(u64) -> u64,
) -> u32 {
    let weights: Vec<u64> = (0..state.jobs.len() as u64).map(weigh).collect();
    let own = Weights::new(snapshot, |job| weights[job.0 as usize]).unwrap();
    let limits = SearchLimits { turn: state.turn, ..SearchLimits::jobs(most) };
    let Planned { plan, proven } = unblock(snapshot, Shape::new(shape), &own, &limits);
    assert!(proven, "small machines are always decided");
    let cost = plan.as_ref().map(|plan| plan.cost);
    if let Some(plan) = &plan {
        carry_out(state, plan, shape);
        let jobs = plan.jobs.iter().map(|job| weights[job.0 as usize]);
        assert_eq!(plan.cost, jobs.sum::<u64>());
        assert!(plan.jobs.len() <= most);
    }
    let wanted = brute::places(&state.grid, shape, true);
    let good = |_: &[u32], left: u32| wanted.iter().any(|(_, at)| at & !left == 0);
    let is_least = state.is_cheapest(cost, (shape, 1), (&[], most), &weights, good);
    u32::from(!is_least)
}

/// Checks every state and shape on a machine, with up to two moves and three kinds of weights.
fn every(grid: Grid, failures: bool) {
    let shapes: Vec<Sides> = (0..grid.nodes())
        .map(|code| grid.point(NodeId(code)).map(|side| side + 1))
        .filter(|sides| sides[0] >= sides[1] || grid.side(1) == 1)
        .collect();
    let (mut asked, mut circles) = (0u32, 0);
    states::every(grid, failures, &mut |state, snapshot| {
        for &shape in &shapes {
            if pavior_answers::fit(snapshot, Shape::new(shape)).is_some() {
                continue;
            }
            asked += 1;
            let nodes = |job: u64| u64::from(state.jobs[job as usize][0].volume());
            circles += match asked % 3 {
                0 => judge(state, snapshot, shape, 1 + asked as usize / 3 % 3, |_| 1),
                1 => judge(state, snapshot, shape, 2, nodes),
                _ => judge(state, snapshot, shape, 2, |job| job * 7 % 5),
            };
        }
    });
    assert!(asked > 100, "{asked} questions");
    println!("{grid}: {asked} questions, {circles} cheaper sets that cannot be carried out");
}

#[test]
fn every_state_of_small_machines() {
    let small = [("mesh:7", true), ("torus:7", true), ("mesh:3x2", true), ("torus:3x2", true)];
    let more =
        [("mesh:4x2", false), ("grid:4wx2", false), ("mesh:3x3", false), ("mesh:2x2x2", true)];
    for (grid, failures) in small.into_iter().chain(more).take(pavior_trials::size(4, 8, 8)) {
        every(grid.parse().unwrap(), failures);
    }
}

#[test]
fn limits_are_said() {
    let grid = Grid::torus(&[16, 16]).unwrap();
    let jobs: Vec<Vec<Cuboid>> = (0..64)
        .map(|job| vec![Cuboid::new([job % 8 * 2 + job / 8 % 2, job / 8 * 2, 0], [1, 2, 1])])
        .collect();
    let snapshot = states::snapshot(grid, &jobs, &[]);
    let weights = Weights::nodes(&snapshot);
    let shape = Shape::new([8, 8, 1]);
    let spent = SearchLimits { budget: 1000, ..SearchLimits::jobs(16) };
    let answer = unblock(&snapshot, shape, &weights, &spent);
    assert_eq!((answer.plan, answer.proven), (None, false));
    let answer = unblock(&snapshot, shape, &weights, &SearchLimits::jobs(1));
    assert_eq!((answer.plan, answer.proven), (None, true), "one move is certainly not enough");
    // The box has more nodes than are free, so the answer is immediate.
    let answer = unblock(&snapshot, Shape::new([16, 9, 1]), &weights, &spent);
    assert_eq!((answer.plan, answer.proven), (None, true));
    assert!(Weights::new(&snapshot, |_| u64::MAX / 4).is_err());
}
