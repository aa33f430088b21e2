//! Queries for leases and waiting requests.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Extension, Path, State};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::body::in_query;
use super::changes::number;
use super::extract::InQuery;
use super::machines::{board_of, unknown_machine};
use super::statuses::{Guarded, Missing};
use super::{App, Fault};
use crate::core::reply::{Lease, Waiting};
use crate::core::{Caller, Problem, Reason, StateView, WaitingRequest};
use crate::waits;

const PAGE: usize = 10_000;

/// The part of the leases to return.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListQuery {
    /// Only leases with numbers greater than this one.
    #[serde(default, deserialize_with = "in_query")]
    after: Option<u64>,
    /// The maximum number of entries [default: 1000].
    #[param(minimum = 1, maximum = 10000)]
    limit: Option<usize>,
    /// Only leases on this machine.
    machine: Option<String>,
}

/// The part of the queues to return.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct QueueQuery {
    /// The machine; by default all machines.
    machine: Option<String>,
    /// The maximum number of entries, oldest first within each machine; by default all.
    #[serde(default, deserialize_with = "in_query")]
    limit: Option<u64>,
}

/// A part of the leases visible to the caller.
#[derive(Serialize, ToSchema)]
#[expect(clippy::struct_field_names, reason = "the JSON member has this name")]
pub(crate) struct Leases {
    /// The number of the last record included.
    seq: u64,
    leases: Vec<Lease>,
    /// The value of `after` for the next part; null if this is the last part.
    next: Option<u64>,
}

/// Waiting requests visible to the caller.
#[derive(Serialize, ToSchema)]
pub(crate) struct Queue {
    seq: u64,
    waiting: Vec<Waiting>,
    /// The number of matching requests, including those beyond `limit`.
    total: u64,
}

/// A lease or a waiting request.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum LeaseOrWaiting {
    /// A lease.
    Held(Lease),
    /// A waiting request.
    Waiting(Waiting),
}

/// Returns the leases visible to the caller, by number.
#[utoipa::path(
    get, path = "/v1/leases", tag = "leases", params(ListQuery),
    responses(
        (status = 200, description = "the leases, and where to continue", body = Leases),
        Guarded, Missing
    )
)]
pub(crate) async fn leases(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    InQuery(query): InQuery<ListQuery>,
) -> Result<Json<Leases>, Fault> {
    let most = query.limit.unwrap_or(1000);
    if !(1..=PAGE).contains(&most) {
        return Err(Problem::bad(format!("\"limit\" must be from 1 to {PAGE}")).into());
    }
    let view = app.writer.view().await?;
    if view.board_index(query.machine.as_deref()).is_none() {
        return Err(unknown_machine(query.machine.as_deref()).into());
    }
    let after = query.after.unwrap_or(0);
    let here = |machine: &str| query.machine.as_deref().is_none_or(|name| name == machine);
    let mut seen = view.leases.iter().filter(|lease| {
        lease.id > after && here(&lease.machine) && caller.may_touch(&lease.tenant)
    });
    let page: Vec<_> = seen.by_ref().take(most).collect();
    let next = seen.next().and(page.last()).map(|lease| lease.id);
    let grid = |machine: &str| *view.grid(machine).unwrap_or(app.grid(None));
    let leases = page.iter().map(|lease| Lease::of(&grid(&lease.machine), lease)).collect();
    Ok(Json(Leases { seq: view.seq, leases, next }))
}

/// Returns a lease or a waiting request.
#[utoipa::path(
    get, path = "/v1/leases/{id}", tag = "leases",
    params(("id" = u64, Path, description = "the lease")),
    responses(
        (status = 200, description = "the lease, or the waiting request", body = LeaseOrWaiting),
        Guarded, Missing
    )
)]
pub(crate) async fn lease(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Json<LeaseOrWaiting>, Fault> {
    let id = number(&id)?;
    let view = app.writer.view().await?;
    let held = view.leases.get(&id);
    if let Some(lease) = held.filter(|lease| caller.may_touch(&lease.tenant)) {
        let grid = view.grid(&lease.machine).unwrap_or(app.grid(None));
        return Ok(Json(LeaseOrWaiting::Held(Lease::of(grid, lease))));
    }
    let asked = waiting_list(&app, &view, &caller, wanted(&view, &caller, |one| one.id == id));
    let unknown = || Problem::new(Reason::UnknownLease, format!("there is no lease {id}"));
    Ok(Json(LeaseOrWaiting::Waiting(asked.await?.pop().ok_or_else(unknown)?)))
}

/// Returns waiting requests with the reasons, by machine, in queue order.
#[utoipa::path(
    get, path = "/v1/queue", tag = "leases", params(QueueQuery),
    responses((status = 200, description = "the requests", body = Queue), Guarded, Missing)
)]
pub(crate) async fn queue(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    InQuery(query): InQuery<QueueQuery>,
) -> Result<Json<Queue>, Fault> {
    let view = app.writer.view().await?;
    if query.machine.is_some() {
        board_of(&view, query.machine.as_deref())?;
    }
    let here =
        |one: &WaitingRequest| query.machine.as_ref().is_none_or(|name| one.machine == *name);
    let most = query.limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
    let mut seen = wanted(&view, &caller, here);
    let total = seen.len() as u64;
    seen.truncate(most);
    let waiting = waiting_list(&app, &view, &caller, seen).await?;
    Ok(Json(Queue { seq: view.seq, waiting, total }))
}

/// Selects waiting requests visible to a caller.
fn wanted(
    view: &StateView,
    caller: &Caller,
    wanted: impl Fn(&WaitingRequest) -> bool,
) -> Vec<Arc<WaitingRequest>> {
    let seen = |one: &&Arc<WaitingRequest>| caller.may_touch(&one.tenant) && wanted(one);
    view.waiting.iter().filter(seen).cloned().collect()
}

/// Describes waiting requests, with reasons and forecasts.
async fn waiting_list(
    app: &Arc<App>,
    view: &Arc<StateView>,
    caller: &Caller,
    seen: Vec<Arc<WaitingRequest>>,
) -> Result<Vec<Waiting>, Fault> {
    if seen.is_empty() {
        return Ok(Vec::new());
    }
    let (shared, view, seen_by) = (app.clone(), view.clone(), caller.clone());
    let work = move |_: &_| {
        let mut list = Vec::new();
        for board in &view.boards {
            let here = || seen.iter().filter(|one| one.machine == board.spec.name);
            if here().next().is_none() {
                continue;
            }
            let now_ms = shared.writer.clock.now_ms();
            let known = shared.waits.of(&view, board, now_ms, shared.seed)?;
            let names = waits::Names::of(&view, board, &seen_by);
            let foretold = shared.forecasts.starts(board);
            list.extend(here().map(|one| {
                let waits_for = known.get(&one.id).map(|why| names.shown(why));
                let forecast = foretold.of(one.id).map(Box::new);
                Waiting { waits_for, forecast, ..Waiting::of(&board.grid, one) }
            }));
        }
        Ok(list)
    };
    let list = app.questions.run(caller, work).await?;
    list.map_err(|reason: String| Fault::internal(&reason))
}
