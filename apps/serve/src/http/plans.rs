//! Plans that make room by a time, and what they ask of the holders of leases.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Extension, Path, State};
use pavior_mesh::{Cuboid, Grid};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::body::{self, BoxBody, EndBody, instant, millis, read};
use super::changes::{number, number_of};
use super::extract::{Change, ChangeHeaders};
use super::statuses::{Conflict, Guarded, Named};
use super::{App, Fault};
use crate::core::reply::{self, Lease, Plan, Waiting};
use crate::core::{Caller, Command, PlanRequest, PlannedStep, Problem, Reason, Reply};

/// The most leases of a plan.
const LEASES: usize = 64;
/// The most nodes of the room, if it is no box.
const NODES: usize = 4096;

/// A plan as `POST /v1/room` found it: what is to be free, and who goes.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PlanBody {
    /// The box that is to be free.
    placement: Option<BoxBody>,
    /// The nodes that are to be free, instead of a box.
    #[schema(max_items = 4096)]
    drain: Option<Vec<Vec<u64>>>,
    /// When it is to be free (RFC 3339 in UTC).
    #[schema(value_type = String, format = DateTime, example = "2026-11-24T09:00:00Z")]
    by: String,
    /// For how many seconds it is kept free from then on.
    #[schema(exclusive_minimum = 0, maximum = 3.2e9)]
    for_s: f64,
    /// The leases that move.
    #[serde(default)]
    #[schema(max_items = 64)]
    moves: Vec<MoveBody>,
    /// The leases that end, with their requests back in the queue.
    #[serde(default)]
    #[schema(max_items = 64)]
    requeued: Vec<u64>,
    /// The machine; the first one if left out.
    machine: Option<String>,
}

/// A move of a lease.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct MoveBody {
    lease: u64,
    /// Where it is; 409 `changed` if it is elsewhere.
    from: Option<Vec<BoxBody>>,
    /// Where it goes to: as many nodes as it has.
    #[schema(min_items = 1)]
    to: Vec<BoxBody>,
    /// Not looked at: a lease moves when its holder says so.
    #[schema(value_type = Option<String>, format = DateTime)]
    #[serde(default, rename = "ready")]
    _ready: Option<String>,
}

/// Plans.
#[derive(Serialize, ToSchema)]
pub(crate) struct Plans {
    /// The last record that is in it.
    seq: u64,
    /// By number: those under way, and the last 64 that are over.
    plans: Vec<Plan>,
}

/// The plans, with the steps of the leases that the caller may see.
#[utoipa::path(
    get, path = "/v1/plans", tag = "reservations",
    responses((status = 200, description = "the plans", body = Plans), Guarded)
)]
pub(crate) async fn plans(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
) -> Result<Json<Plans>, Fault> {
    let view = app.writer.view().await?;
    let shown = view.plans.iter().map(|plan| {
        let grid = app.grid(Some(&plan.machine));
        reply::Plan::of(grid, plan, &caller, |lease| view.tenant_of(lease))
    });
    Ok(Json(Plans { seq: view.seq, plans: shown.collect() }))
}

/// Has a plan carried out (operator).
///
/// The nodes where leases go to are kept free from now on, and the room from `by` on. The service
/// moves no lease: its holder stops on its nodes and says so by `POST /v1/leases/{id}/move`. The
/// plan is given up, with a reason, as soon as it can no longer be carried out.
#[utoipa::path(
    post, path = "/v1/plans", tag = "reservations",
    request_body = PlanBody, params(ChangeHeaders),
    responses((status = 201, description = "the plan", body = Plan), Named, Conflict)
)]
pub(crate) async fn carry_out(State(app): State<Arc<App>>, change: Change) -> Result<Reply, Fault> {
    let command = |bytes: &Bytes| {
        let body: PlanBody = read(bytes)?;
        let grid = *app.grid(body.machine.as_deref());
        body.request(&grid).map(Command::Plan)
    };
    change.carry_out(&app, "plan", command).await
}

/// Gives up a plan (operator). Leases that have moved stay where they are.
#[utoipa::path(
    post, path = "/v1/plans/{id}/cancel", tag = "reservations",
    params(("id" = u64, Path, description = "the plan"), ChangeHeaders),
    responses((status = 200, description = "the plan as it ended", body = Plan), Named)
)]
pub(crate) async fn cancel(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    change: Change,
) -> Result<Reply, Fault> {
    let command = |bytes: &Bytes| {
        body::nothing(bytes)?;
        number_of(&id, "plan", Reason::UnknownPlan).map(|id| Command::CancelPlan { id })
    };
    change.carry_out(&app, &format!("unplan/{id}"), command).await
}

/// Does what a plan asks of a lease: its holder has stopped on its nodes.
///
/// The lease goes to its new nodes under a new epoch; or it ends, and its request waits again under
/// the number of the reply. 409 `not-free`: the new nodes are still held, ask again.
#[utoipa::path(
    post, path = "/v1/leases/{id}/move", tag = "leases",
    request_body = EndBody,
    params(("id" = u64, Path, description = "the lease"), ChangeHeaders),
    responses(
        (status = 200, description = "the lease on its new nodes", body = Lease),
        (status = 201, description = "its request has begun again at once", body = Lease),
        (status = 202, description = "its request waits again", body = Waiting),
        Named, Conflict
    )
)]
pub(crate) async fn take_step(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    change: Change,
) -> Result<Reply, Fault> {
    let command = |bytes: &Bytes| {
        let EndBody { epoch } = read(bytes)?;
        Ok(Command::Move { id: number(&id)?, epoch })
    };
    change.carry_out(&app, &format!("move/{id}"), command).await
}

impl PlanBody {
    /// The request, for a machine of this grid.
    fn request(self, grid: &Grid) -> Result<PlanRequest, Problem> {
        let bad = |detail: String| Problem::new(Reason::BadValue, detail);
        if self.moves.len() + self.requeued.len() > LEASES {
            return Err(bad(format!("a plan has at most {LEASES} leases")));
        }
        let room = match (&self.placement, &self.drain) {
            (Some(part), None) => vec![part.cuboid(grid)?],
            (None, Some(nodes)) if (1..=NODES).contains(&nodes.len()) => {
                let single = |node: &Vec<u64>| body::node(node, grid).map(Cuboid::node);
                nodes.iter().map(single).collect::<Result<_, _>>()?
            }
            (None, Some(_)) => return Err(bad(format!("\"drain\" has 1 to {NODES} nodes"))),
            _ => return Err(bad("give \"placement\" or \"drain\"".to_string())),
        };
        let moves = self.moves.iter().map(|step| step.read(grid)).collect::<Result<_, _>>()?;
        Ok(PlanRequest {
            machine: self.machine,
            room,
            by_ms: instant("by", &self.by)?,
            for_ms: millis("for_s", Some(self.for_s))?.unwrap_or(1),
            moves,
            requeued: self.requeued,
        })
    }
}

impl MoveBody {
    fn read(&self, grid: &Grid) -> Result<PlannedStep, Problem> {
        let boxes = |list: &[BoxBody]| -> Result<Vec<Cuboid>, Problem> {
            list.iter().map(|part| part.cuboid(grid)).collect()
        };
        if self.to.is_empty() {
            return Err(Problem::new(Reason::BadValue, "\"to\" has at least one box"));
        }
        let from = self.from.as_deref().map(boxes).transpose()?;
        Ok(PlannedStep { lease: self.lease, from, to: boxes(&self.to)? })
    }
}
