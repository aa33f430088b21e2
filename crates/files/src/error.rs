//! Why a file is not read or written.

use std::io;
use std::path::Path;

use pavior_kernel::shown;
use thiserror::Error;

/// Why a file is not read or written. Names and texts of others are shown harmlessly.
#[derive(Debug, Error)]
pub enum FileError {
    /// It cannot be read, or holds what it must not.
    #[error("cannot read {path}: {reason}")]
    Read {
        /// Its name, to be shown.
        path: String,
        /// Why.
        reason: String,
    },
    /// Its place cannot be written: a directory that is not there, or is not the user's.
    #[error("cannot write {path}: {reason}")]
    Place {
        /// Its name, to be shown.
        path: String,
        /// Why.
        reason: String,
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
    /// A directory is in use, or holds something else.
    #[error("{path} {reason}")]
    Directory {
        /// Its name, to be shown.
        path: String,
        /// Why it cannot be used, as the rest of the sentence.
        reason: String,
    },
    /// A file does not have the checksum that it was written with.
    #[error(
        "{path}{} was changed since it was written: its checksum is wrong; --resume \
         --discard-damaged runs what it held anew",
        line.map(|line| format!(", line {line},")).unwrap_or_default()
    )]
    Damaged {
        /// Its name, to be shown.
        path: String,
        /// The line, from 1, if it is known.
        line: Option<u64>,
    },
}

impl FileError {
    /// Whether the user can do otherwise (bad usage or bad input), or the system failed.
    pub fn is_usage(&self) -> bool {
        !matches!(self, FileError::Write { .. })
    }

    pub(crate) fn read(path: &Path, reason: &impl ToString) -> FileError {
        FileError::Read { path: name(path), reason: reason.to_string() }
    }

    pub(crate) fn place(path: &Path, reason: &impl ToString) -> FileError {
        FileError::Place { path: name(path), reason: reason.to_string() }
    }

    pub(crate) fn directory(path: &Path, reason: &str) -> FileError {
        FileError::Directory { path: name(path), reason: reason.to_string() }
    }

    /// A line of a file, or a file, that was changed since it was written.
    pub fn damaged(path: &Path, line: Option<u64>) -> FileError {
        FileError::Damaged { path: name(path), line }
    }

    pub(crate) fn write(path: &Path, source: io::Error) -> FileError {
        FileError::Write { path: name(path), source }
    }
}

/// A path as messages show it.
pub(crate) fn name(path: &Path) -> String {
    shown(&path.to_string_lossy()).to_string()
}
