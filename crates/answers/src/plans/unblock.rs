//! Unblock: the cheapest set of jobs whose moving makes a box fit.

use crate::plans::plan::{Budget, Goal, MovePlan, Planned, SearchLimits};
use crate::plans::search::cheapest;
use crate::{Shape, Snapshot, Weights, fit};

/// The cheapest set of at most `max_jobs` jobs that can be moved so that the box fits, and where
/// each goes. Jobs that stand in the box's place move, and others that make room for them.
///
/// Exact within the budget: every set of jobs is judged by every packing. Ties go to fewer jobs,
/// then to lower job numbers. The plan has no moves if the box fits already.
///
/// Cost: see `search.rs`; the number of sets grows as jobs to the power of `max_jobs`.
pub fn unblock(
    snapshot: &Snapshot,
    shape: Shape,
    weights: &Weights,
    limits: &SearchLimits,
) -> Planned {
    let mut budget = Budget { left: limits.budget };
    unblocked(snapshot, shape, weights, (limits.max_jobs, limits.turn), &mut budget)
}

/// The same of a budget that others have, too.
pub(crate) fn unblocked(
    snapshot: &Snapshot,
    shape: Shape,
    weights: &Weights,
    limit: (usize, bool),
    budget: &mut Budget,
) -> Planned {
    if let Some(at) = fit(snapshot, shape) {
        let plan = MovePlan { cost: 0, jobs: Vec::new(), boxes: vec![at], moves: Vec::new() };
        return Planned { plan: Some(plan), proven: true };
    }
    let goal = Goal { shape, count: 1, required: Vec::new(), available: snapshot.healthy.clone() };
    // However jobs move, no more healthy nodes are free than before.
    if u64::from(snapshot.free.count()) < pavior_mesh::volume(shape.sides) {
        return Planned { plan: None, proven: true };
    }
    cheapest(snapshot, &goal, weights, limit, budget)
}

/// The same for whichever of several boxes can be made room for at the least weight; of equals the
/// first. All of them together have the budget, in equal shares. No box fits nowhere, ever.
pub fn unblock_any(
    snapshot: &Snapshot,
    shapes: &[Shape],
    weights: &Weights,
    limits: &SearchLimits,
) -> Planned {
    let limits = SearchLimits { budget: limits.budget / shapes.len().max(1) as u64, ..*limits };
    let mut best = Planned { plan: None, proven: true };
    for &shape in shapes {
        let answer = unblock(snapshot, shape, weights, &limits);
        let cost = |answer: &Planned| answer.plan.as_ref().map_or(u64::MAX, |plan| plan.cost);
        best.proven &= answer.proven;
        if cost(&answer) < cost(&best) {
            best.plan = answer.plan;
        }
        if cost(&best) == 0 {
            best.proven = true;
            break;
        }
    }
    best
}
