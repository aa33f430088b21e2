//! Which leases to move so that a request fits.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Extension, State};
use pavior_allocation::Selection;
use pavior_mesh::{Cuboid, JobId};
use pavior_planning::{Limits, Shape, Snapshot, Weights, unblock as plan};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::body::{ask, read};
use super::explain::request;
use super::leases::internal;
use super::openapi::ProblemDocument;
use super::reads::board_of;
use super::{App, Fault};
use crate::core::{Caller, Problem, Reason, Reply, View, parts};
use crate::diagnose::{self, Changes};
use crate::engine::Unavailable;

/// A request that does not fit.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct UnblockBody {
    /// The sides of the box, as many as the machine has axes.
    #[schema(example = json!([2, 3]), min_items = 1, max_items = 3)]
    shape: Option<Vec<u64>>,
    /// The number of nodes, instead of a shape.
    #[schema(minimum = 1)]
    nodes: Option<u64>,
    /// The machine; the first one if left out.
    machine: Option<String>,
    /// The most leases to move [default: 2].
    #[schema(minimum = 1, maximum = 4)]
    max_jobs: Option<u32>,
}

/// The cheapest set of leases whose moving makes a request fit, with where each goes; the moves are
/// in an order in which they can be carried out. A lease weighs its nodes. Nothing changes.
#[utoipa::path(post, path = "/v1/unblock", tag = "machines", request_body = UnblockBody, responses(
    (status = 200, description = "the plan", body = Object),
    (status = "default", description = "there is no answer", body = ProblemDocument, content_type = "application/problem+json")))]
pub(crate) async fn unblock(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    bytes: Bytes,
) -> Result<Reply, Fault> {
    let body = match read::<UnblockBody>(&bytes) {
        Ok(body) => body,
        Err(problem) => return Ok(problem.reply()),
    };
    if caller.tenant.is_some() {
        let detail = "only the operator may see how to move leases";
        return Ok(Problem::new(Reason::OperatorOnly, detail).reply());
    }
    let view = app.engine.view().await?;
    let _one = app.explaining.acquire().await.map_err(|_| Unavailable::Stopping)?;
    let seed = app.seed;
    let work = tokio::task::spawn_blocking(move || planned(&view, &body, seed));
    let answer = work.await.map_err(|error| internal(&error))?;
    Ok(answer.map_or_else(|reply| reply, |body| Reply::new(200, &body)))
}

fn planned(view: &View, body: &UnblockBody, seed: u64) -> Result<Value, Reply> {
    let bad = |detail: String| Problem::new(Reason::BadValue, detail).reply();
    let board = board_of(view, body.machine.as_deref())?;
    let grid = &board.grid;
    let asked = ask(body.shape.as_deref(), body.nodes, grid).map_err(|problem| problem.reply())?;
    let max_jobs = body.max_jobs.unwrap_or(2);
    if !(1..=4).contains(&max_jobs) {
        return Err(bad("\"max_jobs\" is 1 to 4".to_string()));
    }
    let none = json!({
        "fits": false, "proven": true, "cost": null, "jobs": null, "placement": null, "moves": [],
    });
    let Some(shape) = request(asked, &board.spec.shape_rule, grid, seed).shape else {
        return Ok(none);
    };
    let strategy: Selection =
        board.spec.strategy.parse().map_err(|error: pavior_kernel::BadName| bad(error.reason))?;
    let state = diagnose::state(view, board, &Changes::default());
    let machine = state.machine(&strategy, seed).map_err(|error| bad(error.to_string()))?;
    let snapshot = Snapshot::of(&machine);
    let weights = Weights::nodes(&snapshot);
    let answer = plan(&snapshot, Shape::new(shape), &weights, &Limits::jobs(max_jobs as usize));
    let Some(plan) = answer.plan else {
        let mut none = none;
        none["proven"] = answer.proven.into();
        return Ok(none);
    };
    let list = |boxes: &[Cuboid]| parts(grid, boxes);
    let moves = plan
        .moves
        .iter()
        .map(|step| json!({ "job": step.job.0, "from": list(&step.from), "to": list(&step.to) }));
    Ok(json!({
        "fits": plan.jobs.is_empty(),
        "proven": answer.proven,
        "cost": plan.cost,
        "jobs": plan.jobs.iter().map(|JobId(id)| id).collect::<Vec<_>>(),
        "placement": list(&plan.boxes).first(),
        "moves": moves.collect::<Vec<_>>(),
    }))
}
