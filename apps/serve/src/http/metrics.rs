//! Metrics in Prometheus format.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use pavior::answers::forecasts::Experience;
use prometheus_client::encoding::text::{encode_eof, encode_registry};
use prometheus_client::metrics::counter::{ConstCounter, Counter};
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

use super::statuses::Guarded;
use super::{App, Fault};
use crate::core::{BoardView, NodeCounts, StateView};

type Labels<const N: usize> = [(&'static str, String); N];

/// The metrics of HTTP requests.
pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<Labels<2>, Counter>,
    seconds: Histogram,
}

impl Metrics {
    pub(crate) fn new() -> Metrics {
        let requests = Family::<Labels<2>, Counter>::default();
        let seconds = Histogram::new(exponential_buckets(0.0005, 2.0, 14));
        let mut registry = Registry::with_prefix("pavior");
        registry.register("requests", "Answered requests, by path and status", requests.clone());
        registry.register("request_seconds", "Time from request to reply", seconds.clone());
        Metrics { registry, requests, seconds }
    }

    pub(crate) fn request(&self, path: &str, status: u16, seconds: f64) {
        let labels = [("path", path.to_string()), ("status", status.to_string())];
        self.requests.get_or_create(&labels).inc();
        self.seconds.observe(seconds);
    }
}

/// Returns metrics in the text format of Prometheus.
#[utoipa::path(
    get, path = "/metrics", tag = "service",
    responses(
        (status = 200, description = "the metrics", content(
            (String = "application/openmetrics-text"), (String = "text/plain")
        )),
        Guarded
    )
)]
pub(crate) async fn metrics(State(app): State<Arc<App>>, headers: HeaderMap) -> Response {
    let mut text = String::new();
    let numbers = numbers(&app).await;
    let encoded = encode_registry(&mut text, &app.metrics.registry)
        .and_then(|()| encode_registry(&mut text, &numbers))
        .and_then(|()| encode_eof(&mut text));
    if let Err(error) = encoded {
        return Fault::internal(&error).into_response();
    }
    let kind = if asks_for_open_metrics(&headers) {
        "application/openmetrics-text; version=1.0.0; charset=utf-8"
    } else {
        "text/plain; version=0.0.4; charset=utf-8"
    };
    ([(header::CONTENT_TYPE, kind)], text).into_response()
}

/// Returns true if a caller accepts OpenMetrics, as Prometheus does. The text is also valid in the
/// older format.
fn asks_for_open_metrics(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    accepted.into_iter().any(|kinds| kinds.contains("application/openmetrics-text"))
}

/// Returns the metrics of the writer and of the current state.
async fn numbers(app: &Arc<App>) -> Registry {
    let mut all = Registry::with_prefix("pavior");
    let counters = &app.writer.counters;
    let count = |counter: &AtomicU64| ConstCounter::new(counter.load(Ordering::Relaxed));
    let gauge = |number: usize| ConstGauge::new(number as i64);
    all.register("commits", "Durable groups of commands", count(&counters.commits));
    all.register("records", "Durable records", count(&counters.records));
    let seconds = counters.commit_us.load(Ordering::Relaxed) as f64 * 1e-6;
    let what = "Time spent making groups of commands durable";
    all.register("commit_seconds", what, ConstCounter::new(seconds));
    all.register("snapshots", "Saved snapshots", count(&counters.snapshots));
    let waiting = app.writer.waiting();
    all.register("commands_waiting", "Commands waiting for the writer", gauge(waiting));
    all.register("watchers", "Watchers", gauge(app.watchers.held()));
    all.register("connections", "Connections", gauge(app.connections.held()));
    let ready = app.writer.unavailable().is_none();
    all.register("ready", "1 if the service can make decisions", gauge(ready.into()));
    let doubted = app.writer.clock_doubt().is_some();
    let what = "1 if the clock is in doubt, so leases do not expire";
    all.register("clock_in_doubt", what, gauge(doubted.into()));
    let Ok(view) = app.writer.view().await else { return all };
    let counts: Vec<NodeCounts> = view.boards.iter().map(|board| view.counts(board)).collect();
    let here = |board: &BoardView, machine: &String| *machine == board.spec.name;
    let mut each = |name: &str, what: &str, number: &dyn Fn(&BoardView, &NodeCounts) -> u64| {
        let family = Family::<Labels<1>, Gauge>::default();
        for (board, counts) in view.boards.iter().zip(&counts) {
            let machine = [("machine", board.spec.name.clone())];
            family.get_or_create(&machine).set(number(board, counts) as i64);
        }
        all.register(name, what, family);
    };
    each("free_nodes", "Free, healthy nodes", &|_, counts| counts.free);
    each("busy_nodes", "Nodes held by leases", &|_, counts| counts.busy);
    each("unavailable_nodes", "Failed or drained nodes that no lease holds", &|_, counts| {
        counts.failed + counts.drained
    });
    each("failed_nodes", "Failed nodes that no lease holds", &|_, counts| counts.failed);
    each("drained_nodes", "Drained nodes that no lease holds", &|_, counts| counts.drained);
    each("leases", "Current leases", &|board, _| {
        view.leases.iter().filter(|lease| here(board, &lease.machine)).count() as u64
    });
    each("reservations", "Advance reservations, including those that have begun", &|board, _| {
        view.reservations_on(board).count() as u64
    });
    each("waiting", "Waiting requests", &|board, _| {
        view.waiting.iter().filter(|one| here(board, &one.machine)).count() as u64
    });
    promises(app, &mut all);
    slots(app, view, &mut all).await;
    all
}

/// Registers the numbers and the accuracy of forecasts, which start over with the service.
fn promises(app: &App, all: &mut Registry) {
    let experiences = app.forecasts.experiences();
    let mut each = |name: &str, what: &str, number: fn(&Experience, u64) -> u64| {
        let family = Family::<Labels<1>, Counter>::default();
        for (spec, _) in &app.machines {
            let (known, made) = experiences.get(&spec.name).copied().unwrap_or_default();
            let machine = [("machine", spec.name.clone())];
            family.get_or_create(&machine).inc_by(number(&known, made));
        }
        all.register(name, what, family);
    };
    let what = "Forecasts made for waiting requests, including renewed ones";
    each("forecasts", what, |_, made| made);
    let what = "Start intervals promised to waiting requests";
    each("promises", what, |known, _| known.promises.made);
    let what = "Promised intervals in which the request started";
    each("promises_kept", what, |known, _| known.promises.kept);
    let what = "Promised intervals that the request missed";
    each("promises_broken", what, |known, _| known.promises.broken);
}

/// Registers how many boxes of each configured shape can be placed simultaneously, on machines with
/// as many axes. Boxes are counted on a separate thread, and only if the free nodes have changed.
async fn slots(app: &Arc<App>, view: Arc<StateView>, all: &mut Registry) {
    if app.bounds.slots.is_empty() {
        return;
    }
    let shared = app.clone();
    let count = move || {
        let [found, bound] = [0, 1].map(|_| Family::<Labels<2>, Gauge>::default());
        for board in &view.boards {
            for &sides in &shared.bounds.slots {
                let axes = board.grid.axes();
                if sides[axes..].iter().any(|&side| side > 1) {
                    continue;
                }
                let shape = sides[..axes].iter().map(u16::to_string).collect::<Vec<_>>().join("x");
                let labels = [("machine", board.spec.name.clone()), ("shape", shape)];
                let counts = shared.counted.of(board, sides);
                for (family, count) in [&found, &bound].into_iter().zip(counts) {
                    family.get_or_create(&labels).set(count as i64);
                }
            }
        }
        (found, bound)
    };
    // A failed count is missing from this scrape.
    if let Ok((found, bound)) = tokio::task::spawn_blocking(count).await {
        all.register("slots", "Boxes of a shape found to fit simultaneously", found);
        all.register("slots_bound", "Upper bound on the boxes that fit simultaneously", bound);
    }
}
