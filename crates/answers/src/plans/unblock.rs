//! Finds the cheapest set of jobs to move so that a box fits.

use crate::plans::plan::{Budget, Goal, MoveLimits, MovePlan, Planned, SearchLimits};
use crate::plans::search::cheapest;
use crate::{Shape, Snapshot, Weights, fit};

/// Finds the cheapest set of at most `max_jobs` jobs that can be moved so that the box fits, along
/// with new positions for these jobs. The set contains the jobs that block the box, and possibly
/// others that move to make room.
///
/// Within the budget, the search is exact, because it tests every set of jobs with every packing.
/// Ties go to fewer jobs, then to lower job numbers. If the box already fits, the plan has no
/// moves.
///
/// Cost: one search (`search.rs`) over O(jobs^`max_jobs`) sets of jobs.
pub fn unblock(
    snapshot: &Snapshot,
    shape: Shape,
    weights: &Weights,
    limits: &SearchLimits,
) -> Planned {
    let mut budget = Budget { left: limits.budget };
    unblocked(snapshot, shape, weights, limits.moves(), &mut budget)
}

/// Works like [`unblock`], but with a budget shared by several searches.
pub(crate) fn unblocked(
    snapshot: &Snapshot,
    shape: Shape,
    weights: &Weights,
    limits: MoveLimits,
    budget: &mut Budget,
) -> Planned {
    if let Some(at) = fit(snapshot, shape) {
        let plan = MovePlan { cost: 0, jobs: Vec::new(), boxes: vec![at], moves: Vec::new() };
        return Planned { plan: Some(plan), proven: true };
    }
    let goal = Goal { shape, count: 1, required: Vec::new(), available: snapshot.healthy.clone() };
    // Moves do not increase the number of free healthy nodes.
    if u64::from(snapshot.free.count()) < pavior_mesh::volume(shape.sides) {
        return Planned { plan: None, proven: true };
    }
    cheapest(snapshot, &goal, weights, limits, budget)
}

/// Finds the cheapest moves that make room for any one of several boxes. Ties go to the first box.
/// The budget is split equally among the boxes. If there are no boxes, there is no plan.
pub fn unblock_any(
    snapshot: &Snapshot,
    shapes: &[Shape],
    weights: &Weights,
    limits: &SearchLimits,
) -> Planned {
    let limits = SearchLimits { budget: limits.budget / shapes.len().max(1) as u64, ..*limits };
    cheapest_of(shapes, |shape| unblock(snapshot, shape, weights, &limits))
}

/// Searches for moves for each box, and returns the cheapest plan. Stops at the first plan without
/// costs.
pub(crate) fn cheapest_of(shapes: &[Shape], mut search: impl FnMut(Shape) -> Planned) -> Planned {
    let cost = |answer: &Planned| answer.plan.as_ref().map_or(u64::MAX, |plan| plan.cost);
    let mut best = Planned { plan: None, proven: true };
    for &shape in shapes {
        let answer = search(shape);
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
