//! Reports failed writes in the log, the metrics and the readiness probe.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::health::Health;
use crate::log::log;
use crate::metrics::Metrics;
use crate::write::WriteError;

/// The destinations of reports about failed writes.
pub(super) struct WriteReporter {
    pub(super) health: Arc<Health>,
    pub(super) metrics: Metrics,
    /// True while placements cannot be read.
    pub(super) is_outage: bool,
}

impl WriteReporter {
    /// Reports a write of the given kind if the API server rejected it. Returns the error. During
    /// an outage, a rejection becomes [`WriteError::Unavailable`] and is not reported.
    pub(super) fn report(&self, kind: &str, mut fields: Value, error: WriteError) -> WriteError {
        let WriteError::Rejected(why) = &error else { return error };
        // While starting, the API server rejects all requests until it has loaded the access rules.
        if self.is_outage {
            return WriteError::Unavailable;
        }
        (fields["change"], fields["why"]) = (json!(kind), json!(why));
        log("warn", "change rejected", fields);
        self.metrics.count_rejection(kind);
        self.health.faults().note_rejection(why);
        error
    }
}
