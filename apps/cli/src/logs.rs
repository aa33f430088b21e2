//! Logs and lists of failures, with the one option that bounds all inputs.

use std::path::{Path, PathBuf};

use pavior_files::{Folder, LogError};
use pavior_workload::traces::{Filter, ReadOptions, Trace};

use crate::args::{OfReading, ParameterArgs};
use crate::failure::{Failure, Place};
use crate::files;

/// Reads a log; its name says its format.
pub(crate) fn read(path: &Path, args: &ParameterArgs<OfReading>) -> Result<Trace, Failure> {
    let filter: Filter = args.value("filter")?.unwrap_or_default();
    let status = args.typed("status").map_or(Ok(Filter::default()), |typed| {
        Filter::of_status(typed).map_err(|bad| Failure::option("--status", typed, 0, &bad))
    })?;
    let options = ReadOptions {
        lenient: args.value("lenient")?.unwrap_or(false),
        first: args.value("first")?,
        filter: filter.and(&status),
    };
    Ok(pavior_files::read_log(path, &options, files::lines())?)
}

/// The files of an experiment by their paths from a folder; the empty path is the one in which the
/// command was typed.
pub(crate) fn folder(path: impl Into<PathBuf>) -> Folder {
    Folder::new(path, files::lines())
}

impl From<LogError> for Failure {
    fn from(error: LogError) -> Failure {
        match error {
            LogError::File(error) => error.into(),
            LogError::Line { path, fault } => {
                let from = format!("{path}:{}:{}:", fault.line, fault.column);
                Failure::Usage {
                    message: fault.reason,
                    place: Some(Place { from, line: fault.text, span: fault.span }),
                }
            }
        }
    }
}
