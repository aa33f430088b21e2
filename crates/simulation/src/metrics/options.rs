//! Metrics that take an option after a colon, as in `slots:4x4x4`.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use super::MetricSpec;

/// Returns a metric with the given (valid) option. Each such metric is created only once and is
/// never freed.
pub(super) fn with_option(spec: &'static MetricSpec, option: &str) -> &'static MetricSpec {
    static KNOWN: Mutex<BTreeMap<String, &'static MetricSpec>> = Mutex::new(BTreeMap::new());
    let name = format!("{}:{option}", spec.name);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.entry(name.clone()).or_insert_with(|| {
        let MetricSpec { meaning, unit, standard, build, .. } = *spec;
        Box::leak(Box::new(MetricSpec { name: name.leak(), meaning, unit, standard, build }))
    })
}
