//! What is said of a forecast, in sentences.

use pavior_kernel::Time;
use pavior_workload::TimeUnit;

use super::{Forecast, HORIZON, Record};

/// When a job will probably start, and how good such answers would have been: two sentences. That
/// enough is learned is the caller's to see. `date` writes seconds since 1970.
pub fn range(told: &Forecast, record: Record, now: Time, date: impl Fn(u64) -> String) -> String {
    let end = now.saturating_add(HORIZON);
    let at = |time: Time| {
        let (when, known) = (date(time.min(end).0 / TimeUnit::SECOND.ticks), time < end);
        if known { when } else { format!("after {when}") }
    };
    format!(
        "It probably starts between {} and {}, as likely before {} as after it. Of the last {} \
         jobs that had to wait, {} would have been told right.",
        at(told.low),
        at(told.high),
        at(told.median),
        record.kept + record.broken,
        record.kept,
    )
}
