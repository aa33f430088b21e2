//! From records to a state.

use thiserror::Error;

use crate::core::{ServiceLimits, ServiceState, StateError};
use crate::storage::{History, StoreError};

/// Why a service cannot start.
#[derive(Debug, Error)]
pub enum RecoveryError {
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The machines.
    #[error(transparent)]
    State(#[from] StateError),
    /// The snapshot contradicts itself.
    #[error("the snapshot of record {seq} contradicts itself: {reason}")]
    Snapshot {
        /// Its number.
        seq: u64,
        /// The contradiction.
        reason: String,
    },
}

/// Returns the state after record `until`, or after the last one that is kept if that comes first.
///
/// # Errors
/// If the records are damaged, do not follow from each other, or are no longer kept.
pub fn recover(
    history: &dyn History,
    until: u64,
    limits: &ServiceLimits,
    seed: u64,
) -> Result<ServiceState, RecoveryError> {
    look_back(history, &Cutoff { known: until, until, at_ms: u64::MAX }, limits, seed)
}

/// A point of the past: after the last record that is neither past `until` nor younger than
/// `at_ms`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cutoff {
    /// A record that is known to be no later; 0 if none is.
    pub(crate) known: u64,
    /// The last record that counts.
    pub(crate) until: u64,
    /// The instant, in milliseconds since 1970.
    pub(crate) at_ms: u64,
}

/// Returns the state at a cutoff.
///
/// # Errors
/// As [`recover`].
pub(crate) fn look_back(
    history: &dyn History,
    cutoff: &Cutoff,
    limits: &ServiceLimits,
    seed: u64,
) -> Result<ServiceState, RecoveryError> {
    let mut state = from_snapshot(history, cutoff.known, limits, seed)?;
    if state.seq() >= cutoff.until {
        return Ok(state);
    }
    history.scan(state.seq(), &mut |record| {
        if record.seq > cutoff.until || record.at_ms > cutoff.at_ms {
            return Ok(false);
        }
        state.apply(&record)?;
        Ok(record.seq < cutoff.until)
    })?;
    Ok(state)
}

/// Returns the state of the youngest snapshot of at most this number; a fresh one if there is none.
///
/// # Errors
/// As [`recover`].
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
