//! Compares draining and defragmentation with the reference implementation.

use pavior_answers::{SearchLimits, Shape, Snapshot, Weights, defragment, drain};
use pavior_mesh::{Cuboid, JobId, NodeId, Sides};

use crate::brute::{self, State};
use crate::states;
use crate::unblocks::carry_out;

/// Checks a plan that drains the given nodes and moves at most `more` additional jobs.
pub(crate) fn judge_drain(state: &State, snapshot: &Snapshot, nodes: u32, more: usize) {
    let own = Weights::nodes(snapshot);
    let limits = SearchLimits { turn: state.turn, ..SearchLimits::jobs(more) };
    let answer = drain(snapshot, &brute::nodes(nodes), &own, &limits);
    assert!(answer.proven);
    let (required, state) = (state.holders(nodes), state.drained(nodes));
    let most = required.len() + more;
    let cost = answer.plan.as_ref().map(|plan| plan.cost);
    if let Some(plan) = &answer.plan {
        carry_out(&state, plan, [1; 3]);
        assert!(required.iter().all(|&job| plan.jobs.contains(&JobId(job as u64))));
    }
    let good = |at: &[u32], _: u32| at.iter().all(|at| at & nodes == 0);
    state.is_cheapest(cost, ([1; 3], 0), (&required, most), &state.sizes(), good);
}

/// Checks defragmentation with at most `most` moves. Returns false if the answer is not proven,
/// which happens when small boxes can be packed in too many ways.
pub(crate) fn judge_defragment(
    state: &State,
    snapshot: &Snapshot,
    shape: Sides,
    most: usize,
) -> bool {
    let limits = SearchLimits { max_jobs: most, turn: state.turn, budget: 1_000_000 };
    let slots = defragment(snapshot, Shape::new(shape), &Weights::nodes(snapshot), &limits);
    carry_out(state, &slots.plan, shape);
    let weights = state.sizes();
    let least = |count, most| state.least((shape, count), (&[], most), &weights);
    let count = slots.plan.boxes.len();
    // The bound is valid with any budget. The reference implementation also counts packings in
    // which two jobs block each other's moves. The search can rule these out only with a nonzero
    // budget.
    for budget in [0, 200, 2_000, limits.budget] {
        let hasty = SearchLimits { budget, ..limits };
        let hasty = defragment(snapshot, Shape::new(shape), &Weights::nodes(snapshot), &hasty);
        assert!(hasty.plan.boxes.len() as u32 <= hasty.bound && count as u32 <= hasty.bound);
        if hasty.bound < 4 && (most < 2 || budget == 0) {
            let more = hasty.bound as usize + 1;
            assert_eq!(least(more, most), None, "{hasty:?}");
        }
    }
    if !slots.proven {
        return false;
    }
    assert_eq!(count as u32, slots.bound, "decided");
    assert!(
        least(slots.before.boxes.len(), 0).is_some()
            && least(slots.before.boxes.len() + 1, 0).is_none()
    );
    if count > 0 && slots.plan.moves.len() < 2 {
        assert_eq!(least(count, most), Some(slots.plan.cost));
    }
    if most < 2 {
        assert_eq!(least(count + 1, most), None, "one more box");
    }
    true
}

#[test]
fn nodes_are_emptied() {
    let snapshot = states::row(4, &[(0, 1), (2, 1)], &[]);
    let weights = Weights::nodes(&snapshot);
    let answer = drain(&snapshot, &[NodeId(0), NodeId(1)], &weights, &SearchLimits::jobs(0));
    assert_eq!(answer.plan.unwrap().moves[0].to, [Cuboid::node([3, 0, 0])]);
    let answer = drain(&snapshot, &[NodeId(1), NodeId(77)], &weights, &SearchLimits::jobs(0));
    assert!(answer.plan.unwrap().moves.is_empty(), "no job holds these nodes");
    let all: Vec<NodeId> = (0..4).map(NodeId).collect();
    let answer = drain(&snapshot, &all, &weights, &SearchLimits::jobs(4));
    assert_eq!((answer.plan, answer.proven), (None, true));
}

#[test]
fn scattered_jobs_are_brought_together() {
    let snapshot = states::row(8, &[(1, 1), (5, 1)], &[]);
    let weights = Weights::nodes(&snapshot);
    let slots = defragment(&snapshot, Shape::new([3, 1, 1]), &weights, &SearchLimits::jobs(1));
    assert_eq!((slots.before.boxes.len(), slots.plan.boxes.len(), slots.plan.cost), (1, 2, 1));
}
