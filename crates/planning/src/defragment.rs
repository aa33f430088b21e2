//! Defragment: as many free boxes of a shape as a few moves can make.

use pavior_mesh::{Cuboid, volume};

use crate::plan::{Budget, Goal, MovePlan, SearchLimits};
use crate::search::cheapest;
use crate::{Shape, Snapshot, Weights};

/// How many boxes of a shape can be free at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slots {
    /// The disjoint boxes that are free as things stand.
    pub before: Vec<Cuboid>,
    /// The plan; its boxes are the free ones after the moves.
    pub plan: MovePlan,
    /// Whether there certainly is no plan for more boxes, or a cheaper one for as many.
    pub proven: bool,
}

/// The plan that makes the most disjoint boxes of a shape free with at most `max_jobs` moved jobs,
/// and of those the cheapest.
///
/// One box more is tried at a time, since a plan for more is a plan for fewer. Exact within the
/// budget, which all tries share.
pub fn defragment(
    snapshot: &Snapshot,
    shape: Shape,
    weights: &Weights,
    limits: &SearchLimits,
) -> Slots {
    let mut budget = Budget { left: limits.budget };
    let (mut before, mut proven) = (Vec::new(), true);
    let mut plan = MovePlan { cost: 0, jobs: Vec::new(), boxes: Vec::new(), moves: Vec::new() };
    let most = u64::from(snapshot.free.count()) / volume(shape.sides).max(1);
    for count in 1..=most as usize {
        let available = snapshot.healthy.clone();
        let goal = Goal { shape, count, required: Vec::new(), available };
        let limit = (limits.max_jobs, limits.turn);
        let answer = cheapest(snapshot, &goal, weights, limit, &mut budget);
        match answer.plan {
            Some(better) => {
                if better.moves.is_empty() {
                    before.clone_from(&better.boxes);
                }
                (plan, proven) = (better, answer.proven);
            }
            None => return Slots { before, plan, proven: proven && answer.proven },
        }
    }
    Slots { before, plan, proven }
}
