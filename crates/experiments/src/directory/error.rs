//! Why a directory cannot be used, in words for the user.

use std::path::Path;

use pavior_files::{FileError, shown};
use thiserror::Error;

/// Why a directory cannot be used.
#[derive(Debug, Error)]
pub enum DirectoryError {
    /// One of its files cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// It is in use, or holds something else.
    #[error("{path} {reason}")]
    Taken {
        /// Its name, to be shown.
        path: String,
        /// Why it cannot be used, as the rest of the sentence.
        reason: &'static str,
    },
    /// A line of a file does not have the checksum that it was written with.
    #[error(
        "{path}, line {line}, was changed since it was written: its checksum is wrong; --resume \
         --discard-damaged runs what it held anew"
    )]
    DamagedLine {
        /// Its name, to be shown.
        path: String,
        /// The line, from 1.
        line: u64,
    },
    /// A file does not have the checksum that it was written with.
    #[error(
        "{path} was changed since it was written, or was written by an earlier version: its \
         checksum is wrong; --resume --discard-damaged runs what it held anew"
    )]
    DamagedFile {
        /// Its name, to be shown.
        path: String,
    },
}

impl DirectoryError {
    /// Whether the user can do otherwise (bad usage or bad input), or the system failed.
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
