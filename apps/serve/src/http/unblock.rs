//! The route that plans how to make room for a request by moving leases.

use axum::Json;
use pavior::JobId;
use pavior::answers::SearchLimits;
use serde::Deserialize;
use utoipa::ToSchema;

use super::Fault;
use super::body::request_body;
use super::extract::Question;
use super::questions::Moment;
use super::statuses::{Missing, Questioned};
use crate::core::{JobName, Problem};
use crate::plan::{self, Plan};

request_body! {
    /// A request that does not fit now.
    UnblockBody(BoxFreedom) {
        /// The maximum number of leases to move [default: 2].
        #[schema(minimum = 1, maximum = 4)]
        max_jobs: Option<u32>,
    }
}

/// Plans the cheapest way to make room for a request by moving leases. The moves are listed in a
/// feasible order. The cost of moving a lease is the lease's number of nodes. Changes nothing.
#[utoipa::path(
    post, path = "/v1/unblock", tag = "machines",
    request_body = UnblockBody,
    responses((status = 200, description = "the plan", body = Plan), Questioned, Missing)
)]
pub(crate) async fn unblock(question: Question<UnblockBody>) -> Result<Json<Plan>, Fault> {
    question.caller.may_see_moves()?;
    question.answer(|moment, body| plan_moves(moment, &body)).await
}

fn plan_moves(moment: &Moment, body: &UnblockBody) -> Result<Plan, Problem> {
    let board = moment.board(body.machine.as_deref())?;
    let request = moment.request(board, body)?;
    let max_jobs = body.max_jobs.unwrap_or(2);
    if !(1..=4).contains(&max_jobs) {
        return Err(Problem::bad("\"max_jobs\" must be from 1 to 4"));
    }
    let (machine, limits) = (moment.machine(board)?, SearchLimits::jobs(max_jobs as usize));
    let answer = plan::unblocked(machine.machine(), &request, &limits).map_err(Problem::bad)?;
    Ok(Plan::of(&board.grid, &answer, |JobId(id)| JobName::Large(id)))
}
