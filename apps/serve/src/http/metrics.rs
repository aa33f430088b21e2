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
use crate::core::{NodeCounts, StateView};

type Labels<const N: usize> = [(&'static str, String); N];

/// Metrics for HTTP requests.
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
        let help = "Number of requests answered, by path and status";
        registry.register("requests", help, requests.clone());
        let help = "Time from request to reply, in seconds";
        registry.register("request_seconds", help, seconds.clone());
        Metrics { registry, requests, seconds }
    }

    pub(crate) fn count_request(&self, path: &str, status: u16, seconds: f64) {
        let labels = [("path", path.to_string()), ("status", status.to_string())];
        self.requests.get_or_create(&labels).inc();
        self.seconds.observe(seconds);
    }
}

/// Returns metrics in Prometheus text format.
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
    let collected = collect(&app).await;
    let encoded = encode_registry(&mut text, &app.metrics.registry)
        .and_then(|()| encode_registry(&mut text, &collected))
        .and_then(|()| encode_eof(&mut text));
    if let Err(error) = encoded {
        return Fault::internal(&error).into_response();
    }
    let kind = if accepts_open_metrics(&headers) {
        "application/openmetrics-text; version=1.0.0; charset=utf-8"
    } else {
        "text/plain; version=0.0.4; charset=utf-8"
    };
    ([(header::CONTENT_TYPE, kind)], text).into_response()
}

/// Returns true if a caller accepts OpenMetrics, as Prometheus does. The text is also valid in the
/// older Prometheus format.
fn accepts_open_metrics(headers: &HeaderMap) -> bool {
    let mut accepted =
        headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    accepted.any(|kinds| kinds.contains("application/openmetrics-text"))
}

/// Collects metrics for the service and its current state.
async fn collect(app: &Arc<App>) -> Registry {
    let mut registry = Registry::with_prefix("pavior");
    register_service(app, &mut registry);
    let Ok(view) = app.writer.view().await else { return registry };
    register_machines(&view, &mut registry);
    register_forecasts(app, &mut registry);
    register_slots(app, view, &mut registry).await;
    registry
}

/// Registers metrics for the writer, the connections and the clock.
fn register_service(app: &App, registry: &mut Registry) {
    let counters = &app.writer.counters;
    let count = |counter: &AtomicU64| ConstCounter::new(counter.load(Ordering::Relaxed));
    let gauge = |number: usize| ConstGauge::new(number as i64);
    let help = "Number of command groups committed";
    registry.register("commits", help, count(&counters.commits));
    registry.register("records", "Number of records committed", count(&counters.records));
    let seconds = counters.commit_us.load(Ordering::Relaxed) as f64 * 1e-6;
    let help = "Time spent committing command groups, in seconds";
    registry.register("commit_seconds", help, ConstCounter::new(seconds));
    registry.register("snapshots", "Number of snapshots saved", count(&counters.snapshots));
    let help = "Number of commands waiting for the writer";
    registry.register("commands_waiting", help, gauge(app.writer.waiting()));
    registry.register("watchers", "Number of watchers", gauge(app.watchers.held()));
    registry.register("connections", "Number of connections", gauge(app.connections.held()));
    let is_ready = app.writer.unavailable().is_none();
    registry.register("ready", "1 if the service can make decisions", gauge(is_ready.into()));
    let in_doubt = app.writer.clock_doubt().is_some();
    let help = "1 if the clock is in doubt (leases do not expire)";
    registry.register("clock_in_doubt", help, gauge(in_doubt.into()));
}

/// Registers the numbers of nodes, leases and requests on each machine.
fn register_machines(view: &StateView, registry: &mut Registry) {
    let counts: Vec<NodeCounts> = view.boards.iter().map(|board| view.counts(board)).collect();
    let mut register = |name: &str, help: &str, numbers: Vec<u64>| {
        let family = Family::<Labels<1>, Gauge>::default();
        for (board, number) in view.boards.iter().zip(numbers) {
            let machine = [("machine", board.spec.name.clone())];
            family.get_or_create(&machine).set(number as i64);
        }
        registry.register(name, help, family);
    };
    let nodes = |number: fn(&NodeCounts) -> u64| counts.iter().map(number).collect();
    register("free_nodes", "Number of free, healthy nodes", nodes(|counts| counts.free));
    register("busy_nodes", "Number of nodes held by leases", nodes(|counts| counts.busy));
    let help = "Number of failed or drained nodes not held by a lease";
    register("unavailable_nodes", help, nodes(|counts| counts.failed + counts.drained));
    let help = "Number of failed nodes not held by a lease";
    register("failed_nodes", help, nodes(|counts| counts.failed));
    let help = "Number of drained nodes not held by a lease";
    register("drained_nodes", help, nodes(|counts| counts.drained));
    let leases = (0..view.boards.len()).map(|index| view.lease_count(index)).collect();
    register("leases", "Number of active leases", leases);
    let reservations = |board| view.reservations_on(board).count() as u64;
    let help = "Number of advance reservations, including those that have begun";
    register("reservations", help, view.boards.iter().map(reservations).collect());
    let waiting = |board| view.waiting_on(board).count() as u64;
    let help = "Number of waiting requests";
    register("waiting", help, view.boards.iter().map(waiting).collect());
}

/// Registers the number and accuracy of forecasts, both of which are reset when the service
/// restarts.
fn register_forecasts(app: &App, registry: &mut Registry) {
    let experiences = app.forecasts.experiences();
    let mut register = |name: &str, help: &str, number: fn(&Experience, u64) -> u64| {
        let family = Family::<Labels<1>, Counter>::default();
        for (spec, _) in &app.machines {
            let (experience, made) = experiences.get(&spec.name).copied().unwrap_or_default();
            let machine = [("machine", spec.name.clone())];
            family.get_or_create(&machine).inc_by(number(&experience, made));
        }
        registry.register(name, help, family);
    };
    let help = "Number of forecasts made for waiting requests, including repeated forecasts";
    register("forecasts", help, |_, made| made);
    let help = "Number of start intervals promised to waiting requests";
    register("promises", help, |experience, _| experience.promises.made);
    let help = "Number of promised intervals in which the request started";
    register("promises_kept", help, |experience, _| experience.promises.kept);
    let help = "Number of promised intervals that the request missed";
    register("promises_broken", help, |experience, _| experience.promises.broken);
}

/// Registers how many boxes of each configured shape fit at once on each machine that has enough
/// axes for the shape. Counts on a separate thread, and only if the free nodes have changed.
async fn register_slots(app: &Arc<App>, view: Arc<StateView>, registry: &mut Registry) {
    if app.bounds.slots.is_empty() {
        return;
    }
    let shared = app.clone();
    let count = move || {
        let [slots, bounds] = [(); 2].map(|()| Family::<Labels<2>, Gauge>::default());
        for board in &view.boards {
            for &sides in &shared.bounds.slots {
                let axes = board.grid.axes();
                if sides[axes..].iter().any(|&side| side > 1) {
                    continue;
                }
                let shape = sides[..axes].iter().map(u16::to_string).collect::<Vec<_>>().join("x");
                let labels = [("machine", board.spec.name.clone()), ("shape", shape)];
                let count = shared.slot_counts.count(board, sides);
                slots.get_or_create(&labels).set(count.slots as i64);
                bounds.get_or_create(&labels).set(count.bound as i64);
            }
        }
        (slots, bounds)
    };
    // If counting fails, the counts are missing from this scrape.
    if let Ok((slots, bounds)) = tokio::task::spawn_blocking(count).await {
        let help = "Lower bound on the number of boxes of this shape that fit simultaneously";
        registry.register("slots", help, slots);
        let help = "Upper bound on the number of boxes of this shape that fit simultaneously";
        registry.register("slots_bound", help, bounds);
    }
}
