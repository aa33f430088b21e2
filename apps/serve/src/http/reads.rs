//! What there is: leases, queue, machines, and whether the service is well.

use std::sync::Arc;

use axum::extract::{Extension, Path, State};
use axum::http::StatusCode;
use pavior_mesh::{Grid, NodeId};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::IntoParams;

use super::body::in_query;
use super::documents::{
    EitherDocument, LeasesDocument, MachineDocument, MachinesDocument, QueueDocument,
    StateDocument, StatusDocument,
};
use super::extract::InQuery;
use super::leases::number;
use super::statuses::{Gone, Guarded, Missing, NotReady, Open};
use super::{App, Fault};
use crate::core::{
    BoardView, Caller, Instant, Lease, NodeCounts, Problem, Reason, Reply, ServiceLimits,
    StateView, WaitingRequest, parts, point,
};
use crate::storage::StoreError;
use crate::waits;
use crate::writer::{Health, Moment, RecoveryError, look_back};

/// The longest list of one reply.
const PAGE: usize = 10_000;

/// Which part of a list.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListQuery {
    /// Leases after this number.
    #[serde(default, deserialize_with = "in_query")]
    after: Option<u64>,
    /// At most so many [default: 1000].
    #[param(minimum = 1, maximum = 10000)]
    limit: Option<usize>,
    /// Those of one machine.
    machine: Option<String>,
}

/// Whose queue.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct QueueQuery {
    /// The machine; all if left out.
    machine: Option<String>,
    /// At most so many, the oldest of each machine first; all if left out.
    #[serde(default, deserialize_with = "in_query")]
    limit: Option<u64>,
}

/// Which machine, and when.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct MachineQuery {
    /// The machine; the first one if left out.
    machine: Option<String>,
    /// As it was after this record.
    #[serde(default, deserialize_with = "in_query")]
    at: Option<u64>,
    /// As it was at this instant, in milliseconds since 1970.
    #[serde(default, deserialize_with = "in_query")]
    at_ms: Option<u64>,
}

/// The leases that the caller may see, by number.
#[utoipa::path(
    get, path = "/v1/leases", tag = "leases",
    params(ListQuery),
    responses(
        (status = 200, description = "the leases, and from where to go on", body = LeasesDocument),
        Guarded, Missing
    )
)]
pub(crate) async fn leases(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    InQuery(query): InQuery<ListQuery>,
) -> Result<Reply, Fault> {
    let most = query.limit.unwrap_or(1000);
    if !(1..=PAGE).contains(&most) {
        let detail = format!("\"limit\" is 1 to {PAGE}");
        return Ok(Problem::new(Reason::BadValue, detail).reply());
    }
    let view = app.writer.view().await?;
    if view.board_index(query.machine.as_deref()).is_none() {
        return Ok(unknown_machine(query.machine.as_deref()));
    }
    let after = query.after.unwrap_or(0);
    let here = |machine: &str| query.machine.as_deref().is_none_or(|name| name == machine);
    let mut seen = view.leases.iter().filter(|lease| {
        lease.id > after && here(&lease.machine) && caller.may_touch(&lease.tenant)
    });
    let page: Vec<_> = seen.by_ref().take(most).collect();
    let next = seen.next().and(page.last()).map(|lease| lease.id);
    let grid = |machine: &str| view.grid(machine).copied().unwrap_or(*app.grid(None));
    let list: Vec<Value> = page.iter().map(|lease| lease.json(&grid(&lease.machine))).collect();
    Ok(Reply::new(200, &json!({ "seq": view.seq, "leases": list, "next": next })))
}

/// One lease, or one request that waits.
#[utoipa::path(
    get, path = "/v1/leases/{id}", tag = "leases",
    params(("id" = u64, Path, description = "the lease")),
    responses(
        (status = 200, description = "the lease, or the waiting request", body = EitherDocument),
        Guarded, Missing
    )
)]
pub(crate) async fn lease(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Reply, Fault> {
    let id = match number(&id) {
        Ok(id) => id,
        Err(problem) => return Ok(problem.reply()),
    };
    let view = app.writer.view().await?;
    let grid = |machine: &str| view.grid(machine).copied().unwrap_or(*app.grid(None));
    let held = view.leases.binary_search_by_key(&id, |lease| lease.id);
    let held = held.ok().map(|index| &view.leases[index]);
    if let Some(lease) = held.filter(|lease| caller.may_touch(&lease.tenant)) {
        return Ok(Reply::new(200, &lease.json(&grid(&lease.machine))));
    }
    let waiting = view.waiting.iter().find(|waiting| waiting.id == id);
    if let Some(waiting) = waiting.filter(|waiting| caller.may_touch(&waiting.tenant)) {
        let mut list = waiting_list(&app, &view, &caller, vec![waiting.clone()]).await?;
        return Ok(Reply::new(200, &list.pop()));
    }
    let problem = Problem::new(Reason::UnknownLease, format!("there is no lease {id}"));
    Ok(problem.reply())
}

/// The requests that wait, machine by machine in the order in which they came, and what each waits
/// for.
#[utoipa::path(
    get, path = "/v1/queue", tag = "leases", params(QueueQuery),
    responses((status = 200, description = "the requests", body = QueueDocument), Guarded, Missing)
)]
pub(crate) async fn queue(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    InQuery(query): InQuery<QueueQuery>,
) -> Result<Reply, Fault> {
    let view = app.writer.view().await?;
    if query.machine.is_some() && view.board_index(query.machine.as_deref()).is_none() {
        return Ok(unknown_machine(query.machine.as_deref()));
    }
    let here =
        |one: &WaitingRequest| query.machine.as_ref().is_none_or(|name| one.machine == *name);
    let most = query.limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
    let mut seen = wanted(&view, &caller, here);
    let total = seen.len();
    seen.truncate(most);
    let list = waiting_list(&app, &view, &caller, seen).await?;
    Ok(Reply::new(200, &json!({ "seq": view.seq, "waiting": list, "total": total })))
}

/// The waiting requests that a caller may see, of those that are wanted.
fn wanted(
    view: &StateView,
    caller: &Caller,
    wanted: impl Fn(&WaitingRequest) -> bool,
) -> Vec<Arc<WaitingRequest>> {
    let seen = |one: &&Arc<WaitingRequest>| caller.may_touch(&one.tenant) && wanted(one);
    view.waiting.iter().filter(seen).cloned().collect()
}

/// Waiting requests, with what they wait for.
async fn waiting_list(
    app: &Arc<App>,
    view: &Arc<StateView>,
    caller: &Caller,
    seen: Vec<Arc<WaitingRequest>>,
) -> Result<Vec<Value>, Fault> {
    if seen.is_empty() {
        return Ok(Vec::new());
    }
    let (shared, view, seen_by) = (app.clone(), view.clone(), caller.clone());
    let work = move || {
        let numbers = waits::by_number(&view);
        let mut list = Vec::new();
        for board in &view.boards {
            let here = || seen.iter().filter(|one| one.machine == board.spec.name);
            if here().next().is_none() {
                continue;
            }
            let now_ms = shared.writer.clock.now_ms();
            let known = shared.waits.of(&view, board, now_ms, shared.seed)?;
            list.extend(here().map(|one| {
                let mut json = one.json(&board.grid);
                let wait = known.get(&one.id);
                json["waits_for"] =
                    wait.map_or(Value::Null, |wait| wait.json(board, &numbers, &seen_by));
                json
            }));
        }
        Ok(list)
    };
    let list = app.turns.run(caller, work).await?;
    list.map_err(|reason: String| Fault::internal(&reason))
}

/// A machine: how many of its nodes are free, held, failed and drained, and the largest free
/// box.
#[utoipa::path(
    get, path = "/v1/machine", tag = "machines",
    params(MachineQuery),
    responses(
        (status = 200, description = "the machine", body = MachineDocument),
        Guarded, Missing, Gone
    )
)]
pub(crate) async fn machine(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    InQuery(query): InQuery<MachineQuery>,
) -> Result<Reply, Fault> {
    let view = view_at(&app, &caller, &query).await?;
    let Some(board) = view.board_index(query.machine.as_deref()) else {
        return Ok(unknown_machine(query.machine.as_deref()));
    };
    let work = tokio::task::spawn_blocking(move || shown(&view, &view.boards[board]));
    Ok(Reply::new(200, &work.await.map_err(|error| Fault::internal(&error))?))
}

/// All machines.
#[utoipa::path(
    get, path = "/v1/machines", tag = "machines",
    responses((status = 200, description = "the machines", body = MachinesDocument), Guarded)
)]
pub(crate) async fn machines(State(app): State<Arc<App>>) -> Result<Reply, Fault> {
    let view = app.writer.view().await?;
    let work = tokio::task::spawn_blocking(move || {
        let list: Vec<Value> = view.boards.iter().map(|board| shown(&view, board)).collect();
        json!({ "seq": view.seq, "machines": list })
    });
    Ok(Reply::new(200, &work.await.map_err(|error| Fault::internal(&error))?))
}

/// Everything about a machine that a page draws: leases, queue, nodes that are not healthy. Leases
/// of other tenants have no names.
#[utoipa::path(
    get, path = "/v1/state", tag = "machines",
    params(MachineQuery),
    responses(
        (status = 200, description = "the state", body = StateDocument),
        Guarded, Missing, Gone
    )
)]
pub(crate) async fn state(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    InQuery(query): InQuery<MachineQuery>,
) -> Result<Reply, Fault> {
    let view = view_at(&app, &caller, &query).await?;
    let Some(board) = view.board_index(query.machine.as_deref()) else {
        return Ok(unknown_machine(query.machine.as_deref()));
    };
    let board = &view.boards[board];
    let grid = &board.grid;
    let drawn = |lease: &&Lease| {
        if caller.may_touch(&lease.tenant) {
            return lease.json(grid);
        }
        let (parts, start) = (parts(grid, &lease.cuboids()), Instant(lease.start_ms));
        json!({ "id": null, "parts": parts, "start": start })
    };
    let leases: Vec<Value> = view.leases_on(board).iter().map(drawn).collect();
    let waiting = view
        .waiting
        .iter()
        .filter(|waiting| waiting.machine == board.spec.name && caller.may_touch(&waiting.tenant));
    let waiting: Vec<Value> = waiting.map(|waiting| waiting.json(grid)).collect();
    let points = |nodes: &[u32]| -> Vec<Value> {
        nodes.iter().map(|&node| point(grid, grid.point(NodeId(node)))).collect()
    };
    Ok(Reply::new(
        200,
        &json!({
            "seq": view.seq,
            "now": Instant(view.now_ms),
            "name": board.spec.name,
            "machine": grid.to_string(),
            "strategy": board.spec.strategy,
            "scheduler": board.spec.scheduler,
            "leases": leases,
            "waiting": waiting,
            "failed": points(&board.failed),
            "drained": points(&board.drained),
            "machines": view.boards.iter().map(|board| &board.spec.name).collect::<Vec<_>>(),
        }),
    ))
}

fn shown(view: &StateView, board: &BoardView) -> Value {
    let largest = board.free.largest_free().map_or([0; 3], |cuboid| cuboid.sides);
    let NodeCounts { free, busy, failed, drained } = view.counts(board);
    json!({
        "name": board.spec.name,
        "machine": board.grid.to_string(),
        "strategy": board.spec.strategy,
        "scheduler": board.spec.scheduler,
        "nodes": board.grid.nodes(),
        "free": free,
        "busy": busy,
        "failed": failed,
        "drained": drained,
        "jobs": view.leases.iter().filter(|lease| lease.machine == board.spec.name).count(),
        "largest_free": &largest[..board.grid.axes()],
        "waiting": view.waiting.iter().filter(|one| one.machine == board.spec.name).count(),
        "seq": view.seq,
    })
}

pub(crate) fn unknown_machine(name: Option<&str>) -> Reply {
    let detail = format!("there is no machine `{}`", name.unwrap_or_default());
    Problem::new(Reason::UnknownMachine, detail).reply()
}

/// The state now, or after a record or at an instant of the past.
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
    let moment = Moment { known: app.series.before(at_ms).min(until), until, at_ms };
    // One look back at a time: it reads the journal.
    let work = move || {
        look_back(&*history, &moment, &ServiceLimits::default(), seed).map(|state| state.view())
    };
    match app.turns.run(caller, work).await? {
        Ok(view) => Ok(Arc::new(view)),
        Err(RecoveryError::Store(StoreError::Compacted(upto))) => Err(compacted(upto)),
        Err(error) => Err(Fault::internal(&error)),
    }
}

/// The records up to a number are no longer kept.
pub(crate) fn compacted(upto: u64) -> Fault {
    let detail = format!("records up to {upto} are compacted; begin anew from GET /v1/state");
    let mut fault = Fault::new(StatusCode::GONE, "compacted", detail);
    fault.oldest = Some(upto);
    fault
}

/// A record that is not there yet: the caller has seen one of this number before the data were set
/// back.
pub(crate) fn ahead(record: u64, last: u64) -> Fault {
    let detail = format!("the last record is {last}, not {record}; begin anew from GET /v1/state");
    Fault::new(StatusCode::GONE, "ahead", detail)
}

/// Whether the process runs.
#[utoipa::path(
    get, path = "/healthz", tag = "service",
    responses((status = 200, description = "it does", body = StatusDocument), Open)
)]
pub(crate) async fn healthz() -> Reply {
    Reply::new(200, &json!({ "status": "ok" }))
}

/// Whether the service can decide.
#[utoipa::path(
    get, path = "/readyz", tag = "service",
    responses((status = 200, description = "it can", body = StatusDocument), Open, NotReady)
)]
pub(crate) async fn readyz(State(app): State<Arc<App>>) -> Result<Reply, Fault> {
    use crate::writer::Unavailable;
    match app.writer.health() {
        Health::Ready if *app.stopping.borrow() => Err(Unavailable::Stopping.into()),
        Health::Ready => {
            let mut status = json!({ "status": "ready", "seq": app.writer.seq() });
            if let Some(doubt) = app.writer.clock_doubt() {
                status["clock"] = "in-doubt".into();
                status["detail"] = doubt.sentence().into();
            }
            Ok(Reply::new(200, &status))
        }
        Health::ReadOnly(reason) => Err(Unavailable::ReadOnly(reason).into()),
        Health::Standby(by) => Err(Unavailable::Standby(by).into()),
    }
}

/// The grid of a view's machine, for a name that was found there.
pub(crate) fn board_of<'a>(
    view: &'a StateView,
    name: Option<&str>,
) -> Result<&'a BoardView, Reply> {
    view.board_index(name).map(|index| &view.boards[index]).ok_or_else(|| unknown_machine(name))
}

/// The coordinates of nodes as a list of numbers.
pub(crate) fn numbers(nodes: &[Vec<u64>], grid: &Grid) -> Result<Vec<NodeId>, Problem> {
    nodes.iter().map(|node| super::body::node(node, grid).map(|point| grid.id(point))).collect()
}
