//! The log.

use serde_json::Value;

use crate::time::{now, unsigned};

/// Writes a log line that contains the current time.
pub(crate) fn log(level: &str, event: &str, more: Value) {
    pavior::json::log(unsigned(now()), level, event, more);
}
