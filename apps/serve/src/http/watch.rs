//! Sends records as server-sent events as they become durable.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Extension, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use futures_util::{FutureExt, stream};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::watch as signal;
use tokio::time::{self, Interval, Sleep};
use utoipa::IntoParams;

use super::extract::{QueryParams, query_number};
use super::past::{ahead, compacted};
use super::permits::Party;
use super::statuses::{Gone, Guarded};
use super::{App, Fault};
use crate::core::reply;
use crate::core::{Caller, Event, Instant, Problem, ServiceRecord};
use crate::storage::{History, StoreError};
use crate::writer::{Next, Recorded, weight};

/// The maximum number of records in one read of the history.
const MAX_CHUNK_RECORDS: usize = 1000;
/// The approximate maximum size, in bytes, of the records in one read of the history.
const MAX_CHUNK_BYTES: usize = 256 << 10;
/// The approximate maximum size of a write to a watcher, in bytes.
const MAX_WRITE_BYTES: usize = 32 << 10;
/// The minimum time between two writes to a watcher. Events that arrive in between are sent
/// together.
const MIN_WRITE_INTERVAL: Duration = Duration::from_millis(20);
/// The minimum time between writes to a watcher, per connected watcher: with 1000 watchers, each
/// gets a write every 100 ms. In total, these 10,000 writes per second take up a fifth of a core.
const INTERVAL_PER_WATCHER: Duration = Duration::from_micros(100);
/// The idle time after which the number of the last record is sent to keep the connection alive.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(15);

/// The query parameter that selects the starting point of a watch.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct WatchQuery {
    /// The record after which to start. Defaults to the last record. `Last-Event-ID` takes
    /// precedence.
    #[serde(default, deserialize_with = "query_number")]
    after: Option<u64>,
}

struct Watcher {
    app: Arc<App>,
    caller: Caller,
    /// The number of the last record sent or skipped.
    last: u64,
    /// Formatted events for the next write.
    ready: Vec<u8>,
    /// The pause before the next write.
    pause: Pin<Box<Sleep>>,
    heartbeat: Interval,
    /// The number of the last durable record.
    durable: signal::Receiver<u64>,
    /// True if some records after `last` have yet to be read from the history.
    is_behind: bool,
}

/// Watches the service. Each record becomes an event; events arrive in order and without gaps.
///
/// An event's `id` is the number of its record, and its `event` is the kind: `granted`, `queued`,
/// `renewed`, `ended`, `node`, `reserved`, `unreserved` or `configured`. A tenant sees its own
/// leases, all nodes, and all advance reservations. After 15 s without events, the service sends an
/// `id` without an event. A watcher that asks for records that have been removed gets 410 and must
/// restart from `GET /v1/state`.
#[utoipa::path(
    get, path = "/v1/watch", tag = "leases",
    params(WatchQuery, ("Last-Event-ID" = Option<u64>, Header, description = "same as `after`")),
    responses(
        (status = 200, description = "the events", body = String,
            content_type = "text/event-stream"),
        Guarded, Gone
    )
)]
pub(crate) async fn watch(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    QueryParams(query): QueryParams<WatchQuery>,
    headers: HeaderMap,
) -> Result<Response, Fault> {
    let last_event = headers.get("last-event-id").map(parse_event_id).transpose()?;
    let permit = app.watchers.acquire_if_fair(Party::of(&caller)).ok_or_else(|| {
        let detail =
            format!("the maximum number of watchers ({}) has been reached", app.watchers.max());
        Fault::new(StatusCode::SERVICE_UNAVAILABLE, "too-many-watchers", detail).with_retry_after(5)
    })?;
    // Records are retained from now on. Earlier records are read from the history.
    let durable = app.writer.watch();
    let view = app.writer.view().await?;
    let last = last_event.or(query.after).unwrap_or(view.seq);
    if last > view.seq {
        return Err(ahead(last, view.seq));
    }
    let history = app.writer.history().clone();
    let oldest = read_history(&app, move || history.oldest()).await?;
    let oldest = oldest.map_err(|error| Fault::internal(&error))?;
    if last < oldest {
        return Err(compacted(oldest));
    }
    let mut heartbeat = time::interval(HEARTBEAT_INTERVAL);
    heartbeat.reset();
    let stopping = app.stopping.clone();
    let watcher = Watcher {
        caller,
        last,
        ready: Vec::new(),
        pause: Box::pin(time::sleep(Duration::ZERO)),
        heartbeat,
        durable,
        is_behind: last < view.seq,
        app,
    };
    let state = (watcher, permit, stopping);
    let events = stream::unfold(state, async |(mut watcher, permit, mut stopping)| {
        let events = tokio::select! {
            biased;
            () = permit.revoked() => return None,
            _ = stopping.wait_for(|stopping| *stopping) => return None,
            events = watcher.next() => events?,
        };
        Some((Ok::<_, Infallible>(events), (watcher, permit, stopping)))
    });
    let head = [(CONTENT_TYPE, "text/event-stream"), (CACHE_CONTROL, "no-cache")];
    Ok((head, Body::from_stream(events)).into_response())
}

/// Parses the number of the last record seen by a reconnecting watcher. Rejects invalid values,
/// because ignoring them would make the watcher miss records.
fn parse_event_id(id: &HeaderValue) -> Result<u64, Fault> {
    id.to_str()
        .ok()
        .and_then(|id| id.parse().ok())
        .ok_or_else(|| Problem::bad("Last-Event-ID must be a record number").into())
}

/// Waits for a free reader slot, then reads the history. Returns an error if `read` panics.
async fn read_history<T: Send + 'static>(
    app: &App,
    read: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Fault> {
    let turn = app.history_readers.clone().acquire_owned().await;
    let turn = turn.expect("the semaphore is never closed");
    let read = move || {
        let _turn = turn;
        read()
    };
    tokio::task::spawn_blocking(read).await.map_err(|error| Fault::internal(&error))
}

/// Reads a chunk of the records after `after`. Stops at `durable`, because watchers must not see a
/// record before it is durable. Also returns true if there may be more records.
fn read_chunk(
    history: &dyn History,
    after: u64,
    durable: u64,
) -> Result<(Vec<ServiceRecord>, bool), StoreError> {
    let (mut records, mut bytes, mut has_more) = (Vec::new(), 0, false);
    history.scan(after, &mut |record| {
        if record.seq > durable {
            return Ok(false);
        }
        bytes += weight(&record);
        records.push(record);
        has_more = records.len() == MAX_CHUNK_RECORDS || bytes > MAX_CHUNK_BYTES;
        Ok(!has_more)
    })?;
    Ok((records, has_more))
}

impl Watcher {
    /// Returns the next events; `None` if the watcher is too far behind or reading fails. After a
    /// time without events, returns the number of the last record. This keeps the connection alive
    /// and lets the client reconnect even if older records are removed.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if self.is_behind {
                self.catch_up().await?;
            } else {
                self.follow()?;
            }
            if !self.ready.is_empty() {
                self.heartbeat.reset();
                return Some(std::mem::take(&mut self.ready).into());
            }
            // Catching up on records that the caller may not see can take longer than a heartbeat.
            let is_due = if self.is_behind {
                self.heartbeat.tick().now_or_never().is_some()
            } else {
                self.wait().await?
            };
            if is_due {
                self.ready.extend_from_slice(format!("id: {}\n\n", self.last).as_bytes());
            }
        }
    }

    /// Formats retained events. Returns `None` if the client is so slow that some events are no
    /// longer retained; the client may then reconnect and continue from where it stopped. A
    /// benchmark refers to this function by name.
    #[inline(never)]
    fn follow(&mut self) -> Option<()> {
        while self.ready.len() < MAX_WRITE_BYTES {
            match self.app.writer.after(self.last) {
                Next::Records(group) => {
                    let from = group.partition_point(|entry| entry.record.seq <= self.last);
                    for Recorded { record, text } in &group[from..] {
                        self.last = record.seq;
                        if self.may_see(record) {
                            let text = text.get_or_init(|| event(&self.app, record).into());
                            self.ready.extend_from_slice(text.as_bytes());
                        }
                    }
                }
                Next::Gone => return None,
                Next::Nothing => break,
            }
        }
        Some(())
    }

    /// Waits for new records. Returns true if none arrive before the next heartbeat.
    async fn wait(&mut self) -> Option<bool> {
        tokio::select! {
            changed = self.durable.changed() => changed.ok()?,
            _ = self.heartbeat.tick() => return Some(true),
        }
        self.pause.as_mut().await;
        let watchers = u32::try_from(self.app.watchers.held()).unwrap_or(u32::MAX);
        let interval = MIN_WRITE_INTERVAL.max(INTERVAL_PER_WATCHER.saturating_mul(watchers));
        self.pause.set(time::sleep(interval));
        Some(false)
    }

    /// Formats the next events from the history.
    async fn catch_up(&mut self) -> Option<()> {
        let (history, after) = (self.app.writer.history().clone(), self.last);
        let durable = self.app.writer.seq();
        let chunk = read_history(&self.app, move || read_chunk(&*history, after, durable));
        match chunk.await.ok()? {
            Ok((records, has_more)) => {
                self.is_behind = has_more;
                for record in &records {
                    self.last = record.seq;
                    if self.may_see(record) {
                        self.ready.extend_from_slice(event(&self.app, record).as_bytes());
                    }
                }
                Some(())
            }
            // When the client reconnects, the reply tells it where to restart.
            Err(StoreError::Compacted(_)) => None,
            Err(error) => {
                tracing::error!(%error, "cannot read records for a watcher");
                None
            }
        }
    }

    fn may_see(&self, record: &ServiceRecord) -> bool {
        let tenant = match &record.event {
            Event::Granted { lease } => &lease.tenant,
            Event::Queued { waiting } => &waiting.tenant,
            Event::Renewed { tenant, .. } | Event::Ended { tenant, .. } => tenant,
            Event::Configured { .. }
            | Event::Node { .. }
            | Event::Reserved { .. }
            | Event::Unreserved { .. }
            | Event::Clock { .. }
            | Event::Kept => return true,
        };
        self.caller.may_touch(tenant)
    }
}

/// Formats a record as a server-sent event, or as an empty string if it is not for watchers.
fn event(app: &App, record: &ServiceRecord) -> String {
    let Some((kind, mut data)) = event_data(app, record) else { return String::new() };
    data["seq"] = record.seq.into();
    data["at"] = json!(Instant(record.at_ms));
    data["kind"] = kind.into();
    // The JSON is a single line, because line breaks in strings are escaped.
    format!("id: {}\nevent: {kind}\ndata: {data}\n\n", record.seq)
}

/// Returns an event's kind and data.
fn event_data(app: &App, record: &ServiceRecord) -> Option<(&'static str, Value)> {
    let event = match &record.event {
        Event::Configured { machines } => ("configured", json!({ "machines": machines })),
        Event::Granted { lease } => {
            let grid = app.grid(Some(&lease.machine));
            ("granted", json!({ "lease": reply::LeaseReply::of(grid, lease) }))
        }
        Event::Queued { waiting } => {
            let grid = app.grid(Some(&waiting.machine));
            ("queued", json!({ "waiting": reply::Waiting::of(grid, waiting) }))
        }
        Event::Renewed { id, expires_ms, .. } => {
            ("renewed", json!({ "id": id, "expires": expires_ms.map(Instant) }))
        }
        Event::Ended { id, why, .. } => ("ended", json!({ "id": id, "why": why })),
        Event::Node { machine, node, state } => {
            ("node", json!({ "machine": machine, "node": node, "state": state }))
        }
        Event::Reserved { reservation } => {
            let grid = app.grid(Some(&reservation.machine));
            // Only `GET /v1/reservations` lists the leases that conflict with a reservation.
            let reservation = reply::ReservationReply::of(grid, reservation, 0, [].into_iter());
            ("reserved", json!({ "reservation": reservation }))
        }
        Event::Unreserved { id, why } => ("unreserved", json!({ "id": id, "why": why })),
        Event::Clock { .. } | Event::Kept => return None,
    };
    Some(event)
}
