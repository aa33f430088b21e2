//! Which leases to move so that a request fits.

use std::sync::Arc;

use axum::extract::{Extension, State};
use pavior_allocation::Selection;
use pavior_mesh::JobId;
use pavior_planning::{SearchLimits, Snapshot, Weights};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use super::body::{BoxFreedomSchema, ask, freedom};
use super::documents::PlanDocument;
use super::explain::request;
use super::extract::InBody;
use super::reads::board_of;
use super::statuses::{Guarded, Missing, Posted};
use super::{App, Fault};
use crate::core::{Caller, Problem, Reason, Reply, StateView, parts};
use crate::diagnose::{self, Changes};
use crate::plan;

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
    /// How free it is to be placed: `box`, `turned` or `any-box`; turned if left out.
    #[schema(value_type = Option<BoxFreedomSchema>)]
    freedom: Option<String>,
    /// The machine; the first one if left out.
    machine: Option<String>,
    /// The most leases to move [default: 2].
    #[schema(minimum = 1, maximum = 4)]
    max_jobs: Option<u32>,
}

/// The cheapest set of leases whose moving makes a request fit, with where each goes; the moves are
/// in an order in which they can be carried out. A lease weighs its nodes. Nothing changes.
#[utoipa::path(
    post, path = "/v1/unblock", tag = "machines",
    request_body = UnblockBody,
    responses(
        (status = 200, description = "the plan", body = PlanDocument),
        Guarded, Posted, Missing
    )
)]
pub(crate) async fn unblock(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    InBody(body): InBody<UnblockBody>,
) -> Result<Reply, Fault> {
    if caller.tenant.is_some() {
        let detail = "only the operator may see how to move leases";
        return Ok(Problem::new(Reason::OperatorOnly, detail).reply());
    }
    let view = app.writer.view().await?;
    let seed = app.seed;
    let answer = app.turns.run(&caller, move || planned(&view, &body, seed)).await?;
    Ok(answer.map_or_else(|reply| reply, |body| Reply::new(200, &body)))
}

fn planned(view: &StateView, body: &UnblockBody, seed: u64) -> Result<Value, Reply> {
    let bad = |detail: String| Problem::new(Reason::BadValue, detail).reply();
    let board = board_of(view, body.machine.as_deref())?;
    let grid = &board.grid;
    let asked = ask(body.shape.as_deref(), body.nodes, grid).map_err(|problem| problem.reply())?;
    let max_jobs = body.max_jobs.unwrap_or(2);
    if !(1..=4).contains(&max_jobs) {
        return Err(bad("\"max_jobs\" is 1 to 4".to_string()));
    }
    let strategy: Selection =
        board.spec.strategy.parse().map_err(|error: pavior_kernel::BadName| bad(error.reason))?;
    let state = diagnose::state(view, board, &Changes::default());
    let machine = state.machine(&strategy, seed).map_err(|error| bad(error.to_string()))?;
    let snapshot = Snapshot::of(&machine);
    let weights = Weights::nodes(&snapshot);
    let limits = SearchLimits::jobs(max_jobs as usize);
    let freedom = freedom(body.freedom.as_deref()).map_err(|problem| problem.reply())?;
    let request = request(asked, &board.spec.shape_rule, grid, seed).with_freedom(freedom);
    let answer = plan::unblocked(grid, &snapshot, &request, &weights, &limits).map_err(bad)?;
    let found = answer.plan.as_ref();
    let place = found.and_then(|plan| parts(grid, &plan.boxes).into_iter().next());
    let mut told: Map<String, Value> = Map::new();
    told.insert("fits".to_string(), found.is_some_and(|plan| plan.jobs.is_empty()).into());
    told.insert("placement".to_string(), json!(place));
    told.extend(plan::members(grid, &answer, |JobId(id)| id.into()));
    Ok(told.into())
}
