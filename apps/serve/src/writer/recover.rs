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
        /// How.
        reason: String,
    },
}

/// The state after record `until`, or after the last one that is kept if that comes first.
///
/// # Errors
/// If the records are damaged, do not follow from each other, or are no longer kept.
pub fn recover(
    history: &dyn History,
    until: u64,
    limits: &ServiceLimits,
    seed: u64,
) -> Result<ServiceState, RecoveryError> {
    look_back(history, &Moment { known: until, until, at_ms: u64::MAX }, limits, seed)
}

/// A moment of the past: after the last record that is neither past `until` nor younger than
/// `at_ms`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moment {
    /// A record that is known to be no later; 0 if none is.
    pub(crate) known: u64,
    /// The last record that counts.
    pub(crate) until: u64,
    /// The instant, in milliseconds since 1970.
    pub(crate) at_ms: u64,
}

/// The state at a moment.
///
/// # Errors
/// As [`recover`].
pub(crate) fn look_back(
    history: &dyn History,
    moment: &Moment,
    limits: &ServiceLimits,
    seed: u64,
) -> Result<ServiceState, RecoveryError> {
    let mut state = match history.snapshot(moment.known)? {
        None => ServiceState::new(limits.clone(), seed),
        Some(snapshot) => ServiceState::restore(&snapshot, limits.clone(), seed)
            .map_err(|reason| RecoveryError::Snapshot { seq: snapshot.seq, reason })?,
    };
    if state.seq() >= moment.until {
        return Ok(state);
    }
    history.scan(state.seq(), &mut |record| {
        if record.seq > moment.until || record.at_ms > moment.at_ms {
            return Ok(false);
        }
        state.apply(&record)?;
        Ok(record.seq < moment.until)
    })?;
    Ok(state)
}
