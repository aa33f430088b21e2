//! Plans to move leases, as callers see them.

use pavior_allocation::allowed_boxes;
use pavior_mesh::{Freedom, Grid, JobId, Request};
use pavior_planning::{Move, Planned, SearchLimits, Shape, Snapshot, Weights, unblock};
use serde_json::{Map, Value, json};

use crate::core::parts;

/// The cheapest way to make room for a request, in whichever of the boxes that its freedom allows; without
/// a freedom in its box, turned if the limits say so. Of boxes that cost the same the first is taken.
///
/// # Errors
/// If sets that are no boxes are allowed: plans are for boxes.
pub(crate) fn unblocked(
    grid: &Grid,
    snapshot: &Snapshot,
    request: &Request,
    weights: &Weights,
    limits: &SearchLimits,
) -> Result<Planned, String> {
    let shapes: Vec<Shape> = match (request.freedom, request.shape) {
        (Some(freedom @ (Freedom::Connected | Freedom::Any)), _) => {
            let words = [Freedom::Box, Freedom::Turned, Freedom::AnyBox].map(Freedom::word);
            let known = words.join(", ");
            return Err(format!(
                "a plan is for boxes: \"freedom\" is one of {known}, not {freedom}"
            ));
        }
        (Some(freedom), _) => {
            allowed_boxes(request, freedom, grid).into_iter().map(Shape::fixed).collect()
        }
        (None, Some(sides)) => vec![Shape { sides, turn: limits.turn }],
        // A request without a box fits nowhere, ever.
        (None, None) => Vec::new(),
    };
    // All of them together get the usual time.
    let limits = SearchLimits { budget: limits.budget / shapes.len().max(1) as u64, ..*limits };
    let mut best = Planned { plan: None, proven: true };
    for shape in shapes {
        let answer = unblock(snapshot, shape, weights, &limits);
        let cost = |answer: &Planned| answer.plan.as_ref().map_or(u64::MAX, |plan| plan.cost);
        let proven = best.proven && answer.proven;
        let better = cost(&answer) < cost(&best);
        if better {
            best.plan = answer.plan;
        }
        best.proven = proven;
        if cost(&best) == 0 {
            best.proven = true;
            break;
        }
    }
    Ok(best)
}

/// The members of a plan: whether there is proof that none is cheaper, its cost, the jobs that move,
/// and the moves in an order in which they can be carried out. `name` is what callers call a job.
pub(crate) fn members(
    grid: &Grid,
    answer: &Planned,
    name: impl Fn(JobId) -> Value,
) -> Map<String, Value> {
    let step = |step: &Move| {
        json!({
            "job": name(step.job),
            "from": parts(grid, &step.from),
            "to": parts(grid, &step.to),
        })
    };
    let plan = answer.plan.as_ref();
    let jobs = plan.map(|plan| plan.jobs.iter().map(|&job| name(job)).collect::<Vec<_>>());
    let moves = plan.map_or(Vec::new(), |plan| plan.moves.iter().map(step).collect());
    [
        ("proven", answer.proven.into()),
        ("cost", json!(plan.map(|plan| plan.cost))),
        ("jobs", json!(jobs)),
        ("moves", moves.into()),
    ]
    .map(|(member, value): (&str, Value)| (member.to_string(), value))
    .into_iter()
    .collect()
}
