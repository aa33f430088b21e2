//! Defragment: as many free boxes of a shape as a few moves can make.

use crate::plans::plan::{Budget, Goal, MovePlan, SearchLimits};
use crate::plans::search::cheapest;
use crate::plans::slots::after_moves;
use crate::{Shape, Slots, Snapshot, Weights, slots};

/// How many boxes of a shape can be free at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Defragmented {
    /// The disjoint boxes that are free as things stand.
    pub before: Slots,
    /// The plan; its boxes are the free ones after the moves.
    pub plan: MovePlan,
    /// No plan that moves as few jobs makes more boxes free: at least the number of the plan's.
    pub bound: u32,
    /// Whether there certainly is no plan for more boxes, or a cheaper one for as many.
    pub proven: bool,
}

/// The plan that makes the most disjoint boxes of a shape free with at most `max_jobs` moved jobs,
/// and of those the cheapest.
///
/// One box more than are free is tried first, then two, since a plan for more is a plan for fewer.
/// Exact within the budget, which all tries share. Where it runs out, the bound says how many more
/// there could be. Cost: that of [`slots`](crate::slots), and that of `search.rs` for each try; the
/// number of sets grows as jobs to the power of `max_jobs`.
pub fn defragment(
    snapshot: &Snapshot,
    shape: Shape,
    weights: &Weights,
    limits: &SearchLimits,
) -> Defragmented {
    let before = slots(&snapshot.free, &[shape], limits.budget);
    let mut budget = Budget { left: limits.budget };
    let boxes = before.boxes.clone();
    let mut plan = MovePlan { cost: 0, jobs: Vec::new(), boxes, moves: Vec::new() };
    let mut bound = after_moves(snapshot, shape, &before, limits.max_jobs, &mut budget);
    bound = bound.max(before.boxes.len() as u32);
    let mut proven = true;
    for count in before.boxes.len() + 1..=bound as usize {
        let available = snapshot.healthy.clone();
        let goal = Goal { shape, count, required: Vec::new(), available };
        let limit = (limits.max_jobs, limits.turn);
        let answer = cheapest(snapshot, &goal, weights, limit, &mut budget);
        proven &= answer.proven;
        let Some(better) = answer.plan else {
            // What cannot be done for some boxes cannot be done for more.
            bound = if answer.proven { count as u32 - 1 } else { bound };
            break;
        };
        (plan, proven) = (better, answer.proven);
    }
    Defragmented { before, plan, bound, proven }
}
