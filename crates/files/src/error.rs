//! Why a file is not read or written.

use std::io;
use std::path::Path;

use thiserror::Error;

/// Why a file is not read or written. Names and texts of others are shown harmlessly.
#[derive(Debug, Error)]
pub enum FileError {
    /// It cannot be read, or holds what it must not.
    #[error("cannot read {path}: {reason}")]
    Read {
        /// Its name, to be shown.
        path: String,
        /// Why: the system's own error, or words.
        reason: io::Error,
    },
    /// Its place cannot be written: a directory that is not there, or is not the user's.
    #[error("cannot write {path}: {reason}")]
    Place {
        /// Its name, to be shown.
        path: String,
        /// Why: the system's own error, or words.
        reason: io::Error,
    },
    /// Writing failed on the way, as on a full disk.
    #[error("cannot write {path}: {source}")]
    Write {
        /// Its name, to be shown.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// An output is an input, or another output.
    #[error("{output} would overwrite {input}: they are the same file")]
    Overwrites {
        /// The output: its option and name.
        output: String,
        /// What it would overwrite.
        input: String,
    },
}

impl FileError {
    /// Whether the user can do otherwise (bad usage or bad input), or the system failed.
    pub fn is_usage(&self) -> bool {
        !matches!(self, FileError::Write { .. })
    }

    /// A file that cannot be read.
    pub fn read(path: &Path, reason: io::Error) -> FileError {
        FileError::Read { path: shown(path), reason }
    }

    /// A file that holds what it must not.
    pub fn content(path: &Path, reason: impl Into<String>) -> FileError {
        FileError::read(path, io::Error::new(io::ErrorKind::InvalidData, reason.into()))
    }

    pub(crate) fn place(path: &Path, reason: io::Error) -> FileError {
        FileError::Place { path: shown(path), reason }
    }

    pub(crate) fn write(path: &Path, source: io::Error) -> FileError {
        FileError::Write { path: shown(path), source }
    }
}

/// A path, as messages show it: a file may have any name.
pub fn shown(path: &Path) -> String {
    pavior_kernel::shown(&path.to_string_lossy()).to_string()
}
