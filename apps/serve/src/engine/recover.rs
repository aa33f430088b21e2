//! From records to a state.

use thiserror::Error;

use crate::core::{Limits, State, StateError};
use crate::storage::{History, StoreError};

/// Why a service cannot start.
#[derive(Debug, Error)]
pub enum StartError {
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
    limits: &Limits,
    seed: u64,
) -> Result<State, StartError> {
    let mut state = match history.snapshot(until)? {
        None => State::new(limits.clone(), seed),
        Some(snapshot) => State::restore(&snapshot, limits.clone(), seed)
            .map_err(|reason| StartError::Snapshot { seq: snapshot.seq, reason })?,
    };
    if state.seq() >= until {
        return Ok(state);
    }
    history.scan(state.seq(), &mut |record| {
        if record.seq > until {
            return Ok(false);
        }
        state.apply(&record)?;
        Ok(record.seq < until)
    })?;
    Ok(state)
}
