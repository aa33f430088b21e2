//! Plans to move leases, as callers see them.

use pavior_mesh::{Grid, JobId};
use pavior_planning::{Move, Planned};
use serde_json::{Map, Value, json};

use crate::core::parts;

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
