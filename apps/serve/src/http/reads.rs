//! Routes that list leases and waiting requests.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Extension, Path, State};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::changes::lease_id;
use super::extract::{QueryParams, query_number};
use super::statuses::{Guarded, Missing};
use super::{App, Fault};
use crate::core::reply::{LeaseReply, Waiting};
use crate::core::{self, Caller, Problem, Reason, StateView, WaitingRequest};
use crate::waits;

/// The maximum number of leases in a reply.
const MAX_LEASES: usize = 10_000;

/// The query parameters that select leases.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListQuery {
    /// The number after which to start: only leases with greater numbers are returned.
    #[serde(default, deserialize_with = "query_number")]
    after: Option<u64>,
    /// The maximum number of entries [default: 1000].
    #[param(minimum = 1, maximum = 10000)]
    limit: Option<usize>,
    /// Returns only leases on this machine.
    machine: Option<String>,
}

/// The query parameters that select waiting requests.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct QueueQuery {
    /// The machine's name. Defaults to all machines.
    machine: Option<String>,
    /// The maximum number of requests to return, in order of machine and queue position. Defaults
    /// to all.
    #[serde(default, deserialize_with = "query_number")]
    limit: Option<u64>,
}

/// One page of the leases visible to the caller.
#[derive(Serialize, ToSchema)]
#[expect(clippy::struct_field_names, reason = "the JSON member has this name")]
pub(crate) struct Leases {
    /// The number of the last record that the reply reflects.
    seq: u64,
    leases: Vec<LeaseReply>,
    /// The value of `after` for the next page; null if this is the last page.
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
    Held(LeaseReply),
    /// A waiting request.
    Waiting(Waiting),
}

/// Returns the leases visible to the caller, in order of number.
#[utoipa::path(
    get, path = "/v1/leases", tag = "leases", params(ListQuery),
    responses(
        (status = 200, description = "a page of leases, and where the next begins", body = Leases),
        Guarded, Missing
    )
)]
pub(crate) async fn leases(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    QueryParams(query): QueryParams<ListQuery>,
) -> Result<Json<Leases>, Fault> {
    let limit = query.limit.unwrap_or(1000);
    if !(1..=MAX_LEASES).contains(&limit) {
        return Err(Problem::bad(format!("\"limit\" must be from 1 to {MAX_LEASES}")).into());
    }
    let view = app.writer.view().await?;
    let machine = query.machine.as_deref();
    view.find_board(machine)?;
    let mut visible = view.leases.after(query.after.unwrap_or(0)).filter(|lease| {
        machine.is_none_or(|name| lease.machine == name) && caller.may_touch(&lease.tenant)
    });
    let page: Vec<_> = visible.by_ref().take(limit).collect();
    let next = visible.next().and(page.last()).map(|lease| lease.id);
    let leases = page.iter().map(|lease| describe(&view, lease)).collect::<Result<_, _>>()?;
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
    let id = lease_id(&id)?;
    let view = app.writer.view().await?;
    let lease = view.leases.get(id).filter(|lease| caller.may_touch(&lease.tenant));
    if let Some(lease) = lease {
        return Ok(Json(LeaseOrWaiting::Held(describe(&view, lease)?)));
    }
    let request = visible_requests(&view, &caller, |request| request.id == id);
    let mut waiting = waiting_list(&app, &view, &caller, request).await?;
    let unknown = || Problem::new(Reason::UnknownLease, format!("no such lease: `{id}`"));
    Ok(Json(LeaseOrWaiting::Waiting(waiting.pop().ok_or_else(unknown)?)))
}

/// Returns waiting requests, by machine and in queue order, with the reasons for waiting.
#[utoipa::path(
    get, path = "/v1/queue", tag = "leases", params(QueueQuery),
    responses((status = 200, description = "the requests", body = Queue), Guarded, Missing)
)]
pub(crate) async fn queue(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    QueryParams(query): QueryParams<QueueQuery>,
) -> Result<Json<Queue>, Fault> {
    let view = app.writer.view().await?;
    let machine = query.machine.as_deref();
    view.find_board(machine)?;
    let mut requests = visible_requests(&view, &caller, |request| {
        machine.is_none_or(|name| request.machine == name)
    });
    let total = requests.len() as u64;
    if let Some(limit) = query.limit {
        requests.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    }
    let waiting = waiting_list(&app, &view, &caller, requests).await?;
    Ok(Json(Queue { seq: view.seq, waiting, total }))
}

fn describe(view: &StateView, lease: &core::Lease) -> Result<LeaseReply, Fault> {
    let unknown = || Fault::internal(&format!("lease {} is on an unknown machine", lease.id));
    let grid = view.grid(&lease.machine).ok_or_else(unknown)?;
    Ok(LeaseReply::of(grid, lease))
}

/// Returns the waiting requests that are visible to a caller.
fn visible_requests(
    view: &StateView,
    caller: &Caller,
    is_selected: impl Fn(&WaitingRequest) -> bool,
) -> Vec<Arc<WaitingRequest>> {
    let requests = view.waiting.iter();
    let visible = requests.filter(|request| caller.may_touch(&request.tenant));
    visible.filter(|request| is_selected(request)).cloned().collect()
}

/// Describes waiting requests, including reasons and forecasts.
async fn waiting_list(
    app: &Arc<App>,
    view: &Arc<StateView>,
    caller: &Caller,
    requests: Vec<Arc<WaitingRequest>>,
) -> Result<Vec<Waiting>, Fault> {
    if requests.is_empty() {
        return Ok(Vec::new());
    }
    let (shared, view, reader) = (app.clone(), view.clone(), caller.clone());
    let work = move |_: &_| {
        let mut list = Vec::new();
        for board in &view.boards {
            let on_board = || requests.iter().filter(|one| one.machine == board.spec.name);
            if on_board().next().is_none() {
                continue;
            }
            let now_ms = shared.writer.clock.now_ms();
            let reasons = shared.waits.of(&view, board, now_ms, shared.seed)?;
            let names = waits::Names::of(&view, board, &reader);
            let starts = shared.forecasts.starts(board);
            list.extend(on_board().map(|request| {
                let waits_for = reasons.get(&request.id).map(|reason| names.waits_for(reason));
                let forecast = starts.of(request.id).map(Box::new);
                Waiting { waits_for, forecast, ..Waiting::of(&board.grid, request) }
            }));
        }
        Ok(list)
    };
    let list = app.questions.run(caller, work).await?;
    list.map_err(|reason: String| Fault::internal(&reason))
}
