//! Tests of explanations: states and optimality indices.

use pavior_allocation::explain::{self, Clash, State, answer};
use pavior_allocation::{Refusal, Registry, Selection};
use pavior_kernel::Stream;
use pavior_mesh::{Cuboid, Grid, JobId, NodeId, Request, Sides};

fn cuboid(base: [u16; 3], sides: Sides) -> Cuboid {
    Cuboid::new(base, sides)
}

#[test]
fn a_state_refuses_what_cannot_be() {
    let mut state = State::new("mesh:4x4".parse().unwrap());
    let square = cuboid([0; 3], [2, 2, 1]);
    state.hold(JobId(1), &[square]).unwrap();
    let before = state.free().clone();
    let clash = |state: &mut State, job, parts: &[Cuboid]| state.hold(JobId(job), parts);
    assert_eq!(clash(&mut state, 1, &[cuboid([3; 3], [1; 3])]), Err(Clash::Repeated));
    let outside = cuboid([3, 0, 0], [2, 1, 1]);
    assert_eq!(clash(&mut state, 2, &[outside]), Err(Clash::Outside { part: 0 }));
    let free = cuboid([2, 2, 0], [2, 1, 1]);
    let overlap = |part, holder| Err(Clash::Overlap { part, holder: JobId(holder) });
    assert_eq!(clash(&mut state, 2, &[free, square]), overlap(1, 1));
    assert_eq!(clash(&mut state, 2, &[free, free]), overlap(1, 2));
    assert_eq!(state.free(), &before);
}

#[test]
fn a_failed_node_stays_with_its_job() {
    let grid: Grid = "mesh:3x1".parse().unwrap();
    // The order in which the job and the failed node are added does not matter.
    for node_first in [false, true] {
        let mut state = State::new(grid);
        if node_first {
            state.fail(NodeId(0));
        }
        state.hold(JobId(1), &[cuboid([0; 3], [2, 1, 1])]).unwrap();
        if !node_first {
            state.fail(NodeId(0));
        }
        state.fail(NodeId(2));
        state.fail(NodeId(2));
        assert_eq!((state.busy_nodes(), state.failed()), (2, vec![NodeId(2)]));
        assert_eq!(state.free().count(), 0);
        let machine = state.machine(&"tbl".parse().unwrap(), 1).unwrap();
        machine.validate();
        assert_eq!((machine.busy_nodes(), machine.failed_nodes()), (2, 1));
    }
}

/// Draws a random state with multi-part jobs and failed nodes.
fn random_state(grid: Grid, dice: &mut Stream) -> State {
    let mut state = State::new(grid);
    for job in 0..dice.between(1, 6) {
        let parts: Vec<Cuboid> = (0..dice.between(1, 2))
            .map(|_| {
                let sides = grid.sides().map(|n| dice.between(1, u64::from(n.div_ceil(2))) as u16);
                let at = |axis: usize| u64::from(grid.starts(axis, sides[axis]));
                let base = [at(0), at(1), at(2)].map(|n| dice.below(n) as u16);
                cuboid(base, sides)
            })
            .collect();
        let _ = state.hold(JobId(job), &parts);
    }
    for _ in 0..dice.below(3) {
        state.fail(NodeId(dice.below(u64::from(grid.nodes())) as u32));
    }
    state
}

const GRIDS: [&str; 6] =
    ["mesh:6x5", "torus:6x5", "grid:5wx3x4", "mesh:4x3x3", "torus:9", "torus:4x4x2"];

#[test]
fn the_index_of_parts_is_that_of_their_nodes_together() {
    let mut dice = Stream::new(1, 0, "explain");
    for round in 0..120 {
        let grid: Grid = GRIDS[round % GRIDS.len()].parse().unwrap();
        let state = random_state(grid, &mut dice);
        let request = Request::shape(grid.sides().map(|n| dice.between(1, n.into()) as u16));
        for spec in Registry::new().entries().filter(|spec| !spec.does.contiguous) {
            let Ok(found) = answer(&state, &Selection::defaults(&spec), &request, 1) else {
                continue;
            };
            let Ok(choice) = found.outcome else { continue };
            let own: Vec<NodeId> =
                choice.placement.parts().iter().flat_map(|part| part.nodes(&grid)).collect();
            assert_eq!(choice.index(), pairs(&state, &own), "{} on {grid}", spec.name);
        }
    }
}

/// Counts the (node, direction) pairs for which the neighbor is not free or is beyond the end of an
/// axis that does not wrap.
fn pairs(state: &State, nodes: &[NodeId]) -> i64 {
    let grid = state.grid();
    let mut pairs = 0;
    for point in nodes.iter().map(|&node| grid.point(node)) {
        for axis in (0..3).filter(|&axis| grid.side(axis) > 1) {
            let n = i32::from(grid.side(axis));
            for step in [-1, 1] {
                let at = i32::from(point[axis]) + step;
                let mut beside = point;
                beside[axis] = at.rem_euclid(n) as u16;
                let off = !grid.wraps(axis) && (at < 0 || at == n);
                pairs += i64::from(off || !state.free().is_node_free(grid.id(beside)));
            }
        }
    }
    pairs
}

#[test]
fn the_perfect_index_is_of_the_orientations_that_fit() {
    let state = State::new("torus:3x8".parse().unwrap());
    // A side of 3 along x closes the ring and has no faces. The rotated shape has all its faces.
    assert_eq!(explain::perfect_index(&state, [3, 2, 1]), Some(10));
    assert_eq!(explain::perfect_index(&state, [9, 2, 1]), None);
    let found = answer(&state, &"ff".parse().unwrap(), &Request::shape([9, 2, 1]), 1).unwrap();
    assert_eq!(found.outcome, Err(Refusal::LargerThanMachine));
}
