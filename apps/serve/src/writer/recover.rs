//! Recovers a state from snapshots and records.

use std::sync::atomic::{AtomicBool, Ordering};

use thiserror::Error;

use crate::core::{ServiceLimits, ServiceState, StateError};
use crate::storage::{History, StoreError};

/// Errors from recovering a state, without which a service cannot start.
#[derive(Debug, Error)]
pub enum RecoveryError {
    /// The records cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A machine cannot be configured.
    #[error(transparent)]
    State(#[from] StateError),
    /// The snapshot is inconsistent.
    #[error("the snapshot at record {seq} is inconsistent: {reason}")]
    Snapshot {
        /// The number of the snapshot's record.
        seq: u64,
        /// The reason.
        reason: String,
    },
}

/// Returns the state after record `until`, or after the last record if that is earlier.
///
/// # Errors
/// Returns an error if the records are damaged or inconsistent with each other, or if they have
/// been removed.
pub fn recover(
    history: &dyn History,
    until: u64,
    limits: &ServiceLimits,
    seed: u64,
) -> Result<ServiceState, RecoveryError> {
    let cutoff = Cutoff { known: until, until, at_ms: u64::MAX };
    state_at(history, &cutoff, limits, seed, &AtomicBool::new(false))
}

/// The cutoff for a past state: the last record up to number `until` and time `at_ms`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cutoff {
    /// A record number known to be at or before the cutoff, or 0.
    pub(crate) known: u64,
    /// The number of the last record to include.
    pub(crate) until: u64,
    /// The time of the cutoff, in milliseconds since 1970.
    pub(crate) at_ms: u64,
}

/// Returns the state at a cutoff, or some earlier state if `stop` is set in the meantime.
///
/// # Errors
/// Fails like [`recover`].
pub(crate) fn state_at(
    history: &dyn History,
    cutoff: &Cutoff,
    limits: &ServiceLimits,
    seed: u64,
    stop: &AtomicBool,
) -> Result<ServiceState, RecoveryError> {
    let mut state = from_snapshot(history, cutoff.known, limits, seed)?;
    if state.seq() >= cutoff.until {
        return Ok(state);
    }
    history.scan(state.seq(), &mut |record| {
        let is_past = record.seq > cutoff.until || record.at_ms > cutoff.at_ms;
        if is_past || stop.load(Ordering::Relaxed) {
            return Ok(false);
        }
        state.apply(&record)?;
        Ok(record.seq < cutoff.until)
    })?;
    Ok(state)
}

/// Returns the state in the latest snapshot whose number is at most the given one, or a new state
/// if there is none.
///
/// # Errors
/// Fails like [`recover`].
pub(crate) fn from_snapshot(
    history: &dyn History,
    seq: u64,
    limits: &ServiceLimits,
    seed: u64,
) -> Result<ServiceState, RecoveryError> {
    match history.snapshot(seq)? {
        None => Ok(ServiceState::new(limits.clone(), seed)),
        Some(snapshot) => ServiceState::restore(&snapshot, limits.clone(), seed)
            .map_err(|reason| RecoveryError::Snapshot { seq: snapshot.seq, reason }),
    }
}
