//! The local time in seconds since 1970.

use std::time::{SystemTime, UNIX_EPOCH};

/// Returns the time in seconds since 1970.
pub(crate) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs() as i64)
}

/// Converts the API server's signed time to the unsigned type that other crates use.
pub(crate) fn unsigned(seconds: i64) -> u64 {
    seconds.max(0) as u64
}
