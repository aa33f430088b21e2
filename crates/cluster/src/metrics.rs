//! Prometheus metrics.

use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Metric, Registry};

/// The content type of OpenMetrics text.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// A metric label and its value.
pub type Label = [(&'static str, String); 1];

/// Gauges for the number of boxes of each shape that fit simultaneously.
#[derive(Debug)]
pub struct SlotGauges {
    found: Family<Label, Gauge>,
    bound: Family<Label, Gauge>,
    /// The shapes that have gauges.
    shapes: Mutex<Vec<String>>,
}

impl SlotGauges {
    /// Registers the gauges as `slots` and `slots_bound`.
    pub fn register(registry: &mut Registry) -> SlotGauges {
        SlotGauges {
            found: register(registry, "slots", "Number of boxes that fit simultaneously"),
            bound: register(
                registry,
                "slots_bound",
                "Upper bound on the number of boxes that fit simultaneously",
            ),
            shapes: Mutex::default(),
        }
    }

    /// Sets the number of boxes found and the upper bound for each shape, then removes all other
    /// shapes.
    pub fn set(&self, counted: &[(String, [u32; 2])]) {
        for (shape, [found, bound]) in counted {
            let label = [("shape", shape.clone())];
            self.found.get_or_create(&label).set((*found).into());
            self.bound.get_or_create(&label).set((*bound).into());
        }
        let now = counted.iter().map(|(shape, _)| shape.clone()).collect();
        let mut shapes = self.shapes.lock().unwrap_or_else(PoisonError::into_inner);
        for shape in std::mem::replace(&mut *shapes, now) {
            if !shapes.contains(&shape) {
                let label = [("shape", shape)];
                self.found.remove(&label);
                self.bound.remove(&label);
            }
        }
    }
}

/// Creates and registers a metric.
pub fn register<M: Metric + Clone + Default>(registry: &mut Registry, name: &str, help: &str) -> M {
    let metric = M::default();
    registry.register(name, help, metric.clone());
    metric
}

/// Returns the metrics as an HTTP response.
pub(crate) fn response(registry: &Registry) -> Response {
    ([(CONTENT_TYPE, OPEN_METRICS)], text(registry)).into_response()
}

/// Creates a site that serves the metrics on every path.
pub fn metrics_only_site(registry: Arc<Registry>) -> Router {
    Router::new().fallback(move || async move { response(&registry) })
}

/// Creates a metrics registry that reports the program's version.
pub fn registry(prefix: &str) -> Registry {
    let mut registry = Registry::with_prefix(prefix);
    let build = Info::new(vec![("version", env!("CARGO_PKG_VERSION"))]);
    registry.register("build", "Program version", build);
    registry
}

/// Formats all metrics as OpenMetrics text.
pub fn text(registry: &Registry) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = encode(&mut text, registry);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shape_that_remains_is_never_missing() {
        let mut registry = registry("test");
        let gauges = SlotGauges::register(&mut registry);
        let counted = |shape: &str, count| (shape.to_string(), [count, count]);
        gauges.set(&[counted("1x1", 1), counted("2x2", 2)]);
        let shown = gauges.found.get_or_create(&[("shape", "2x2".to_string())]).clone();
        gauges.set(&[counted("2x2", 3)]);
        assert_eq!(shown.get(), 3, "the gauge was changed, not replaced");
        let text = text(&registry);
        assert!(text.contains("shape=\"2x2\"} 3") && !text.contains("1x1"), "{text}");
    }
}
