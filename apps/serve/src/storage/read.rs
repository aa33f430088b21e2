//! Parses records and snapshots. Errors report the kind and location of unknown elements.

use serde_json::Value;

use super::StoreError;
use crate::core::{ServiceRecord, StateSnapshot};

/// The most frequent kinds of records, which [`check_kind`] accepts without parsing.
const FREQUENT_KINDS: [&str; 6] = ["granted", "queued", "renewed", "ended", "node", "kept"];
/// The number of leading bytes to search for [`EVENT_KEY`], which follows the number and time.
const HEAD_BYTES: usize = 64;
const EVENT_KEY: &[u8] = b"\"event\":";

/// Parses the record at an offset in a file, or in a table row.
///
/// # Errors
/// Returns an error if the record is from another version or is not JSON.
pub(super) fn parse_record(
    source: &str,
    offset: u64,
    text: &[u8],
) -> Result<ServiceRecord, StoreError> {
    serde_json::from_slice(text).map_err(|error| {
        let record: Value = serde_json::from_slice(text).unwrap_or_default();
        let event = &record["event"];
        let first_key = || event.as_object()?.keys().next().map(String::as_str);
        let kind = event.as_str().or_else(first_key).unwrap_or("?");
        parse_error(source, offset, &format!("record {} of kind {kind:?}", record["seq"]), &error)
    })
}

/// Checks a record's kind. Parses the record only if the kind is not found quickly.
///
/// # Errors
/// Fails like [`parse_record`].
pub(super) fn check_kind(source: &str, offset: u64, text: &[u8]) -> Result<(), StoreError> {
    let mut starts = text.windows(EVENT_KEY.len()).take(HEAD_BYTES);
    let at = starts.position(|bytes| bytes == EVENT_KEY);
    let event = at.map(|at| &text[at + EVENT_KEY.len()..]);
    let quoted =
        event.and_then(|event| event.strip_prefix(b"{").unwrap_or(event).strip_prefix(b"\""));
    let kind = quoted.and_then(|quoted| quoted.split(|&byte| byte == b'"').next());
    if kind.is_some_and(|kind| FREQUENT_KINDS.iter().any(|known| known.as_bytes() == kind)) {
        return Ok(());
    }
    parse_record(source, offset, text).map(drop)
}

/// Parses the snapshot of record `seq` at an offset in a file, or in a table row.
///
/// # Errors
/// Returns an error if the text is not JSON, or if the snapshot is from another version or of
/// another record.
pub(super) fn parse_snapshot(
    source: &str,
    offset: u64,
    seq: u64,
    text: &[u8],
) -> Result<StateSnapshot, StoreError> {
    let parsed: Result<StateSnapshot, _> = serde_json::from_slice(text);
    let snapshot = parsed.map_err(|error| parse_error(source, offset, "a snapshot", &error))?;
    if snapshot.seq != seq {
        return Err(StoreError::damaged(source, offset, "it contains a different snapshot"));
    }
    Ok(snapshot)
}

/// Returns the error for text that fails to parse. The text's checksum has been verified, so if the
/// text is valid JSON, another version must have written it.
fn parse_error(source: &str, offset: u64, what: &str, error: &serde_json::Error) -> StoreError {
    if error.is_data() {
        let (file, what) = (source.to_string(), format!("{what} ({error})"));
        return StoreError::OtherVersion { file, offset, what };
    }
    StoreError::damaged(source, offset, error.to_string())
}
