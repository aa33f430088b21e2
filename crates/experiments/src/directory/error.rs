//! Directory errors, with messages for users.

use std::path::Path;

use pavior_files::{FileError, shown};
use thiserror::Error;

/// An error that makes a directory unusable.
#[derive(Debug, Error)]
pub enum DirectoryError {
    /// A file in the directory cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// The directory is in use, or contains anything other than this run.
    #[error("{path} {reason}")]
    Taken {
        /// The directory's name, as displayed.
        path: String,
        /// The reason, phrased to follow the path in a message.
        reason: &'static str,
    },
    /// A line does not match its checksum.
    #[error(
        "{path}, line {line}, has changed since it was written (wrong checksum); to rerun its \
         replications, add --resume --discard-damaged, or, for the output of `sweep run`, remove \
         the directory"
    )]
    DamagedLine {
        /// The file's name, as displayed.
        path: String,
        /// The line number, counted from 1.
        line: u64,
    },
    /// A file does not match its checksum.
    #[error(
        "{path} has changed since it was written, or was written by an earlier version (wrong \
         checksum); to rerun its replications, add --resume --discard-damaged, or, for the output \
         of `sweep run`, remove the directory"
    )]
    DamagedFile {
        /// The file's name, as displayed.
        path: String,
    },
}

impl DirectoryError {
    /// Returns true if the cause is incorrect usage or input, or false if it is a system failure.
    pub fn is_usage(&self) -> bool {
        match self {
            DirectoryError::File(error) => error.is_usage(),
            _ => true,
        }
    }

    pub(super) fn taken(path: &Path, reason: &'static str) -> DirectoryError {
        DirectoryError::Taken { path: shown(path), reason }
    }

    pub(super) fn damaged_line(path: &Path, line: u64) -> DirectoryError {
        DirectoryError::DamagedLine { path: shown(path), line }
    }

    pub(super) fn damaged_file(path: &Path) -> DirectoryError {
        DirectoryError::DamagedFile { path: shown(path) }
    }
}
