//! Reads logs and failure lists, within the `--max-input` limit.

use std::path::PathBuf;

use pavior::experiments::{Folder, LogError, LogForecastError};

use crate::failure::{Failure, Place};
use crate::files;

/// Returns an experiment's input files, with paths relative to a directory. An empty path means the
/// current directory.
pub(crate) fn folder(path: impl Into<PathBuf>) -> Folder {
    Folder::new(path, files::lines())
}

impl From<LogError> for Failure {
    fn from(error: LogError) -> Failure {
        match error {
            LogError::File(error) => error.into(),
            LogError::Line { path, fault } => {
                let origin = format!("{path}:{}:{}:", fault.line, fault.column);
                Failure::Usage {
                    message: fault.reason,
                    place: Some(Place { origin, line: fault.text, span: fault.span }),
                }
            }
        }
    }
}

impl From<LogForecastError> for Failure {
    fn from(error: LogForecastError) -> Failure {
        match error {
            LogForecastError::Input(error) => Failure::from_input(error),
            other => Failure::usage(other),
        }
    }
}
