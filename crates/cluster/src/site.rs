//! The board's HTTP routes for the page, its data, `why` and the metrics.
//!
//! | route | answer |
//! |---|---|
//! | `GET /` | the page |
//! | `GET /metrics` | the daemon's metrics |
//! | `GET /v1/why/JOB` | why a job is waiting, or which nodes it holds, as text |
//! | `GET /v1/state`, `/v1/watch`, `/v1/series`, `/v1/queue`, `/v1/refusals` | data for the page |
//! | `POST /v1/explain`, `GET /v1/slots` | answers to the page's queries |
//!
//! All routes are read-only, and queries are answered one at a time.

use std::convert::Infallible;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use axum::extract::rejection::JsonRejection;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Json, Router};
use futures_util::stream;
use prometheus_client::registry::Registry;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::board::{Board, Change};
use crate::http::KeepOpen;
use crate::{ExplainQuery, View, metrics};

static PAGE: LazyLock<String> = LazyLock::new(pavior_viewer::live);

/// The content security policy, which allows only inline scripts and styles, and connections only
/// to this server.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; \
    connect-src 'self'; img-src data: blob:; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'";

/// The maximum number of pages that may watch for changes simultaneously. Other pages must poll.
const MAX_WATCHERS: usize = 64;
/// The maximum time that a query waits for earlier queries to finish.
const TURN_TIMEOUT: Duration = Duration::from_secs(2);
/// The maximum number of waiting jobs in a response.
const MAX_JOBS: usize = 1000;

/// The board, its metrics, and the semaphores that limit watchers and queries.
struct App {
    board: Arc<Board>,
    metrics: Arc<Registry>,
    watchers: Arc<Semaphore>,
    queries: Arc<Semaphore>,
}

/// Creates the routes that serve a board.
pub fn site(board: Arc<Board>, metrics: Arc<Registry>) -> Router {
    let app = App {
        board,
        metrics,
        watchers: Arc::new(Semaphore::new(MAX_WATCHERS)),
        queries: Arc::new(Semaphore::new(1)),
    };
    Router::new()
        .route("/", get(page))
        .route("/metrics", get(async |State(app): Shared| metrics::response(&app.metrics)))
        .route("/v1/state", get(state))
        .route("/v1/watch", get(watch))
        .route("/v1/series", get(async |State(app): Shared| Json(app.board.series())))
        .route("/v1/queue", get(queue))
        // Requests that do not fit wait in the queue, so nothing is ever refused.
        .route("/v1/refusals", get(async || Json(json!({ "refusals": [], "last": 0 }))))
        .route("/v1/explain", post(explain))
        .route("/v1/slots", get(slots))
        .route("/v1/why/{*job}", get(why))
        .with_state(Arc::new(app))
}

type Shared = State<Arc<App>>;

/// Creates an error response in the format that the page expects.
fn error(status: StatusCode, detail: &str) -> Response {
    (status, Json(json!({ "detail": detail }))).into_response()
}

async fn page() -> impl IntoResponse {
    ([(CONTENT_TYPE, "text/html; charset=utf-8"), (CONTENT_SECURITY_POLICY, POLICY)], &**PAGE)
}

#[derive(Deserialize)]
struct StateQuery {
    at: Option<String>,
    at_ms: Option<String>,
}

async fn state(State(app): Shared, Query(state): Query<StateQuery>) -> Response {
    if state.at.is_some() || state.at_ms.is_some() {
        return error(StatusCode::GONE, "past states are not stored; choose Live");
    }
    match tokio::task::spawn_blocking(move || app.board.state()).await {
        Ok(json) => ([(CONTENT_TYPE, "application/json")], json).into_response(),
        Err(_) => error(StatusCode::INTERNAL_SERVER_ERROR, "the state cannot be read"),
    }
}

#[derive(Deserialize)]
struct QueueQuery {
    limit: Option<usize>,
}

async fn queue(State(app): Shared, Query(query): Query<QueueQuery>) -> Json<Value> {
    let (view, seq) = app.board.view();
    let (waiting, total) = view.queue(query.limit.unwrap_or(MAX_JOBS).min(MAX_JOBS));
    Json(json!({ "seq": seq, "waiting": waiting, "total": total }))
}

/// Answers a query on a blocking thread, once the previous query has been answered.
async fn query<T: Send + 'static>(
    app: &App,
    answer: impl FnOnce(&View) -> Result<T, String> + Send + 'static,
) -> Result<T, Response> {
    let turn = timeout(TURN_TIMEOUT, Arc::clone(&app.queries).acquire_owned()).await;
    let Ok(Ok(turn)) = turn else {
        let detail = "too many queries; try again later";
        return Err(error(StatusCode::SERVICE_UNAVAILABLE, detail));
    };
    let (view, _) = app.board.view();
    let work = move || {
        let _turn = turn;
        answer(&view)
    };
    let failed = |_| error(StatusCode::INTERNAL_SERVER_ERROR, "the query failed");
    let done = tokio::task::spawn_blocking(work).await.map_err(failed)?;
    done.map_err(|detail| error(StatusCode::UNPROCESSABLE_ENTITY, &detail))
}

type Body = Result<Json<ExplainQuery>, JsonRejection>;

async fn explain(State(app): Shared, body: Body) -> Result<Json<Value>, Response> {
    let Ok(Json(request)) = body else {
        let detail = "the request body must be a JSON object with \"shape\", \"nodes\" or \
                      \"waiting\"";
        return Err(error(StatusCode::BAD_REQUEST, detail));
    };
    query(&app, move |view| view.explain(&request)).await.map(Json)
}

#[derive(Deserialize)]
struct SlotsQuery {
    shape: String,
}

async fn slots(
    State(app): Shared,
    Query(slots): Query<SlotsQuery>,
) -> Result<Json<Value>, Response> {
    query(&app, move |view| view.slots(&slots.shape)).await.map(Json)
}

async fn why(State(app): Shared, Path(job): Path<String>) -> Response {
    let done = query(&app, move |view| Ok(view.why(&job))).await;
    match done {
        Ok(Ok(text)) => (text + "\n").into_response(),
        Ok(Err(unknown)) => (StatusCode::NOT_FOUND, unknown + "\n").into_response(),
        Err(refused) => refused,
    }
}

#[derive(Deserialize)]
struct WatchQuery {
    after: Option<u64>,
}

/// A page that is subscribed to changes.
struct Watcher {
    app: Arc<App>,
    last: u64,
    ready: std::vec::IntoIter<Change>,
    last_seq: tokio::sync::watch::Receiver<u64>,
    _permit: OwnedSemaphorePermit,
}

impl Watcher {
    /// Waits for the next change. Returns `None` if the board no longer stores every change since
    /// the last one that was sent.
    async fn next(&mut self) -> Option<Change> {
        loop {
            if let Some(change) = self.ready.next() {
                self.last = change.seq;
                return Some(change);
            }
            self.last_seq.mark_unchanged();
            self.ready = self.app.board.after(self.last)?.into_iter();
            if self.ready.len() == 0 {
                self.last_seq.changed().await.ok()?;
            }
        }
    }
}

/// Streams changes to a page as server-sent events.
async fn watch(
    State(app): Shared,
    Extension(keep_open): Extension<KeepOpen>,
    Query(query): Query<WatchQuery>,
) -> Response {
    let Ok(permit) = Arc::clone(&app.watchers).try_acquire_owned() else {
        return error(StatusCode::SERVICE_UNAVAILABLE, "too many watchers; try again later");
    };
    let last_seq = app.board.last_seq();
    let last = query.after.unwrap_or_else(|| app.board.view().1);
    let Some(ready) = app.board.after(last) else {
        return error(
            StatusCode::GONE,
            "the requested changes are no longer stored; reload /v1/state",
        );
    };
    keep_open.request();
    let watcher = Watcher { app, last, ready: ready.into_iter(), last_seq, _permit: permit };
    let events = stream::unfold(watcher, async |mut watcher| {
        let Change { seq, kind, data } = watcher.next().await?;
        let event = Event::default().id(seq.to_string()).event(kind).data(&*data);
        Some((Ok::<_, Infallible>(event), watcher))
    });
    Sse::new(events).keep_alive(KeepAlive::new().interval(Duration::from_secs(15))).into_response()
}
