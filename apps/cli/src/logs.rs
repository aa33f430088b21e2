//! Reading of logs and lists of failures, with the option that limits the size of all inputs.

use std::path::{Path, PathBuf};

use pavior::experiments::{Folder, LogError, LogForecastError, read_log, summarize_log};
use pavior::workload::inspect::LogSummary;
use pavior::workload::traces::Trace;

use crate::args::{OfReading, ParameterArgs};
use crate::failure::{Failure, Place};
use crate::files;

/// Reads a log. An option, the file name or the text determines the format.
pub(crate) fn read(path: &Path, args: &ParameterArgs<OfReading>) -> Result<Trace, Failure> {
    Ok(read_log(path, &args.given()?.reading(), files::lines())?)
}

/// Summarizes a log as replayed on a machine with this number of nodes.
pub(crate) fn summarize(
    path: &Path,
    args: &ParameterArgs<OfReading>,
    nodes: Option<u64>,
) -> Result<LogSummary, Failure> {
    Ok(summarize_log(path, &args.given()?.reading(), files::lines(), nodes)?)
}

/// Returns an experiment's files, which are named by paths relative to a folder. An empty path
/// means the current folder.
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

impl From<LogForecastError> for Failure {
    fn from(error: LogForecastError) -> Failure {
        match error {
            LogForecastError::Input(error) => Failure::of_input(error),
            other => Failure::usage(other.to_string()),
        }
    }
}
