//! Why a request is refused, and what if something were otherwise.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Extension, State};
use pavior_allocation::Selection;
use pavior_mesh::{Freedom, Grid, Request};
use pavior_workload::{ShapeRule, Shaper};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::body::{FreedomSchema, ask, freedom, read};
use super::documents::{ExplanationDocument, ProblemDocument};
use super::reads::{board_of, numbers};
use super::{App, Fault};
use crate::core::{Ask, Caller, Problem, Reason, Reply, StateView};
use crate::diagnose::{self, Changes};

/// A question about the machine as it is.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExplainBody {
    /// The sides of the box, as many as the machine has axes.
    #[schema(example = json!([2, 3]), min_items = 1, max_items = 3)]
    shape: Option<Vec<u64>>,
    /// The number of nodes, instead of a shape.
    #[schema(minimum = 1)]
    nodes: Option<u64>,
    /// How free it is to be placed; left to the strategy if left out.
    #[schema(value_type = Option<FreedomSchema>)]
    freedom: Option<String>,
    /// The strategies to ask; the machine's own if left out.
    #[schema(max_items = 64)]
    strategies: Option<Vec<String>>,
    /// The machine; the first one if left out.
    machine: Option<String>,
}

/// A question about the machine as it would be.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WhatIfBody {
    /// The sides of the box, as many as the machine has axes.
    #[schema(example = json!([2, 3]), min_items = 1, max_items = 3)]
    shape: Option<Vec<u64>>,
    /// The number of nodes, instead of a shape.
    #[schema(minimum = 1)]
    nodes: Option<u64>,
    /// How free it is to be placed; left to the strategy if left out.
    #[schema(value_type = Option<FreedomSchema>)]
    freedom: Option<String>,
    /// Another strategy than the machine's own.
    strategy: Option<String>,
    /// The machine; the first one if left out.
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

/// What each strategy would do now with a request, and what stands in its way. Nothing changes.
#[utoipa::path(post, path = "/v1/explain", tag = "machines", request_body = ExplainBody, responses(
    (status = 200, description = "the answers, and the diagnosis", body = ExplanationDocument),
    (status = "default", description = "the question cannot be answered", body = ProblemDocument, content_type = "application/problem+json")))]
pub(crate) async fn explain(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    bytes: Bytes,
) -> Result<Reply, Fault> {
    let body = match read::<ExplainBody>(&bytes) {
        Ok(body) => body,
        Err(problem) => return Ok(problem.reply()),
    };
    let question = Question {
        shape: body.shape,
        nodes: body.nodes,
        freedom: body.freedom,
        strategies: body.strategies,
        machine: body.machine,
        ..Question::default()
    };
    answered(&app, caller, question).await
}

/// What the machine's strategy would do if leases had ended and nodes were otherwise. Nothing
/// changes.
#[utoipa::path(post, path = "/v1/what-if", tag = "machines", request_body = WhatIfBody, responses(
    (status = 200, description = "the answer, and the diagnosis", body = ExplanationDocument),
    (status = "default", description = "the question cannot be answered", body = ProblemDocument, content_type = "application/problem+json")))]
pub(crate) async fn what_if(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    bytes: Bytes,
) -> Result<Reply, Fault> {
    let body = match read::<WhatIfBody>(&bytes) {
        Ok(body) => body,
        Err(problem) => return Ok(problem.reply()),
    };
    let question = Question {
        shape: body.shape,
        nodes: body.nodes,
        freedom: body.freedom,
        strategies: body.strategy.map(|strategy| vec![strategy]),
        machine: body.machine,
        end: body.end,
        fail: body.fail,
        repair: body.repair,
    };
    answered(&app, caller, question).await
}

#[derive(Default)]
struct Question {
    shape: Option<Vec<u64>>,
    nodes: Option<u64>,
    freedom: Option<String>,
    strategies: Option<Vec<String>>,
    machine: Option<String>,
    end: Vec<u64>,
    fail: Vec<Vec<u64>>,
    repair: Vec<Vec<u64>>,
}

async fn answered(app: &App, caller: Caller, question: Question) -> Result<Reply, Fault> {
    let view = app.writer.view().await?;
    let (seed, seen_by) = (app.seed, caller.clone());
    let work = move || answer(&view, &seen_by, &question, seed);
    let answer = app.turns.run(&caller, work).await?;
    Ok(answer.map_or_else(|reply| reply, |body| Reply::new(200, &body)))
}

fn answer(
    view: &StateView,
    caller: &Caller,
    question: &Question,
    seed: u64,
) -> Result<Value, Reply> {
    let bad = |detail: String| Problem::new(Reason::BadValue, detail).reply();
    let board = board_of(view, question.machine.as_deref())?;
    let grid = &board.grid;
    let asked = ask(question.shape.as_deref(), question.nodes, grid).map_err(|p| p.reply())?;
    let freedom = freedom(question.freedom.as_deref()).map_err(|p| p.reply())?;
    let request = request(asked, &board.spec.shape_rule, grid, seed).with_freedom(freedom);
    for &id in &question.end {
        let found = view.leases.iter().find(|lease| lease.id == id);
        if found.is_none_or(|lease| !caller.may_touch(&lease.tenant)) {
            let problem = Problem::new(Reason::UnknownLease, format!("there is no lease {id}"));
            return Err(problem.reply());
        }
    }
    let changes = Changes {
        ended: question.end.iter().copied().collect(),
        failed: numbers(&question.fail, grid).map_err(|problem| problem.reply())?,
        repaired: numbers(&question.repair, grid)
            .map_err(|problem| problem.reply())?
            .into_iter()
            .collect(),
    };
    let state = diagnose::state(view, board, &changes);
    let own = vec![board.spec.strategy.clone()];
    let names = question.strategies.as_ref().unwrap_or(&own);
    let mut answers = Vec::new();
    for name in names.iter().take(64) {
        let unknown = |error: pavior_kernel::BadName| {
            Problem::new(Reason::UnknownStrategy, error.reason).reply()
        };
        let strategy: Selection = name.parse().map_err(unknown)?;
        answers.push(diagnose::answer(grid, &state, &strategy, &request, seed).map_err(bad)?);
    }
    Ok(json!({
        "seq": view.seq,
        "machine": grid.to_string(),
        "request": {
            "nodes": request.nodes,
            "shape": request.shape.map(|shape| shape[..grid.axes()].to_vec()),
            "freedom": request.freedom.map(Freedom::word),
        },
        "strategies": answers,
        "diagnosis": diagnose::diagnosis(view, board, &state, request.shape, caller),
    }))
}

/// The request for what is asked, by a machine's shape rule.
pub(crate) fn request(asked: Ask, rule: &str, grid: &Grid, seed: u64) -> Request {
    match asked {
        Ask::Shape(sides) => Request::shape(sides),
        Ask::Beyond(nodes) => Request::nodes(nodes),
        Ask::Nodes(nodes) => match rule.parse::<pavior_workload::Selection<ShapeRule>>() {
            Ok(rule) => Shaper::new(&rule, grid, seed, 0).request(nodes),
            Err(_) => Request::nodes(nodes),
        },
    }
}
