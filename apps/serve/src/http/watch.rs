//! Server-sent events of records as they become durable.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Extension, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::watch as signal;
use tokio::time::{self, Interval, Sleep};
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
use crate::writer::{Next, Recorded, Unavailable, weight};

/// The maximum number of records in one read of the history, and their approximate size in bytes.
const CHUNK: usize = 1000;
const CHUNK_BYTES: usize = 256 << 10;
/// The approximate maximum size of a write to a watcher, in bytes.
const READY: usize = 32 << 10;
/// The minimum time between two writes to a watcher. Events that arrive in the meantime are sent
/// together.
const PACE: Duration = Duration::from_millis(20);
/// Another minimum between two writes to a watcher, to be multiplied by the number of watchers. It
/// allows about 10,000 writes per second in total, which use a fifth of a processor: each of 1000
/// watchers gets one every 100 ms.
const SHARE: Duration = Duration::from_micros(100);
/// The idle time after which an empty comment keeps the connection alive.
const ALIVE: Duration = Duration::from_secs(15);

/// The starting point of a watch.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct WatchQuery {
    /// Only records after this one; by default only new ones. `Last-Event-ID` takes precedence.
    #[serde(default, deserialize_with = "in_query")]
    after: Option<u64>,
}

struct Watcher {
    app: Arc<App>,
    caller: Caller,
    /// The last record sent or skipped.
    last: u64,
    /// Formatted events for the next write.
    ready: Vec<u8>,
    /// The pause before the next write.
    pause: Pin<Box<Sleep>>,
    alive: Interval,
    live: signal::Receiver<u64>,
    /// True if records after `last` must still be read from the history.
    behind: bool,
    stopping: signal::Receiver<bool>,
    place: Arc<Place>,
}

/// Watches the service. Each record is an event; events arrive in order and without gaps.
///
/// An event's id is its record's number, and `event` is its kind: `granted`, `queued`, `renewed`,
/// `ended`, `node`, `reserved`, `unreserved` or `configured`. A tenant sees its own leases, all
/// nodes, and all advance reservations. A watcher that requests removed records gets 410 and must
/// start again from `GET /v1/state`.
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
            format!("there are already {most} watchers, the maximum"),
        );
        fault.retry_after = Some(5);
        fault
    })?;
    let again = headers.get("last-event-id").map(read_id).transpose()?;
    // From here on, records are retained. Older ones are read from the history.
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
    let mut alive = time::interval(ALIVE);
    alive.reset();
    let (ready, pause) = (Vec::new(), Box::pin(time::sleep(Duration::ZERO)));
    let watcher = Watcher { app, caller, last, ready, pause, alive, live, behind, stopping, place };
    let events = stream::unfold(watcher, async |mut watcher| {
        let events = watcher.next().await?;
        Some((Ok::<_, Infallible>(events), watcher))
    });
    let head = [(CONTENT_TYPE, "text/event-stream"), (CACHE_CONTROL, "no-cache")];
    Ok((head, Body::from_stream(events)).into_response())
}

/// Parses the number of the last record that a reconnecting watcher has seen. An invalid value must
/// not count as missing, because the watcher would lose records.
fn read_id(id: &HeaderValue) -> Result<u64, Fault> {
    id.to_str().ok().and_then(|id| id.parse().ok()).ok_or_else(|| {
        let detail = "Last-Event-ID must be a record number";
        Fault::new(StatusCode::BAD_REQUEST, "bad-value", detail)
    })
}

/// Reads from the history in turn. Returns `None` when the service stops.
async fn read_back<T: Send + 'static>(
    app: &App,
    read: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let turn = app.history_readers.clone().acquire_owned().await.ok()?;
    let read = move || {
        let _turn = turn;
        read()
    };
    tokio::task::spawn_blocking(read).await.ok()
}

/// A part of the records in the history.
struct Part {
    records: Vec<ServiceRecord>,
    /// True if there may be more.
    more: bool,
}

/// Returns a part of the records after `after`, up to `durable`, because watchers must not see a
/// record before it is durable.
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
    /// Returns the next events; `None` if the service stops or the watcher is too far behind.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if self.behind {
                self.catch_up().await?;
            } else {
                self.follow()?;
            }
            if !self.ready.is_empty() {
                self.alive.reset();
                return Some(std::mem::take(&mut self.ready).into());
            }
            if !self.behind {
                self.wait().await?;
            }
        }
    }

    /// Formats retained events. Returns `None` if some are no longer retained because the client
    /// reads too slowly; it may reconnect and continue where it stopped. A benchmark refers to this
    /// function by name.
    #[inline(never)]
    fn follow(&mut self) -> Option<()> {
        while self.ready.len() < READY {
            match self.app.writer.after(self.last) {
                Next::Records(group) => {
                    let from = group.partition_point(|one| one.record.seq <= self.last);
                    for Recorded { record, sent } in &group[from..] {
                        self.last = record.seq;
                        if self.may_see(record) {
                            let sent = sent.get_or_init(|| event(&self.app, record).into());
                            self.ready.extend_from_slice(sent.as_bytes());
                        }
                    }
                }
                Next::Gone => return None,
                Next::Nothing => break,
            }
        }
        Some(())
    }

    /// Waits for new records, or adds a keep-alive comment.
    async fn wait(&mut self) -> Option<()> {
        let is_news = tokio::select! {
            changed = self.live.changed() => {
                changed.ok()?;
                true
            }
            _ = self.alive.tick() => false,
            () = self.place.given_up() => return None,
            _ = self.stopping.wait_for(|stopping| *stopping) => return None,
        };
        if is_news {
            self.pause.as_mut().await;
            let held = u32::try_from(self.app.watchers.held()).unwrap_or(u32::MAX);
            self.pause.set(time::sleep(PACE.max(SHARE.saturating_mul(held))));
        } else {
            self.ready.extend_from_slice(b":\n\n");
        }
        Some(())
    }

    async fn catch_up(&mut self) -> Option<()> {
        let (history, after) = (self.app.writer.history().clone(), self.last);
        let durable = self.app.writer.seq();
        let read = read_back(&self.app, move || part(&*history, (after, durable)));
        match read.await? {
            Ok(Part { records, more }) => {
                self.behind = more;
                for record in records.iter().filter(|record| record.seq > after) {
                    self.last = record.seq;
                    if self.may_see(record) {
                        self.ready.extend_from_slice(event(&self.app, record).as_bytes());
                    }
                }
                Some(())
            }
            // When the client reconnects, the reply says where to start.
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

/// Formats a record as a server-sent event, or as an empty text if it is not for watchers.
fn event(app: &App, record: &ServiceRecord) -> String {
    let Some((kind, mut data)) = told(app, record) else { return String::new() };
    data["seq"] = record.seq.into();
    data["at"] = json!(Instant(record.at_ms));
    data["kind"] = kind.into();
    // This JSON has no line breaks: those in strings are escaped.
    format!("id: {}\nevent: {kind}\ndata: {data}\n\n", record.seq)
}

/// Returns the kind and the data of an event.
fn told(app: &App, record: &ServiceRecord) -> Option<(&'static str, Value)> {
    let told = match &record.event {
        Event::Configured { machines } => ("configured", json!({ "machines": machines })),
        Event::Granted { lease } => {
            let grid = app.grid(Some(&lease.machine));
            ("granted", json!({ "lease": reply::Lease::of(grid, lease) }))
        }
        Event::Queued { waiting } => {
            let grid = app.grid(Some(&waiting.machine));
            ("queued", json!({ "waiting": reply::Waiting::of(grid, waiting) }))
        }
        Event::Renewed { id, expires_ms, .. } => {
            ("renewed", json!({ "id": id, "expires": expires_ms.map(Instant) }))
        }
        Event::Ended { id, why, .. } => {
            let why = match why {
                Why::Ended => "ended",
                Why::Expired => "expired",
                Why::Cancelled => "cancelled",
            };
            ("ended", json!({ "id": id, "why": why }))
        }
        Event::Node { machine, node, state } => {
            ("node", json!({ "machine": machine, "node": node, "state": state }))
        }
        Event::Reserved { reservation } => {
            let grid = app.grid(Some(&reservation.machine));
            // Only `GET /v1/reservations` shows the leases in its way.
            let shown = reply::Reservation::of(grid, reservation, [].into_iter());
            ("reserved", json!({ "reservation": shown }))
        }
        Event::Unreserved { id, why } => ("unreserved", json!({ "id": id, "why": why })),
        Event::Clock { .. } | Event::Kept => return None,
    };
    Some(told)
}
