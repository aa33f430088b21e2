//! Plans to move leases, as callers see them.

use pavior_mesh::{Freedom, Grid, JobId, Request};
use pavior_planning::{Move, Planned, SearchLimits, Shape, Snapshot, Weights, unblock_any};
use serde_json::{Map, Value, json};

use crate::core::parts;

/// The cheapest way to make room for a request, in whichever of the boxes that its freedom allows;
/// without a freedom in its box, turned if the limits say so. Of boxes that cost the same the first
/// is taken.
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
    let shapes = Shape::allowed(request, grid, limits.turn).ok_or_else(|| {
        let words = [Freedom::Box, Freedom::Turned, Freedom::AnyBox].map(Freedom::word);
        let (known, freedom) = (words.join(", "), request.freedom.map_or("", Freedom::word));
        format!("a plan is for boxes: \"freedom\" is one of {known}, not {freedom}")
    })?;
    Ok(unblock_any(snapshot, &shapes, weights, limits))
}

/// The members of a plan: whether there is proof that none is cheaper, its cost, the jobs that
/// move, and the moves in an order in which they can be carried out. `name` is what callers call a
/// job.
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
