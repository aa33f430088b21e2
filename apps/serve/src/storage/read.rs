//! Parsing of records and snapshots. Anything unknown to this version is refused with an error that
//! names its kind and location.

use serde_json::Value;

use super::StoreError;
use crate::core::{ServiceRecord, StateSnapshot};

/// The kinds of records that [`check_kind`] accepts without parsing.
const KINDS: [&[u8]; 10] = [
    b"configured",
    b"granted",
    b"queued",
    b"renewed",
    b"ended",
    b"node",
    b"reserved",
    b"unreserved",
    b"clock",
    b"kept",
];
/// The kinds of records about plans, which earlier versions carried out.
const KINDS_OF_PLANS: [&str; 3] = ["planned", "moved", "plan-over"];
/// The number of bytes at the start of a record that are searched for the name of its event.
const HEAD: usize = 64;

/// Parses the record at an offset in a file, or in a table row.
///
/// # Errors
/// Returns an error if it is about a plan, was written by another version, or is not JSON.
pub(super) fn record(file: &str, offset: u64, text: &[u8]) -> Result<ServiceRecord, StoreError> {
    serde_json::from_slice(text).map_err(|error| {
        let found: Value = serde_json::from_slice(text).unwrap_or_default();
        let event = &found["event"];
        let named = event.as_object().and_then(|event| event.keys().next()).map(String::as_str);
        let kind = event.as_str().or(named).unwrap_or("?");
        let what = format!("record {} of kind {kind:?}", found["seq"]);
        if KINDS_OF_PLANS.contains(&kind) || event["ended"]["why"] == "requeued" {
            return StoreError::Plan { file: file.to_string(), offset, what };
        }
        unread(file, offset, &what, &error)
    })
}

/// Checks the kind of a record. If it is not recognized immediately, the record is parsed.
///
/// # Errors
/// Fails like [`record`].
pub(super) fn check_kind(file: &str, offset: u64, text: &[u8]) -> Result<(), StoreError> {
    let name = b"\"event\":";
    let at = text.windows(name.len()).take(HEAD).position(|bytes| bytes == name);
    let event = at.map(|at| &text[at + name.len()..]);
    let quoted =
        event.and_then(|event| event.strip_prefix(b"{").unwrap_or(event).strip_prefix(b"\""));
    let kind = quoted.and_then(|quoted| quoted.split(|&byte| byte == b'"').next());
    if kind.is_some_and(|kind| KINDS.contains(&kind)) {
        return Ok(());
    }
    record(file, offset, text).map(drop)
}

/// Parses the snapshot of record `seq`, located at an offset in a file, or in a table row. Plans
/// that have ended are dropped.
///
/// # Errors
/// Returns an error if it contains a plan in progress, was written by another version, is not JSON,
/// or belongs to another record.
pub(super) fn snapshot(
    file: &str,
    offset: u64,
    seq: u64,
    text: &[u8],
) -> Result<StateSnapshot, StoreError> {
    let read: Result<StateSnapshot, _> = serde_json::from_slice(text);
    let snapshot = read.map_err(|error| unread(file, offset, "a snapshot", &error))?;
    let file = file.to_string();
    if snapshot.seq != seq {
        return Err(StoreError::Damaged { file, offset, reason: "a different snapshot".into() });
    }
    match snapshot.plan_under_way() {
        None => Ok(snapshot),
        Some(plan) => {
            let what = format!("plan {plan}, which is under way,");
            Err(StoreError::Plan { file, offset, what })
        }
    }
}

/// Returns the error for text that cannot be parsed. Since its checksum is correct, valid JSON must
/// have been written by another version.
fn unread(file: &str, offset: u64, what: &str, error: &serde_json::Error) -> StoreError {
    let file = file.to_string();
    if error.is_data() {
        return StoreError::OtherVersion { file, offset, what: format!("{what} ({error})") };
    }
    StoreError::Damaged { file, offset, reason: error.to_string() }
}
