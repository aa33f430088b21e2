//! Defragmentation: moves of a few jobs that free as many boxes of a shape as possible.

use crate::plans::plan::{Budget, Goal, MovePlan, SearchLimits};
use crate::plans::search::cheapest;
use crate::plans::slots::after_moves;
use crate::{Shape, Slots, Snapshot, Weights, slots};

/// The result of defragmentation: disjoint free boxes of a shape before and after the moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Defragmented {
    /// The disjoint boxes free now.
    pub before: Slots,
    /// The plan, including the boxes that are free after its moves.
    pub plan: MovePlan,
    /// An upper bound on the number of boxes that are free after any plan within the job limit.
    pub bound: u32,
    /// True if it is proven that no plan frees more boxes and no cheaper plan frees as many.
    pub proven: bool,
}

impl Defragmented {
    /// Returns the boxes that are free after the moves, and the bound on their number.
    pub fn slots(&self) -> Slots {
        Slots { boxes: self.plan.boxes.clone(), bound: self.bound }
    }
}

/// Finds the cheapest plan that moves at most `max_jobs` jobs and frees the maximum number of
/// disjoint boxes of a shape.
///
/// The search looks for one more box than is free now, then for two more, and so on. A plan for
/// more boxes is also a plan for fewer. All attempts share one budget, and the search is exact
/// within it. If the budget runs out, more boxes may be possible, up to the bound. Cost:
/// [`slots`](crate::slots) plus one search (`search.rs`) per attempt. There are O(jobs^`max_jobs`)
/// sets of jobs.
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
        let answer = cheapest(snapshot, &goal, weights, limits.moves(), &mut budget);
        proven &= answer.proven;
        let Some(better) = answer.plan else {
            if answer.proven {
                // If this many boxes are impossible, so is any larger number.
                bound = count as u32 - 1;
            }
            break;
        };
        (plan, proven) = (better, answer.proven);
    }
    Defragmented { before, plan, bound, proven }
}
