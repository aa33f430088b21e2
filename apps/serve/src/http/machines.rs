//! Routes that return machines' node counts and the data for the web page.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Extension, State};
use axum::response::{IntoResponse, Response};
use pavior::answers::json::{Place, Point};
use pavior::{Grid, NodeId};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::extract::{QueryParams, query_number};
use super::past::view_at;
use super::statuses::{Gone, Guarded, Missing};
use super::{App, Fault};
use crate::core::reply::{self, Instant, Waiting};
use crate::core::{Caller, Lease, NodeCounts, StateView};

/// The query parameters that select a machine and, optionally, one of its past states.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct MachineQuery {
    /// The machine's name. Defaults to the first machine.
    machine: Option<String>,
    /// Selects the state after this record.
    #[serde(default, deserialize_with = "query_number")]
    pub(super) at: Option<u64>,
    /// The time of the state to return, in milliseconds since 1970.
    #[serde(default, deserialize_with = "query_number")]
    pub(super) at_ms: Option<u64>,
}

/// A machine with its node counts.
#[derive(Serialize, ToSchema)]
#[expect(clippy::struct_field_names, reason = "the JSON member has this name")]
pub(crate) struct Machine {
    name: String,
    /// The grid, such as `torus:8x8x8`.
    machine: String,
    strategy: String,
    /// The scheduler; null if requests cannot wait.
    scheduler: Option<String>,
    nodes: u64,
    /// Free, healthy nodes.
    free: u64,
    /// Nodes held by leases, including failed and drained nodes.
    busy: u64,
    /// Failed nodes that no lease holds.
    failed: u64,
    /// Drained nodes that no lease holds. Thus, free + busy + failed + drained = nodes.
    drained: u64,
    /// The number of leases.
    jobs: u64,
    /// The sides of the largest free box.
    #[schema(value_type = Vec<u16>)]
    largest_free: Point,
    waiting: u64,
    seq: u64,
}

impl Machine {
    fn of(view: &StateView, index: usize) -> Machine {
        let board = &view.boards[index];
        let largest = board.free.largest_free().map_or([0; 3], |cuboid| cuboid.sides);
        let NodeCounts { free, busy, failed, drained } = view.counts(board);
        Machine {
            name: board.spec.name.clone(),
            machine: board.grid.to_string(),
            strategy: board.spec.strategy.clone(),
            scheduler: board.spec.scheduler.clone(),
            nodes: board.grid.nodes().into(),
            free,
            busy,
            failed,
            drained,
            jobs: view.lease_count(index),
            largest_free: Point::of(&board.grid, largest),
            waiting: view.waiting_on(board).count() as u64,
            seq: view.seq,
        }
    }
}

/// All machines.
#[derive(Serialize, ToSchema)]
pub(crate) struct Machines {
    seq: u64,
    machines: Vec<Machine>,
}

/// A lease as drawn on the page.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum DrawnLease {
    /// A lease visible to the caller.
    Own(reply::LeaseReply),
    /// Another tenant's lease.
    Other(OtherLease),
}

/// Another tenant's lease, reduced to its boxes and start time.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OtherLease {
    /// Always null, because only the lease's tenant and the operator may know the number.
    id: Option<u64>,
    #[schema(value_type = Vec<crate::core::schema::Part>)]
    parts: Vec<Place>,
    /// The start of the lease.
    #[schema(value_type = String, format = DateTime)]
    start: Instant,
}

impl DrawnLease {
    fn of(grid: &Grid, lease: &Lease, caller: &Caller) -> DrawnLease {
        if caller.may_touch(&lease.tenant) {
            return DrawnLease::Own(reply::LeaseReply::of(grid, lease));
        }
        let (parts, start) = (Place::all(grid, &lease.cuboids()), Instant(lease.start_ms));
        DrawnLease::Other(OtherLease { id: None, parts, start })
    }
}

/// All data about a machine that the page displays.
#[derive(Serialize, ToSchema)]
#[schema(as = State)]
pub(crate) struct Drawn {
    seq: u64,
    /// The time of the last record.
    #[schema(value_type = String, format = DateTime)]
    now: Instant,
    name: String,
    machine: String,
    strategy: String,
    scheduler: Option<String>,
    leases: Vec<DrawnLease>,
    waiting: Vec<Waiting>,
    /// Failed nodes, including those held by a lease.
    #[schema(value_type = Vec<Vec<u16>>)]
    failed: Vec<Point>,
    /// Drained nodes, including those held by a lease.
    #[schema(value_type = Vec<Vec<u16>>)]
    drained: Vec<Point>,
    /// The names of all machines.
    machines: Vec<String>,
}

impl Drawn {
    fn of(view: &StateView, index: usize, caller: &Caller) -> Drawn {
        let board = &view.boards[index];
        let grid = &board.grid;
        let waiting = view.waiting_on(board).filter(|request| caller.may_touch(&request.tenant));
        let leases = view.leases_on(board);
        let points = |nodes: &[u32]| -> Vec<Point> {
            nodes.iter().map(|&node| Point::of(grid, grid.point(NodeId(node)))).collect()
        };
        Drawn {
            seq: view.seq,
            now: Instant(view.now_ms),
            name: board.spec.name.clone(),
            machine: grid.to_string(),
            strategy: board.spec.strategy.clone(),
            scheduler: board.spec.scheduler.clone(),
            leases: leases.iter().map(|lease| DrawnLease::of(grid, lease, caller)).collect(),
            waiting: waiting.map(|request| Waiting::of(grid, request)).collect(),
            failed: points(&board.failed),
            drained: points(&board.drained),
            machines: view.boards.iter().map(|board| board.spec.name.clone()).collect(),
        }
    }
}

/// Returns a machine, its node counts, and its largest free box.
#[utoipa::path(
    get, path = "/v1/machine", tag = "machines", params(MachineQuery),
    responses((status = 200, description = "the machine", body = Machine), Guarded, Missing, Gone)
)]
pub(crate) async fn machine(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    QueryParams(query): QueryParams<MachineQuery>,
) -> Result<Response, Fault> {
    let view = view_at(&app, &caller, &query).await?;
    let index = view.find_board(query.machine.as_deref())?;
    app.describe(&caller, move || Machine::of(&view, index)).await
}

/// Returns all machines.
#[utoipa::path(
    get, path = "/v1/machines", tag = "machines",
    responses((status = 200, description = "the machines", body = Machines), Guarded)
)]
pub(crate) async fn machines(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
) -> Result<Response, Fault> {
    let view = app.writer.view().await?;
    let all = move || {
        let machines = (0..view.boards.len()).map(|index| Machine::of(&view, index)).collect();
        Machines { seq: view.seq, machines }
    };
    app.describe(&caller, all).await
}

/// Returns all the data about a machine that the page draws: its leases, queue and unavailable
/// nodes. Other tenants' leases are anonymous.
#[utoipa::path(
    get, path = "/v1/state", tag = "machines", params(MachineQuery),
    responses((status = 200, description = "the state", body = Drawn), Guarded, Missing, Gone)
)]
pub(crate) async fn state(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    QueryParams(query): QueryParams<MachineQuery>,
) -> Result<Response, Fault> {
    let view = view_at(&app, &caller, &query).await?;
    let index = view.find_board(query.machine.as_deref())?;
    let owner = caller.clone();
    app.describe(&caller, move || Drawn::of(&view, index, &owner)).await
}

impl App {
    /// Replies with a description of machines. Because descriptions can be large, only a few are
    /// created at a time, and these are serialized before the next ones are created.
    pub(super) async fn describe<T: Serialize>(
        &self,
        caller: &Caller,
        describe: impl FnOnce() -> T + Send + 'static,
    ) -> Result<Response, Fault> {
        self.descriptions.run(caller, move |_| Json(describe()).into_response()).await
    }
}
