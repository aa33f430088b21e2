//! Routes that explain refusals and waits, and answer what-if questions.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;

use axum::Json;
use pavior::answers::Queued;
use pavior::answers::json::Point;
use pavior::strategies::{Selection, explain};
use pavior::{BadName, Freedom, Grid, NodeId, Request};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Fault;
use super::body::request_body;
use super::extract::Question;
use super::questions::Moment;
use super::statuses::{Missing, Questioned};
use crate::core::reply::WaitsFor;
use crate::core::schema;
use crate::core::{Problem, Reason, WaitingRequest, node_coordinates};
use crate::diagnose::{self, Changes, Choice, Diagnosis};
use crate::waits;

/// The maximum number of strategies to compare.
const MAX_STRATEGIES: usize = 64;

request_body! {
    /// A question about a machine in its current state.
    ExplainBody(Freedom) {
        /// The strategies to compare. Defaults to the machine's own strategy.
        #[schema(max_items = 64)]
        strategies: Option<Vec<String>>,
        /// The number of a waiting request to explain, instead of `shape`, `nodes` and `freedom`.
        waiting: Option<u64>,
    }
}

request_body! {
    /// A question about a machine in a hypothetical state.
    WhatIfBody(Freedom) {
        /// A strategy other than the machine's own.
        strategy: Option<String>,
        /// The numbers of the leases to treat as ended.
        #[serde(default)]
        end: Vec<u64>,
        /// Nodes assumed to have failed.
        #[serde(default)]
        fail: Vec<Vec<u64>>,
        /// Nodes assumed to have been repaired.
        #[serde(default)]
        repair: Vec<Vec<u64>>,
    }
}

/// The request as the service interpreted it.
#[derive(Serialize, ToSchema)]
#[schema(as = Asked)]
pub(crate) struct AskedRequest {
    nodes: u64,
    #[schema(value_type = Option<Vec<u16>>)]
    shape: Option<Point>,
    #[schema(value_type = Option<schema::Freedom>)]
    freedom: Option<&'static str>,
}

/// Each strategy's decision, and a diagnosis.
#[derive(Serialize, ToSchema)]
pub(crate) struct Explanation {
    seq: u64,
    machine: String,
    request: AskedRequest,
    strategies: Vec<Choice>,
    diagnosis: Diagnosis,
    /// The reason why the given request is waiting.
    waits_for: Option<WaitsFor>,
}

/// Explains how each strategy would decide on a request now, and which leases block the request.
/// Changes nothing.
#[utoipa::path(
    post, path = "/v1/explain", tag = "machines",
    request_body = ExplainBody,
    responses(
        (status = 200, description = "the decisions and the diagnosis", body = Explanation),
        Questioned, Missing
    )
)]
pub(crate) async fn explain(question: Question<ExplainBody>) -> Result<Json<Explanation>, Fault> {
    let answer = |moment: &Moment, body: ExplainBody| {
        let ExplainBody { shape, nodes, freedom, strategies, machine, waiting } = body;
        let body = WhatIfBody { shape, nodes, freedom, machine, ..WhatIfBody::default() };
        ExplainQuestion { body, strategies, waiting }.answer(moment)
    };
    question.answer(answer).await
}

/// Explains how the machine's strategy would decide on a request if certain leases had ended, or if
/// certain nodes had failed or been repaired. Changes nothing.
#[utoipa::path(
    post, path = "/v1/what-if", tag = "machines",
    request_body = WhatIfBody,
    responses(
        (status = 200, description = "the decision and the diagnosis", body = Explanation),
        Questioned, Missing
    )
)]
pub(crate) async fn what_if(question: Question<WhatIfBody>) -> Result<Json<Explanation>, Fault> {
    let answer = |moment: &Moment, body: WhatIfBody| {
        let strategies = body.strategy.clone().map(|strategy| vec![strategy]);
        ExplainQuestion { body, strategies, waiting: None }.answer(moment)
    };
    question.answer(answer).await
}

/// A question for `explain` or `what_if`.
struct ExplainQuestion {
    body: WhatIfBody,
    strategies: Option<Vec<String>>,
    waiting: Option<u64>,
}

impl ExplainQuestion {
    fn answer(&self, moment: &Moment) -> Result<Explanation, Problem> {
        let Moment { view, caller, now_ms, seed, .. } = moment;
        let waiting = self.waiting_request(moment)?;
        let machine = waiting.map(|waiting| &waiting.machine).or(self.body.machine.as_ref());
        let board = moment.board(machine.map(String::as_str))?;
        let grid = &board.grid;
        let request = match waiting {
            Some(waiting) => waiting.request(),
            None => moment.request(board, &self.body)?,
        };
        let changes = self.changes(moment, grid)?;
        let state = diagnose::state(view, board, &changes);
        let default = std::slice::from_ref(&board.spec.strategy);
        let strategies = self.strategies.as_deref().unwrap_or(default);
        let choices = choices(moment, grid, &state, strategies, &request)?;
        let reason = match waiting {
            Some(waiting) => {
                let reasons = waits::waits(view, board, *now_ms, *seed);
                reasons.map_err(Problem::bad)?.remove(&waiting.id)
            }
            None => None,
        };
        let diagnosed = diagnose::DiagnosisQuery {
            view,
            board,
            changes: &changes,
            request,
            queued: Queued::of(reason.as_ref()),
            planned: reason.as_ref().and_then(|reason| reason.planned),
            plans: true,
            caller,
        };
        let strategy = strategies.first().unwrap_or(&board.spec.strategy);
        let diagnosis = diagnosed.diagnosis(&state, strategy, *seed).map_err(Problem::bad)?;
        let describe = |reason| waits::Names::of(view, board, caller).waits_for(&reason);
        Ok(Explanation {
            seq: view.seq,
            machine: grid.to_string(),
            request: AskedRequest::of(grid, &request),
            strategies: choices,
            diagnosis,
            waits_for: reason.map(describe),
        })
    }

    /// Returns the waiting request that the question refers to, if any.
    fn waiting_request<'a>(
        &self,
        Moment { view, caller, .. }: &'a Moment,
    ) -> Result<Option<&'a WaitingRequest>, Problem> {
        let Some(id) = self.waiting else { return Ok(None) };
        let WhatIfBody { shape, nodes, freedom, .. } = &self.body;
        if shape.is_some() || nodes.is_some() || freedom.is_some() {
            return Err(Problem::bad(
                "\"waiting\" cannot be combined with \"shape\", \"nodes\" or \"freedom\"",
            ));
        }
        let request = view.waiting.iter().find(|request| request.id == id);
        let visible = request.filter(|request| caller.may_touch(&request.tenant));
        visible.map(|request| Some(&**request)).ok_or_else(|| {
            Problem::new(Reason::UnknownLease, format!("no request {id} is waiting"))
        })
    }

    /// Parses the hypothetical changes.
    fn changes(
        &self,
        Moment { view, caller, .. }: &Moment,
        grid: &Grid,
    ) -> Result<Changes, Problem> {
        let WhatIfBody { end, fail, repair, .. } = &self.body;
        for &id in end {
            let lease = view.leases.get(id);
            if lease.is_none_or(|lease| !caller.may_touch(&lease.tenant)) {
                return Err(Problem::new(Reason::UnknownLease, format!("no such lease: `{id}`")));
            }
        }
        let id = |node: &Vec<u64>| node_coordinates(node, grid).map(|point| grid.id(point));
        let nodes = |list: &[_]| list.iter().map(id).collect::<Result<BTreeSet<NodeId>, _>>();
        Ok(Changes {
            ended: end.iter().copied().collect(),
            failed: nodes(fail)?,
            repaired: nodes(repair)?,
        })
    }
}

impl AskedRequest {
    fn of(grid: &Grid, request: &Request) -> AskedRequest {
        AskedRequest {
            nodes: request.nodes.into(),
            shape: request.shape.map(|shape| Point::of(grid, shape)),
            freedom: request.freedom.map(Freedom::word),
        }
    }
}

/// Queries each strategy for its decision on a request.
fn choices(
    moment: &Moment,
    grid: &Grid,
    state: &explain::State,
    strategies: &[String],
    request: &Request,
) -> Result<Vec<Choice>, Problem> {
    if strategies.len() > MAX_STRATEGIES {
        let detail = format!("\"strategies\" may contain at most {MAX_STRATEGIES} names");
        return Err(Problem::bad(detail));
    }
    let choice = |name: &String| {
        if moment.stop.load(Ordering::Relaxed) {
            return Err(Problem::bad("the client has disconnected"));
        }
        let unknown = |error: BadName| Problem::new(Reason::UnknownStrategy, error.reason);
        let strategy: Selection = name.parse().map_err(unknown)?;
        diagnose::decision_of(grid, state, &strategy, request, moment.seed).map_err(Problem::bad)
    };
    strategies.iter().map(choice).collect()
}
