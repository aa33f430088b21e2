//! Stores of records. A [`RecordStore`] has one writer; any thread may read its [`History`].
//!
//! - [`journal`]: files of our own on a [`disk::Disk`], the default;
//! - `postgres`, by the feature of that name: a PostgreSQL database that several servers share, one
//!   of which writes.

#[cfg(feature = "postgres")]
mod chain;
#[cfg(feature = "postgres")]
pub mod claim;
pub mod disk;
mod files;
pub mod frame;
pub mod journal;
pub mod layout;
mod mark;
#[cfg(feature = "postgres")]
pub mod password;
#[cfg(feature = "postgres")]
pub mod postgres;
mod read;
mod segment;

use std::sync::Arc;

use futures_util::future::BoxFuture;
use thiserror::Error;

use crate::core::{FoldError, ServiceRecord, StateSnapshot};

/// Why records cannot be kept or read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum StoreError {
    /// There is no room. Nothing was written; it may work later.
    #[error("no room to write: {0}")]
    Full(String),
    /// A write failed, and what is on the disk is not known. Nothing more is written.
    #[error("{0}")]
    Failed(String),
    /// It cannot be done now. Nothing was written, and all else goes on.
    #[error("not now: {0}")]
    Later(String),
    /// A write failed, and whether it was carried out is not known; the rest as the error in it.
    #[error("{0}")]
    Unknown(Box<StoreError>),
    /// Another server writes now.
    #[error("another server has taken over: {0}")]
    Fenced(String),
    /// The data are not those that were written.
    #[error("{file} is damaged at offset {offset}: {reason}")]
    Damaged {
        /// The file.
        file: String,
        /// The place in it.
        offset: u64,
        /// The mistake.
        reason: String,
    },
    /// Another version of this program wrote it, and this version cannot read it.
    #[error("{file}: at offset {offset} there is {what}. Another version wrote it: start that one")]
    OtherVersion {
        /// The file.
        file: String,
        /// The place in it.
        offset: u64,
        /// The part that this version does not know.
        what: String,
    },
    /// It belongs to a plan, which a former version carried out and this version cannot.
    #[error(
        "{file}: at offset {offset} there is {what}. The service no longer carries out plans: end \
         them and shorten the history with the version before, as docs/upgrading.md says"
    )]
    Plan {
        /// The file.
        file: String,
        /// The place in it.
        offset: u64,
        /// The record or the plan.
        what: String,
    },
    /// A build from before 0.1.0 wrote it.
    #[error("{0}: a build from before 0.1.0 wrote it, and its records are not read: begin anew")]
    Former(String),
    /// The records before this one are no longer kept.
    #[error("records up to {0} are compacted")]
    Compacted(u64),
    /// The records do not follow from each other.
    #[error(transparent)]
    Fold(#[from] FoldError),
}

/// A function that takes records one by one; `false` ends the reading.
pub type Each<'a> = &'a mut dyn FnMut(ServiceRecord) -> Result<bool, FoldError>;

/// Records, and the one who may add to them.
pub trait RecordStore: Send {
    /// Adds records. When it returns, they survive the loss of power.
    ///
    /// # Errors
    /// If they may not survive; the caller must not act on them.
    fn append(&mut self, records: &[ServiceRecord]) -> Result<(), StoreError>;

    /// Returns the bytes of the records since the last rotation, about.
    fn size(&self) -> u64;

    /// Checks that this server is still the one that writes.
    ///
    /// # Errors
    /// If it is not, or that cannot be found out.
    fn confirm(&mut self) -> Result<(), StoreError>;

    /// Does what is not urgent, at a moment when nothing is asked for.
    ///
    /// # Errors
    /// As [`RecordStore::append`].
    fn idle(&mut self) -> Result<(), StoreError>;

    /// Prepares for a snapshot of the state as it is now: later records are kept apart. Returns
    /// false if that is not possible now, and no snapshot may be saved; it is to be asked again
    /// later.
    ///
    /// # Errors
    /// As [`RecordStore::append`].
    fn rotate(&mut self) -> Result<bool, StoreError>;

    /// Checks that writes may be tried again after one has failed. The records are then read again.
    ///
    /// # Errors
    /// If it may not, or not yet.
    fn retry(&mut self) -> Result<(), StoreError>;

    /// Notes that the writer begins a decision, or has ended a group of them.
    fn decides(&self, _begins: bool) {}

    /// Returns the right to decide, if several servers share the records.
    fn claim(&self) -> Option<Arc<dyn Claim>> {
        None
    }

    /// Notes that the service ends.
    fn close(&mut self);

    /// Returns the records, for reading beside the writer.
    fn history(&self) -> Arc<dyn History>;
}

/// The right of one of several servers to decide, which readers check.
pub trait Claim: Send + Sync {
    /// Checks that no other server has taken over since the call began. The error says who has, or
    /// why that is not known.
    fn ask(&self) -> BoxFuture<'static, Result<(), String>>;
}

/// Records and snapshots, for reading beside the writer.
pub trait History: Send + Sync {
    /// Returns the youngest snapshot of at most this number.
    ///
    /// # Errors
    /// If there are snapshots, but the records after them up to `seq` are gone; or damage.
    fn snapshot(&self, seq: u64) -> Result<Option<StateSnapshot>, StoreError>;

    /// Returns the records after a number, in order.
    ///
    /// # Errors
    /// [`StoreError::Compacted`] if some of them are gone; or damage.
    fn scan(&self, after: u64, each: Each<'_>) -> Result<(), StoreError>;

    /// Returns the number before the oldest record that is kept.
    ///
    /// # Errors
    /// If it cannot be found out.
    fn oldest(&self) -> Result<u64, StoreError>;

    /// Returns the number before the oldest of the last records that have at most so many bytes
    /// together, as they are kept.
    ///
    /// # Errors
    /// If it cannot be found out.
    fn within(&self, bytes: u64) -> Result<u64, StoreError>;

    /// Saves a snapshot.
    ///
    /// # Errors
    /// If it may not survive.
    fn save(&self, snapshot: &StateSnapshot) -> Result<(), StoreError>;

    /// Removes what is not needed to know the state at any record after `seq`.
    ///
    /// # Errors
    /// If it cannot be removed.
    fn compact(&self, seq: u64) -> Result<(), StoreError>;
}
