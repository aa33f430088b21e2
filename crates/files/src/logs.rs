//! Opening job logs; the name says the format.

use std::path::Path;

use pavior_kernel::shown;
use pavior_workload::traces::{Format, LineError, ReadError, ReadOptions, Trace};
use thiserror::Error;

use crate::error::name;
use crate::{FileError, Limits, open};

/// Why a log is not read.
#[derive(Debug, Error)]
pub enum LogError {
    /// It cannot be opened, or is none.
    #[error(transparent)]
    File(#[from] FileError),
    /// A line breaks the format.
    #[error("{path}:{}:{}: {}", fault.line, fault.column, fault.reason)]
    Line {
        /// The log's name, to be shown.
        path: String,
        /// What is wrong, and where.
        fault: Box<LineError>,
    },
}

impl LogError {
    /// What a reader of logs or of lists of failures says of a file.
    pub fn of(path: &Path, error: ReadError) -> LogError {
        match error {
            ReadError::Line(fault) | ReadError::AllMalformed { first: fault, .. } => {
                LogError::Line { path: name(path), fault }
            }
            other => FileError::read(path, &shown(&other.to_string())).into(),
        }
    }
}

/// Reads a log. Formats of lines are bounded by line and in all, Batsim's one document in all.
///
/// # Errors
/// If the name says no format; if the log cannot be read, is longer than the limit, or is at fault.
pub fn read_log(path: &Path, options: &ReadOptions, limits: Limits) -> Result<Trace, LogError> {
    let Some(format) = Format::of_file(&path.to_string_lossy()) else {
        // That there is no such file is the better reason.
        open(path, limits)?;
        let reason = "the name does not say the format; logs end in .swf, .sim or .json, or in one \
                      of these and .gz";
        return Err(FileError::read(path, &reason).into());
    };
    let limits = if format == Format::Batsim { limits.without_lines() } else { limits };
    let reader = open(path, limits)?;
    format.read(reader, options).map_err(|error| LogError::of(path, error))
}
