//! Records as they become durable, as server-sent events.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Extension, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::sse::{Event as Sent, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::watch as signal;
use utoipa::IntoParams;

use super::body::in_query;
use super::extract::InQuery;
use super::machines::{ahead, compacted};
use super::places::{Party, Place};
use super::statuses::{Gone, Guarded};
use super::{App, Fault};
use crate::core::reply;
use crate::core::{Caller, Event, Instant, ServiceRecord, Why};
use crate::storage::{History, StoreError};
use crate::writer::{Next, Unavailable, weight};

/// Records that are read from the history at a time, and about how many bytes of them.
const CHUNK: usize = 1000;
const CHUNK_BYTES: usize = 256 << 10;
/// Events that are made ready at a time.
const READY: usize = 64;

/// From where to watch.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct WatchQuery {
    /// Records after this one; those from now on if left out. The header `Last-Event-ID` wins.
    #[serde(default, deserialize_with = "in_query")]
    after: Option<u64>,
}

/// A watcher.
struct Watcher {
    app: Arc<App>,
    caller: Caller,
    /// The last record that was sent or passed over.
    last: u64,
    ready: VecDeque<Sent>,
    live: signal::Receiver<u64>,
    /// Whether everything up to `last` is all that was durable when the live records began.
    behind: bool,
    stopping: signal::Receiver<bool>,
    place: Arc<Place>,
}

/// Watches the service: an event for each record, in order, without gaps.
///
/// The id of an event is the number of its record; `event` is its kind: `granted`, `queued`,
/// `renewed`, `moved`, `ended`, `node`, `reserved`, `unreserved`, `planned`, `plan-over` or
/// `configured`. A tenant sees its own leases, all nodes, what is reserved ahead, and that there is
/// a plan. A watcher that asks for records that are no longer kept gets 410 and begins anew from
/// `GET /v1/state`.
#[utoipa::path(
    get, path = "/v1/watch", tag = "leases",
    params(WatchQuery, ("Last-Event-ID" = Option<u64>, Header, description = "as `after`")),
    responses(
        (status = 200, description = "the events", body = String,
            content_type = "text/event-stream"),
        Guarded, Gone
    )
)]
pub(crate) async fn watch(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    InQuery(query): InQuery<WatchQuery>,
    headers: HeaderMap,
) -> Result<Response, Fault> {
    let place = app.watchers.enter_if_fair(Party::of(&caller)).ok_or_else(|| {
        let most = app.watchers.most();
        let mut fault = Fault::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "too-many-watchers",
            format!("{most} watch already, and no caller has more of them"),
        );
        fault.retry_after = Some(5);
        fault
    })?;
    let again = headers.get("last-event-id").map(read_id).transpose()?;
    // From now on records are kept; what is older is read from the history.
    let live = app.writer.watch();
    let view = app.writer.view().await?;
    let last = again.or(query.after).unwrap_or(view.seq);
    if last > view.seq {
        return Err(ahead(last, view.seq));
    }
    let history = app.writer.history().clone();
    let oldest = read_back(&app, move || history.oldest()).await.ok_or(Unavailable::Stopping)?;
    let oldest = oldest.map_err(|error| Fault::internal(&error))?;
    if last < oldest {
        return Err(compacted(oldest));
    }
    let stopping = app.stopping.clone();
    let behind = last < view.seq;
    let watcher =
        Watcher { app, caller, last, ready: VecDeque::new(), live, behind, stopping, place };
    let events = stream::unfold(watcher, async |mut watcher| {
        let event = watcher.next().await?;
        Some((Ok::<_, Infallible>(event), watcher))
    });
    let alive = KeepAlive::new().interval(Duration::from_secs(15));
    Ok(Sse::new(events).keep_alive(alive).into_response())
}

/// The record that a watcher which comes again has seen last. One that cannot be read must not
/// pass for none: the records since would be missed.
fn read_id(id: &HeaderValue) -> Result<u64, Fault> {
    id.to_str().ok().and_then(|id| id.parse().ok()).ok_or_else(|| {
        let detail = "Last-Event-ID is the number of a record";
        Fault::new(StatusCode::BAD_REQUEST, "bad-value", detail)
    })
}

/// Reads from the history, which few do at a time: `None` when the service stops.
async fn read_back<T: Send + 'static>(
    app: &App,
    read: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let turn = app.catching_up.clone().acquire_owned().await.ok()?;
    let read = move || {
        let _turn = turn;
        read()
    };
    tokio::task::spawn_blocking(read).await.ok()
}

/// Records of the history.
struct Part {
    records: Vec<ServiceRecord>,
    /// Whether there are more.
    more: bool,
}

/// Some records after one that is known, none of them after `durable`: what is not durable yet must
/// not be told.
fn part(history: &dyn History, (after, durable): (u64, u64)) -> Result<Part, StoreError> {
    let (mut records, mut bytes, mut more) = (Vec::new(), 0, false);
    history.scan(after, &mut |record| {
        let tell = record.seq <= durable;
        if tell {
            bytes += weight(&record);
            records.push(record);
            more = records.len() == CHUNK || bytes > CHUNK_BYTES;
        }
        Ok(tell && !more)
    })?;
    Ok(Part { records, more })
}

impl Watcher {
    /// The next event; `None` when the service stops or the watcher has fallen too far behind.
    async fn next(&mut self) -> Option<Sent> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            if self.behind {
                self.catch_up().await?;
                continue;
            }
            match self.app.writer.after(self.last) {
                Next::Records(group) => {
                    let from = group.partition_point(|record| record.seq <= self.last);
                    group[from..].iter().take(READY).for_each(|record| self.take(record));
                }
                // It reads too slowly. It may come again, and is told where it was.
                Next::Gone => return None,
                Next::Nothing => tokio::select! {
                    changed = self.live.changed() => changed.ok()?,
                    () = self.place.given_up() => return None,
                    _ = self.stopping.wait_for(|stopping| *stopping) => return None,
                },
            }
        }
    }

    /// Reads a part of the history.
    async fn catch_up(&mut self) -> Option<()> {
        let (history, after) = (self.app.writer.history().clone(), self.last);
        let durable = self.app.writer.seq();
        let read = read_back(&self.app, move || part(&*history, (after, durable)));
        match read.await? {
            Ok(Part { records, more }) => {
                self.behind = more;
                for record in &records {
                    self.take(record);
                }
                Some(())
            }
            // The end of the stream: the client comes again, and is told where to begin.
            Err(StoreError::Compacted(_)) => None,
            Err(error) => {
                tracing::error!(%error, "a watcher cannot be served");
                None
            }
        }
    }

    fn take(&mut self, record: &ServiceRecord) {
        if record.seq <= self.last {
            return;
        }
        self.last = record.seq;
        if let Some((kind, data)) = self.told(record) {
            let event = Sent::default().id(record.seq.to_string()).event(kind);
            self.ready.push_back(event.data(data.to_string()));
        }
    }

    /// What the caller is told of a record, if it is for them.
    fn told(&self, record: &ServiceRecord) -> Option<(&'static str, Value)> {
        let (kind, tenant, mut data) = match &record.event {
            Event::Configured { machines } => ("configured", None, json!({ "machines": machines })),
            Event::Granted { lease } => {
                let grid = self.app.grid(Some(&lease.machine));
                let data = json!({ "lease": reply::Lease::of(grid, lease) });
                ("granted", Some(lease.tenant.clone()), data)
            }
            Event::Queued { waiting } => {
                let grid = self.app.grid(Some(&waiting.machine));
                let data = json!({ "waiting": reply::Waiting::of(grid, waiting) });
                ("queued", Some(waiting.tenant.clone()), data)
            }
            Event::Renewed { id, expires_ms, tenant } => {
                let data = json!({ "id": id, "expires": expires_ms.map(Instant) });
                ("renewed", Some(tenant.clone()), data)
            }
            Event::Ended { id, why, tenant } => {
                let why = match why {
                    Why::Ended => "ended",
                    Why::Expired => "expired",
                    Why::Cancelled => "cancelled",
                    Why::Requeued => "requeued",
                };
                ("ended", Some(tenant.clone()), json!({ "id": id, "why": why }))
            }
            Event::Node { machine, node, state } => {
                ("node", None, json!({ "machine": machine, "node": node, "state": state }))
            }
            Event::Reserved { reservation } => {
                let grid = self.app.grid(Some(&reservation.machine));
                // Who is in its way is asked for by `GET /v1/reservations`.
                let shown = reply::Reservation::of(grid, reservation, [].into_iter());
                ("reserved", None, json!({ "reservation": shown }))
            }
            Event::Unreserved { id, why } => ("unreserved", None, json!({ "id": id, "why": why })),
            Event::Planned { plan } => ("planned", None, json!({ "id": plan.id })),
            Event::PlanOver { id, .. } => ("plan-over", None, json!({ "id": id })),
            Event::Moved { plan, lease } => {
                let grid = self.app.grid(Some(&lease.machine));
                let data = json!({ "lease": reply::Lease::of(grid, lease), "plan": plan });
                ("moved", Some(lease.tenant.clone()), data)
            }
            Event::Clock { .. } | Event::Kept => return None,
        };
        if tenant.is_some_and(|tenant| !self.caller.may_touch(&tenant)) {
            return None;
        }
        data["seq"] = record.seq.into();
        data["at"] = json!(Instant(record.at_ms));
        data["kind"] = kind.into();
        Some((kind, data))
    }
}
