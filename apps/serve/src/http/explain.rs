//! Explanations of refusals and waits, and what-if questions.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::Json;
use axum::extract::{Extension, State};
use pavior::answers::Queued;
use pavior::answers::json::Point;
use pavior::strategies::Selection;
use pavior::{Freedom, Grid, NodeId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::body;
use super::extract::InBody;
use super::questions::Moment;
use super::statuses::{Missing, Questioned};
use super::{App, Fault};
use crate::core::reply::WaitsFor;
use crate::core::schema;
use crate::core::{Caller, Problem, Reason, StateView, WaitingRequest};
use crate::diagnose::{self, Changes, Choice, Diagnosis};
use crate::waits;

/// A question about a machine in its current state.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExplainBody {
    /// The sides of the box, one per axis of the machine.
    #[schema(example = json!([2, 3]), min_items = 1, max_items = 3)]
    shape: Option<Vec<u64>>,
    /// The number of nodes, instead of a shape.
    #[schema(minimum = 1)]
    nodes: Option<u64>,
    /// The freedom in placing it; by default, the strategy decides.
    #[schema(value_type = Option<schema::Freedom>)]
    freedom: Option<String>,
    /// The strategies to compare; by default only the machine's own.
    #[schema(max_items = 64)]
    strategies: Option<Vec<String>>,
    /// The machine; by default the first one.
    machine: Option<String>,
    /// The number of a waiting request to explain, in place of `shape`, `nodes` and `freedom`.
    waiting: Option<u64>,
}

/// A question about a machine in a hypothetical state.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WhatIfBody {
    /// The sides of the box, one per axis of the machine.
    #[schema(example = json!([2, 3]), min_items = 1, max_items = 3)]
    shape: Option<Vec<u64>>,
    /// The number of nodes, instead of a shape.
    #[schema(minimum = 1)]
    nodes: Option<u64>,
    /// The freedom in placing it; by default, the strategy decides.
    #[schema(value_type = Option<schema::Freedom>)]
    freedom: Option<String>,
    /// A strategy other than the machine's own.
    strategy: Option<String>,
    /// The machine; by default the first one.
    machine: Option<String>,
    /// Leases that end.
    #[serde(default)]
    end: Vec<u64>,
    /// Nodes that fail.
    #[serde(default)]
    fail: Vec<Vec<u64>>,
    /// Nodes that are repaired.
    #[serde(default)]
    repair: Vec<Vec<u64>>,
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

/// The strategies' decisions and a diagnosis.
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

/// Explains how each strategy would decide a request now, and which leases are in its way, without
/// changing anything.
#[utoipa::path(
    post, path = "/v1/explain", tag = "machines",
    request_body = ExplainBody,
    responses(
        (status = 200, description = "the decisions and the diagnosis", body = Explanation),
        Questioned, Missing
    )
)]
pub(crate) async fn explain(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    InBody(body): InBody<ExplainBody>,
) -> Result<Json<Explanation>, Fault> {
    let ExplainBody { shape, nodes, freedom, strategies, machine, waiting } = body;
    let asked = WhatIfBody { shape, nodes, freedom, machine, ..WhatIfBody::default() };
    let question = Question { asked, strategies, waiting };
    app.answer(&app.questions, &caller, move |moment| answer(moment, &question)).await
}

/// Explains how the machine's strategy would decide a request if some leases had ended or nodes had
/// other states, without changing anything.
#[utoipa::path(
    post, path = "/v1/what-if", tag = "machines",
    request_body = WhatIfBody,
    responses(
        (status = 200, description = "the decision and the diagnosis", body = Explanation),
        Questioned, Missing
    )
)]
pub(crate) async fn what_if(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    InBody(body): InBody<WhatIfBody>,
) -> Result<Json<Explanation>, Fault> {
    let strategies = body.strategy.clone().map(|strategy| vec![strategy]);
    let question = Question { asked: body, strategies, waiting: None };
    app.answer(&app.questions, &caller, move |moment| answer(moment, &question)).await
}

/// A question to one of the two routes.
struct Question {
    asked: WhatIfBody,
    strategies: Option<Vec<String>>,
    waiting: Option<u64>,
}

fn answer(moment: &Moment, question: &Question) -> Result<Explanation, Problem> {
    let Moment { view, caller, now_ms, seed, stop } = moment;
    let (asked, waiting) = (&question.asked, waiting(view, caller, question)?);
    let machine = waiting.map(|one| &one.machine).or(asked.machine.as_ref());
    let board = moment.board(machine.map(String::as_str))?;
    let grid = &board.grid;
    let request = if let Some(one) = waiting {
        one.request()
    } else {
        let sides = (asked.shape.as_deref(), asked.nodes);
        moment.request(board, sides, asked.freedom.as_deref())?
    };
    let changes = changes(view, caller, question, grid)?;
    let state = diagnose::state(view, board, &changes);
    let own = vec![board.spec.strategy.clone()];
    let names = question.strategies.as_ref().unwrap_or(&own);
    let mut answers = Vec::new();
    for name in names.iter().take(64) {
        if stop.load(Ordering::Relaxed) {
            return Err(Problem::bad("the caller has disconnected"));
        }
        let unknown = |error: pavior::BadName| Problem::new(Reason::UnknownStrategy, error.reason);
        let strategy: Selection = name.parse().map_err(unknown)?;
        let answer = diagnose::answer(grid, &state, &strategy, &request, *seed);
        answers.push(answer.map_err(Problem::bad)?);
    }
    let known = waiting.map(|_| waits::waits(view, board, *now_ms, *seed));
    let known = known.transpose().map_err(Problem::bad)?;
    let wait = waiting.zip(known.as_ref()).and_then(|(one, known)| known.get(&one.id));
    let diagnosed = diagnose::Question {
        view,
        board,
        changes: &changes,
        request,
        queued: Queued::of(wait),
        planned: wait.and_then(|wait| wait.planned),
        plans: true,
        caller,
    };
    let strategy = names.first().unwrap_or(&board.spec.strategy);
    let diagnosis = diagnosed.diagnosis(&state, strategy, *seed).map_err(Problem::bad)?;
    let waits_for = wait.map(|wait| waits::Names::of(view, board, caller).shown(wait));
    Ok(Explanation {
        seq: view.seq,
        machine: grid.to_string(),
        request: AskedRequest {
            nodes: request.nodes.into(),
            shape: request.shape.map(|shape| Point::of(grid, shape)),
            freedom: request.freedom.map(Freedom::word),
        },
        strategies: answers,
        diagnosis,
        waits_for,
    })
}

/// Parses the hypothetical changes in a question.
fn changes(
    view: &StateView,
    caller: &Caller,
    question: &Question,
    grid: &Grid,
) -> Result<Changes, Problem> {
    for &id in &question.asked.end {
        let found = view.leases.get(&id);
        if found.is_none_or(|lease| !caller.may_touch(&lease.tenant)) {
            return Err(Problem::new(Reason::UnknownLease, format!("there is no lease {id}")));
        }
    }
    let nodes = |list: &[Vec<u64>]| -> Result<Vec<NodeId>, Problem> {
        list.iter().map(|node| body::node(node, grid).map(|point| grid.id(point))).collect()
    };
    Ok(Changes {
        ended: question.asked.end.iter().copied().collect(),
        failed: nodes(&question.asked.fail)?,
        repaired: nodes(&question.asked.repair)?.into_iter().collect(),
    })
}

/// Finds the waiting request that the question names, if any.
fn waiting<'a>(
    view: &'a StateView,
    caller: &Caller,
    question: &Question,
) -> Result<Option<&'a WaitingRequest>, Problem> {
    let Some(id) = question.waiting else { return Ok(None) };
    let both = question.asked.shape.is_some()
        || question.asked.nodes.is_some()
        || question.asked.freedom.is_some();
    if both {
        return Err(Problem::bad("give either \"waiting\", or a shape or a number of nodes"));
    }
    let found = view.waiting.iter().find(|one| one.id == id);
    let found = found.filter(|one| caller.may_touch(&one.tenant));
    found
        .map(|one| Some(&**one))
        .ok_or_else(|| Problem::new(Reason::UnknownLease, format!("no request {id} is waiting")))
}
