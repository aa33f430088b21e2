//! Errors from reading and writing files.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// An error from reading or writing a file. The error message escapes untrusted text.
#[derive(Debug, Error)]
pub enum FileError {
    /// The file cannot be read, or its content is invalid.
    #[error("cannot read {}: {reason}", shown(.path))]
    Read {
        /// The file's path.
        path: PathBuf,
        /// The operating system's error, or a description of the problem.
        reason: io::Error,
    },
    /// The destination cannot be written to, for example because its directory is missing or
    /// belongs to another user.
    #[error("cannot write {}: {reason}", shown(.path))]
    Place {
        /// The file's path.
        path: PathBuf,
        /// The operating system's error, or a description of the problem.
        reason: io::Error,
    },
    /// Writing failed partway through, for example because the disk is full.
    #[error("cannot write {}: {source}", shown(.path))]
    Write {
        /// The file's path.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
    /// An output is the same file as an input or another output.
    #[error("{output} would overwrite {input}: they are the same file")]
    Overwrites {
        /// The output's option and file name.
        output: String,
        /// The file that would be overwritten.
        input: String,
    },
}

impl FileError {
    /// Returns true if the error is caused by incorrect usage or input, which the user can fix.
    /// Returns false for a system failure.
    pub fn is_usage(&self) -> bool {
        !matches!(self, FileError::Write { .. })
    }

    /// Creates an error for a file that cannot be read.
    pub fn read(path: &Path, reason: io::Error) -> FileError {
        FileError::Read { path: path.to_path_buf(), reason }
    }

    /// Creates an error for a file with invalid content.
    pub fn content(path: &Path, reason: impl Into<String>) -> FileError {
        FileError::read(path, io::Error::new(io::ErrorKind::InvalidData, reason.into()))
    }

    pub(crate) fn place(path: &Path, reason: io::Error) -> FileError {
        FileError::Place { path: path.to_path_buf(), reason }
    }

    pub(crate) fn write(path: &Path, source: io::Error) -> FileError {
        FileError::Write { path: path.to_path_buf(), source }
    }
}

/// Formats a path for a message, escaping it because file names are untrusted.
pub fn shown(path: &Path) -> String {
    pavior_kernel::shown(&path.to_string_lossy()).to_string()
}
