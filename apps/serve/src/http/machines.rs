//! Node counts of machines, and the data for the web page, at present or in the past.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Extension, State};
use axum::http::StatusCode;
use pavior::answers::json::{Place, Point};
use pavior::{Grid, NodeId};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::body::in_query;
use super::extract::InQuery;
use super::statuses::{Gone, Guarded, Missing};
use super::{App, Fault};
use crate::core::reply::{self, Instant, Waiting};
use crate::core::{
    BoardView, Caller, Lease, NodeCounts, Problem, Reason, ServiceLimits, StateView,
};
use crate::storage::StoreError;
use crate::writer::{Cutoff, RecoveryError, look_back};

/// A machine and a time.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct MachineQuery {
    /// The machine; by default the first one.
    machine: Option<String>,
    /// The state after this record.
    #[serde(default, deserialize_with = "in_query")]
    at: Option<u64>,
    /// The state at this time, in milliseconds since 1970.
    #[serde(default, deserialize_with = "in_query")]
    at_ms: Option<u64>,
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
    /// Nodes held by leases, even if they have failed or are drained.
    busy: u64,
    /// Failed nodes that no lease holds.
    failed: u64,
    /// Drained nodes that no lease holds: free + busy + failed + drained = nodes.
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
    fn of(view: &StateView, board: &BoardView) -> Machine {
        let largest = board.free.largest_free().map_or([0; 3], |cuboid| cuboid.sides);
        let NodeCounts { free, busy, failed, drained } = view.counts(board);
        let here = |machine: &String| *machine == board.spec.name;
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
            jobs: view.leases.iter().filter(|lease| here(&lease.machine)).count() as u64,
            largest_free: Point::of(&board.grid, largest),
            waiting: view.waiting.iter().filter(|one| here(&one.machine)).count() as u64,
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

/// A lease as the page draws it.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum DrawnLease {
    /// A lease visible to the caller.
    Own(reply::Lease),
    /// Another tenant's lease.
    Other(OtherLease),
}

/// Another tenant's lease, with only its boxes and its start.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OtherLease {
    /// Null.
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
            return DrawnLease::Own(reply::Lease::of(grid, lease));
        }
        let (parts, start) = (Place::all(grid, &lease.cuboids()), Instant(lease.start_ms));
        DrawnLease::Other(OtherLease { id: None, parts, start })
    }
}

/// All data of a machine that the page draws.
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

/// Returns a machine with its node counts and the largest free box.
#[utoipa::path(
    get, path = "/v1/machine", tag = "machines", params(MachineQuery),
    responses((status = 200, description = "the machine", body = Machine), Guarded, Missing, Gone)
)]
pub(crate) async fn machine(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    InQuery(query): InQuery<MachineQuery>,
) -> Result<Json<Machine>, Fault> {
    let view = view_at(&app, &caller, &query).await?;
    let index = index(&view, query.machine.as_deref())?;
    let work = tokio::task::spawn_blocking(move || Machine::of(&view, &view.boards[index]));
    work.await.map(Json).map_err(|error| Fault::internal(&error))
}

/// Returns all machines.
#[utoipa::path(
    get, path = "/v1/machines", tag = "machines",
    responses((status = 200, description = "the machines", body = Machines), Guarded)
)]
pub(crate) async fn machines(State(app): State<Arc<App>>) -> Result<Json<Machines>, Fault> {
    let view = app.writer.view().await?;
    let work = tokio::task::spawn_blocking(move || {
        let machines = view.boards.iter().map(|board| Machine::of(&view, board)).collect();
        Machines { seq: view.seq, machines }
    });
    work.await.map(Json).map_err(|error| Fault::internal(&error))
}

/// Returns all data of a machine that the page draws: leases, queue and unavailable nodes. Other
/// tenants' leases have no names.
#[utoipa::path(
    get, path = "/v1/state", tag = "machines", params(MachineQuery),
    responses((status = 200, description = "the state", body = Drawn), Guarded, Missing, Gone)
)]
pub(crate) async fn state(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    InQuery(query): InQuery<MachineQuery>,
) -> Result<Json<Drawn>, Fault> {
    let view = view_at(&app, &caller, &query).await?;
    let board = board_of(&view, query.machine.as_deref())?;
    let grid = &board.grid;
    let seen = view.waiting.iter().filter(|one| one.machine == board.spec.name);
    let seen = seen.filter(|one| caller.may_touch(&one.tenant));
    let leases = view.leases_on(board);
    let points = |nodes: &[u32]| -> Vec<Point> {
        nodes.iter().map(|&node| Point::of(grid, grid.point(NodeId(node)))).collect()
    };
    Ok(Json(Drawn {
        seq: view.seq,
        now: Instant(view.now_ms),
        name: board.spec.name.clone(),
        machine: grid.to_string(),
        strategy: board.spec.strategy.clone(),
        scheduler: board.spec.scheduler.clone(),
        leases: leases.iter().map(|lease| DrawnLease::of(grid, lease, &caller)).collect(),
        waiting: seen.map(|one| Waiting::of(grid, one)).collect(),
        failed: points(&board.failed),
        drained: points(&board.drained),
        machines: view.boards.iter().map(|board| board.spec.name.clone()).collect(),
    }))
}

/// Returns the index of a machine, by default the first one.
fn index(view: &StateView, name: Option<&str>) -> Result<usize, Problem> {
    view.board_index(name).ok_or_else(|| unknown_machine(name))
}

/// Returns a machine, by default the first one.
pub(crate) fn board_of<'a>(
    view: &'a StateView,
    name: Option<&str>,
) -> Result<&'a BoardView, Problem> {
    index(view, name).map(|index| &view.boards[index])
}

pub(crate) fn unknown_machine(name: Option<&str>) -> Problem {
    let detail = format!("there is no machine `{}`", name.unwrap_or_default());
    Problem::new(Reason::UnknownMachine, detail)
}

/// Returns the current state, or the state after a past record or at a past time.
async fn view_at(
    app: &Arc<App>,
    caller: &Caller,
    query: &MachineQuery,
) -> Result<Arc<StateView>, Fault> {
    let now = app.writer.view().await?;
    let (until, at_ms) = (query.at.unwrap_or(u64::MAX), query.at_ms.unwrap_or(u64::MAX));
    if until >= now.seq && at_ms >= now.now_ms {
        return Ok(now);
    }
    let (history, seed) = (app.writer.history().clone(), app.seed);
    let until = until.min(now.seq);
    let cutoff = Cutoff { known: app.series.before(at_ms).min(until), until, at_ms };
    // Past states are read from the journal; the queue limits the load.
    let work = move |_: &_| {
        look_back(&*history, &cutoff, &ServiceLimits::default(), seed).map(|state| state.view())
    };
    match app.questions.run(caller, work).await? {
        Ok(view) => Ok(Arc::new(view)),
        Err(RecoveryError::Store(StoreError::Compacted(upto))) => Err(compacted(upto)),
        Err(error) => Err(Fault::internal(&error)),
    }
}

/// Returns the problem of removed records.
pub(crate) fn compacted(upto: u64) -> Fault {
    let detail = format!("records up to {upto} have been removed; start again from GET /v1/state");
    let mut fault = Fault::new(StatusCode::GONE, "compacted", detail);
    fault.problem.oldest = Some(upto);
    fault
}

/// Returns the problem of a record that does not exist yet. The caller saw its number before the
/// data was restored from an older copy.
pub(crate) fn ahead(record: u64, last: u64) -> Fault {
    let detail = format!("the last record is {last}, not {record}; start again from GET /v1/state");
    Fault::new(StatusCode::GONE, "ahead", detail)
}
