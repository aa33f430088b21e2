//! Numbers for Prometheus.

use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

use super::App;
use super::statuses::Guarded;
use crate::core::NodeCounts;
use crate::writer::{Health, Unavailable};

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Labels {
    path: String,
    status: u16,
}

/// What is measured of requests.
pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<Labels, Counter>,
    seconds: Histogram,
}

impl Metrics {
    pub(crate) fn new() -> Metrics {
        let requests = Family::<Labels, Counter>::default();
        let seconds = Histogram::new(exponential_buckets(0.0005, 2.0, 14));
        let mut registry = Registry::with_prefix("pavior");
        registry.register("requests", "Requests answered, by path and status", requests.clone());
        registry.register("request_seconds", "Time from request to reply", seconds.clone());
        Metrics { registry, requests, seconds }
    }

    /// A request was answered.
    pub(crate) fn request(&self, path: &str, status: u16, seconds: f64) {
        self.requests.get_or_create(&Labels { path: path.to_string(), status }).inc();
        self.seconds.observe(seconds);
    }
}

/// Numbers for Prometheus, in its text format.
#[utoipa::path(
    get, path = "/metrics", tag = "service",
    responses(
        (status = 200, description = "the numbers", content(
            (String = "application/openmetrics-text"), (String = "text/plain")
        )),
        Guarded
    )
)]
pub(crate) async fn metrics(State(app): State<Arc<App>>, headers: HeaderMap) -> Response {
    let mut text = String::new();
    if encode(&mut text, &app.metrics.registry).is_err() {
        return super::Fault::from(Unavailable::Stopping).into_response();
    }
    // The text ends with a line `# EOF`, which is to stay the last one.
    let text = text.trim_end().trim_end_matches("# EOF").to_string();
    let kind = if asks_for_open_metrics(&headers) {
        "application/openmetrics-text; version=1.0.0; charset=utf-8"
    } else {
        "text/plain; version=0.0.4; charset=utf-8"
    };
    ([(header::CONTENT_TYPE, kind)], state(&app, text).await).into_response()
}

/// Whether a caller reads OpenMetrics, as Prometheus does. What is written is text of its older
/// form, too.
fn asks_for_open_metrics(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    accepted.into_iter().any(|kinds| kinds.contains("application/openmetrics-text"))
}

/// Adds the numbers of the state.
async fn state(app: &App, mut text: String) -> String {
    let counters = &app.writer.counters;
    let load = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
    let mut family = |name: &str, kind: &str, help: &str, values: &[(String, f64)]| {
        let _ = write!(text, "# HELP pavior_{name} {help}\n# TYPE pavior_{name} {kind}\n");
        let total = if kind == "counter" { "_total" } else { "" };
        for (labels, value) in values {
            let _ = writeln!(text, "pavior_{name}{total}{labels} {value}");
        }
    };
    let one = |value: f64| vec![(String::new(), value)];
    family("commits", "counter", "Groups made durable", &one(load(&counters.commits) as f64));
    family("records", "counter", "Records made durable", &one(load(&counters.records) as f64));
    let seconds = load(&counters.commit_us) as f64 * 1e-6;
    family("commit_seconds", "counter", "Time spent on making groups durable", &one(seconds));
    family("snapshots", "counter", "Snapshots saved", &one(load(&counters.snapshots) as f64));
    family(
        "commands_waiting",
        "gauge",
        "Commands not decided yet",
        &one(app.writer.waiting() as f64),
    );
    family("watchers", "gauge", "Watchers", &one(app.watchers.held() as f64));
    family("connections", "gauge", "Connections", &one(app.connections.held() as f64));
    let ready = f64::from(u8::from(app.writer.health() == Health::Ready));
    family("ready", "gauge", "1 if the service can decide", &one(ready));
    let doubted = f64::from(u8::from(app.writer.clock_doubt().is_some()));
    family("clock_in_doubt", "gauge", "1 if no lease ends by time", &one(doubted));
    if let Ok(view) = app.writer.view().await {
        let of = |number: &dyn Fn(usize) -> f64| -> Vec<(String, f64)> {
            let machines = view.boards.iter().enumerate();
            machines
                .map(|(index, board)| (format!("{{machine={:?}}}", board.spec.name), number(index)))
                .collect()
        };
        let boards = &view.boards;
        family(
            "free_nodes",
            "gauge",
            "Free, healthy nodes",
            &of(&|at| f64::from(boards[at].free.count())),
        );
        family(
            "busy_nodes",
            "gauge",
            "Nodes that leases hold",
            &of(&|at| f64::from(boards[at].busy)),
        );
        let counts: Vec<NodeCounts> = boards.iter().map(|board| view.counts(board)).collect();
        let lost = |at: usize| (counts[at].failed + counts[at].drained) as f64;
        family("unavailable_nodes", "gauge", "Nodes failed or drained, and not held", &of(&lost));
        let failed = |at: usize| counts[at].failed as f64;
        family("failed_nodes", "gauge", "Nodes failed, and not held", &of(&failed));
        let drained = |at: usize| counts[at].drained as f64;
        family("drained_nodes", "gauge", "Nodes drained, and not held", &of(&drained));
        let held = |at: usize| {
            view.leases.iter().filter(|lease| lease.machine == boards[at].spec.name).count() as f64
        };
        family("leases", "gauge", "Leases held", &of(&held));
        let wait = |at: usize| {
            view.waiting.iter().filter(|one| one.machine == boards[at].spec.name).count() as f64
        };
        family("waiting", "gauge", "Requests that wait", &of(&wait));
    }
    text.push_str("# EOF\n");
    text
}
