//! How room is made by a time.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Extension, State};
use pavior_answers::{SearchLimits, Shape};
use pavior_mesh::{Grid, NodeId};
use serde::Deserialize;
use utoipa::ToSchema;

use super::body::{self, BoxFreedomSchema, ask, freedom, instant, millis};
use super::explain::request;
use super::extract::InBody;
use super::machines::board_of;
use super::statuses::{Missing, Questioned};
use super::{App, Fault};
use crate::core::{BoardView, Caller, Problem, Reason, StateView};
use crate::diagnose::{self, Changes};
use crate::room::{self, RoomAnswer, Wanted};

/// The most nodes to be emptied.
const NODES: usize = 4096;

/// What is to be free by a time: a box, or some nodes.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RoomBody {
    /// The sides of the box, as many as the machine has axes.
    #[schema(example = json!([2, 3]), min_items = 1, max_items = 3)]
    shape: Option<Vec<u64>>,
    /// The number of nodes, instead of a shape.
    #[schema(minimum = 1)]
    nodes: Option<u64>,
    /// How free the box is to be placed: `box`, `turned` or `any-box`; turned if left out.
    #[schema(value_type = Option<BoxFreedomSchema>)]
    freedom: Option<String>,
    /// The nodes to be emptied, instead of a box.
    #[schema(max_items = 4096)]
    drain: Option<Vec<Vec<u64>>>,
    /// When it is to be free (RFC 3339 in UTC).
    #[schema(value_type = String, format = DateTime, example = "2026-11-24T09:00:00Z")]
    by: String,
    /// For how many seconds it is needed, for what delays others [default: until it is free].
    #[schema(exclusive_minimum = 0, maximum = 3.2e9)]
    for_s: Option<f64>,
    /// The machine; the first one if left out.
    machine: Option<String>,
    /// The most leases that move or are requeued [default: 2].
    #[schema(maximum = 4)]
    max_jobs: Option<u32>,
    /// Whether leases may be requeued; if not, they only move.
    #[serde(default)]
    requeue: bool,
}

/// How a box, or some nodes, are made free by a time: who moves or is requeued, what work that
/// loses, and who starts later (operator). Of all plans of at most `max_jobs` leases the one that
/// loses least, then the one that moves fewest nodes. A lease is said to end as its `estimate_s` or
/// `ttl_s` says. Nothing changes.
#[utoipa::path(
    post, path = "/v1/room", tag = "machines",
    request_body = RoomBody,
    responses((status = 200, description = "the plan", body = RoomAnswer), Questioned, Missing)
)]
pub(crate) async fn room(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    InBody(body): InBody<RoomBody>,
) -> Result<Json<RoomAnswer>, Fault> {
    caller.may_see_moves()?;
    let view = app.writer.view().await?;
    let (now_ms, seed) = (app.writer.clock.now_ms(), app.seed);
    Ok(Json(app.fair_queue.run(&caller, move || planned(&view, &body, (now_ms, seed))).await??))
}

fn planned(
    view: &StateView,
    body: &RoomBody,
    (now_ms, seed): (u64, u64),
) -> Result<RoomAnswer, Problem> {
    let bad = |detail: String| Problem::new(Reason::BadValue, detail);
    let board = board_of(view, body.machine.as_deref())?;
    let max_jobs = body.max_jobs.unwrap_or(2);
    if max_jobs > 4 {
        return Err(bad("\"max_jobs\" is 0 to 4".to_string()));
    }
    let drain = body.drain.as_deref().map(|nodes| drained(nodes, &board.grid)).transpose()?;
    let wanted = Wanted {
        shapes: if drain.is_some() { Vec::new() } else { shapes(view, board, body, seed)? },
        drain,
        by_ms: instant("by", &body.by)?,
        for_ms: millis("for_s", body.for_s)?.unwrap_or(1),
        requeue: body.requeue,
        limits: SearchLimits::jobs(max_jobs as usize),
    };
    if wanted.by_ms < now_ms {
        return Err(bad("\"by\" has passed".to_string()));
    }
    if body.drain.is_some() && (body.shape.is_some() || body.nodes.is_some()) {
        return Err(bad("give \"drain\", or \"shape\" or \"nodes\"".to_string()));
    }
    room::room(view, board, (now_ms, seed), &wanted).map_err(bad)
}

fn drained(nodes: &[Vec<u64>], grid: &Grid) -> Result<Vec<NodeId>, Problem> {
    if !(1..=NODES).contains(&nodes.len()) {
        let detail = format!("\"drain\" has 1 to {NODES} nodes");
        return Err(Problem::new(Reason::BadValue, detail));
    }
    nodes.iter().map(|node| body::node(node, grid).map(|point| grid.id(point))).collect()
}

/// The boxes of a request.
fn shapes(
    view: &StateView,
    board: &BoardView,
    body: &RoomBody,
    seed: u64,
) -> Result<Vec<Shape>, Problem> {
    let bad = |detail: String| Problem::new(Reason::BadValue, detail);
    let asked = ask(body.shape.as_deref(), body.nodes, &board.grid)?;
    let state = diagnose::state(view, board, &Changes::default());
    let machine = diagnose::machine(&state, &board.spec.strategy, seed).map_err(bad)?;
    let freedom = freedom(body.freedom.as_deref())?;
    let rule = &board.spec.shape_rule;
    let request = request(asked, rule, &board.grid, seed).with_freedom(freedom);
    let boxes = Shape::all_for(&request, &machine, true);
    boxes.ok_or_else(|| bad("a plan is for boxes: \"freedom\" is box, turned or any-box".into()))
}
