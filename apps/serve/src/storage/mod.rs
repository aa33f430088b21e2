//! Record stores. A [`RecordStore`] has one writer, but any thread may read its [`History`].
//!
//! - [`journal`]: files on a [`disk::Disk`], the default;
//! - `postgres` (feature `postgres`): a PostgreSQL database shared by several servers, one of
//!   which writes.

pub mod disk;
mod files;
pub mod frame;
pub mod journal;
pub mod layout;
mod mark;
#[cfg(feature = "postgres")]
pub mod postgres;
mod read;
mod segment;

use std::sync::Arc;

use futures_util::future::BoxFuture;
use thiserror::Error;

use crate::core::{FoldError, ServiceRecord, StateSnapshot};

/// Errors from reading or writing records.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum StoreError {
    /// The disk is full. Nothing was written; a later attempt may succeed.
    #[error("no space left to write: {0}")]
    Full(String),
    /// A write failed, and the state of the disk is unknown. Nothing more will be written.
    #[error("{0}")]
    Failed(String),
    /// The operation is not possible now. Nothing was written, and other operations still work.
    #[error("temporarily unavailable: {0}")]
    Later(String),
    /// A write failed, and it is unknown whether the write took effect.
    #[error("{0}")]
    Unknown(Box<StoreError>),
    /// The reason why this server is not the writer or cannot confirm that it is.
    #[error("this server cannot act as the leader: {0}")]
    Fenced(String),
    /// The data differs from what was written.
    #[error("{file} is damaged at offset {offset}: {reason}")]
    Damaged {
        /// The file.
        file: String,
        /// The offset in the file.
        offset: u64,
        /// The reason.
        reason: String,
    },
    /// The data was written by another version, which this version cannot read.
    #[error(
        "{file}: found {what} at offset {offset}; this was written by another version, so use that \
         version to read the file"
    )]
    OtherVersion {
        /// The file.
        file: String,
        /// The offset in the file.
        offset: u64,
        /// The unrecognized element.
        what: String,
    },
    /// The records up to this number have been removed.
    #[error("records up to {0} have been removed")]
    Compacted(u64),
    /// The records are inconsistent.
    #[error(transparent)]
    Fold(#[from] FoldError),
}

impl StoreError {
    fn damaged(file: &str, offset: u64, reason: impl Into<String>) -> StoreError {
        StoreError::Damaged { file: file.to_string(), offset, reason: reason.into() }
    }
}

/// A callback that receives each record. Reading stops when the callback returns false.
pub type Each<'a> = &'a mut dyn FnMut(ServiceRecord) -> Result<bool, FoldError>;

/// The write side of a store.
pub trait RecordStore: Send {
    /// Appends records. Once this method returns, the records survive a power failure.
    ///
    /// # Errors
    /// Returns an error if the records might not survive. If so, the caller must not act on them.
    fn append(&mut self, records: &[ServiceRecord]) -> Result<(), StoreError>;

    /// Returns the approximate number of bytes in the records since the last rotation.
    fn size(&self) -> u64;

    /// Checks that this server is still the writer.
    ///
    /// # Errors
    /// Returns an error if another server is the writer, or if that cannot be determined.
    fn confirm(&mut self) -> Result<(), StoreError>;

    /// Performs maintenance while the service is idle.
    ///
    /// # Errors
    /// Fails like [`RecordStore::append`].
    fn idle(&mut self) -> Result<(), StoreError>;

    /// Prepares for a snapshot of the current state by storing later records separately. Returns
    /// false if this is not possible now; the caller must then try again later before saving a
    /// snapshot.
    ///
    /// # Errors
    /// Fails like [`RecordStore::append`].
    fn rotate(&mut self) -> Result<bool, StoreError>;

    /// Checks that writing may be retried after a failure. The caller then rereads the records.
    ///
    /// # Errors
    /// Returns an error if writing may be retried only later, or never.
    fn retry(&mut self) -> Result<(), StoreError>;

    /// Notes the start of a decision.
    fn begin_decision(&self) {}

    /// Notes the end of a group of decisions.
    fn end_decisions(&self) {}

    /// Returns this server's claim, if several servers share the records.
    fn claim(&self) -> Option<Arc<dyn Claim>> {
        None
    }

    /// Closes the store before the service ends.
    fn close(&mut self);

    /// Returns the read side of the store.
    fn history(&self) -> Arc<dyn History>;
}

/// A server's exclusive right to make decisions, which is checked on behalf of readers.
pub trait Claim: Send + Sync {
    /// Checks that no other server had taken over when this call began. The error explains why this
    /// server may not act as the leader.
    fn check(&self) -> BoxFuture<'static, Result<(), String>>;
}

/// Records and snapshots, which may be read while the writer runs.
pub trait History: Send + Sync {
    /// Returns the latest snapshot whose number is at most `seq`.
    ///
    /// # Errors
    /// Returns an error if the records up to `seq` have been removed and no such snapshot exists,
    /// or if data is damaged.
    fn snapshot(&self, seq: u64) -> Result<Option<StateSnapshot>, StoreError>;

    /// Passes all records after the given number to `each`, in order.
    ///
    /// # Errors
    /// Returns [`StoreError::Compacted`] if some of these records have been removed, or another
    /// error if data is damaged.
    fn scan(&self, after: u64, each: Each<'_>) -> Result<(), StoreError>;

    /// Returns the number of the last removed record, or 0.
    ///
    /// # Errors
    /// Returns an error if the number cannot be determined.
    fn oldest(&self) -> Result<u64, StoreError>;

    /// Returns the number of the record after which at most `bytes` bytes of records are stored.
    ///
    /// # Errors
    /// Returns an error if the number cannot be determined.
    fn within(&self, bytes: u64) -> Result<u64, StoreError>;

    /// Saves a snapshot.
    ///
    /// # Errors
    /// Returns an error if the snapshot might not survive a power failure.
    fn save(&self, snapshot: &StateSnapshot) -> Result<(), StoreError>;

    /// Removes everything not needed to restore the state at any record after `seq`.
    ///
    /// # Errors
    /// Returns an error if something cannot be removed.
    fn compact(&self, seq: u64) -> Result<(), StoreError>;
}
