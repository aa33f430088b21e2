//! Plans to move leases so that a request fits.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Extension, State};
use pavior::JobId;
use pavior::answers::SearchLimits;
use serde::Deserialize;
use utoipa::ToSchema;

use super::body::{BoxFreedomSchema, ask, freedom};
use super::explain::request;
use super::extract::InBody;
use super::machines::board_of;
use super::statuses::{Missing, Questioned};
use super::{App, Fault};
use crate::core::{Caller, JobName, Problem, Reason, StateView};
use crate::diagnose;
use crate::plan::{self, Plan};

/// A request that does not fit.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct UnblockBody {
    /// The sides of the box, one per axis of the machine.
    #[schema(example = json!([2, 3]), min_items = 1, max_items = 3)]
    shape: Option<Vec<u64>>,
    /// The number of nodes, instead of a shape.
    #[schema(minimum = 1)]
    nodes: Option<u64>,
    /// The freedom in placing it: `box`, `turned` or `any-box`; by default `turned`.
    #[schema(value_type = Option<BoxFreedomSchema>)]
    freedom: Option<String>,
    /// The machine; by default the first one.
    machine: Option<String>,
    /// The maximum number of leases to move [default: 2].
    #[schema(minimum = 1, maximum = 4)]
    max_jobs: Option<u32>,
}

/// Returns the cheapest set of leases whose moves make a request fit, with the new place of each
/// lease. The moves are listed in a feasible order. The cost of a move is the number of nodes of
/// its lease. Nothing changes.
#[utoipa::path(
    post, path = "/v1/unblock", tag = "machines",
    request_body = UnblockBody,
    responses((status = 200, description = "the plan", body = Plan), Questioned, Missing)
)]
pub(crate) async fn unblock(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    InBody(body): InBody<UnblockBody>,
) -> Result<Json<Plan>, Fault> {
    caller.may_see_moves()?;
    let view = app.writer.view().await?;
    let seed = app.seed;
    Ok(Json(app.fair_queue.run(&caller, move |_| planned(&view, &body, seed)).await??))
}

fn planned(view: &StateView, body: &UnblockBody, seed: u64) -> Result<Plan, Problem> {
    let bad = |detail: String| Problem::new(Reason::BadValue, detail);
    let board = board_of(view, body.machine.as_deref())?;
    let grid = &board.grid;
    let asked = ask(body.shape.as_deref(), body.nodes, grid)?;
    let max_jobs = body.max_jobs.unwrap_or(2);
    if !(1..=4).contains(&max_jobs) {
        return Err(bad("\"max_jobs\" must be from 1 to 4".to_string()));
    }
    let machine = diagnose::as_it_is(view, board, seed).map_err(bad)?;
    let limits = SearchLimits::jobs(max_jobs as usize);
    let freedom = freedom(body.freedom.as_deref())?;
    let request = request(asked, &board.spec.shape_rule, grid, seed).with_freedom(freedom);
    let answer = plan::unblocked(&machine, &request, &limits).map_err(bad)?;
    Ok(Plan::of(grid, &answer, |JobId(id)| JobName::Large(id)))
}
