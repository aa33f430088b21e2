//! Converts errors to the exceptions defined in `pavior._errors`.

use std::io::ErrorKind;
use std::ops::Range;

use pavior::Refusal;
use pavior::experiments::directory::DirectoryError;
use pavior::experiments::{InputError, LogError};
use pavior::files::FileError;
use pavior::names::CallerError;
use pavior::simulation::RunError;
use pyo3::exceptions::{PyIsADirectoryError, PyOSError, PyValueError};
use pyo3::import_exception;
use pyo3::prelude::*;

import_exception!(pavior._errors, BadName);
import_exception!(pavior._errors, Broken);
import_exception!(pavior._errors, PaviorError);
import_exception!(pavior._errors, Refused);

/// Creates a `BadName` that marks the invalid characters in `text`.
pub(crate) fn bad_name(text: &str, reason: String, span: Range<usize>) -> PyErr {
    // Python counts characters, whereas Rust counts bytes.
    let characters = |end: usize| text.get(..end).map_or(end, |part| part.chars().count());
    BadName::new_err((reason, (characters(span.start), characters(span.end))))
}

/// Creates a `Refused` exception with its reason.
pub(crate) fn refused(refusal: Refusal) -> PyErr {
    Refused::new_err((refusal.word(), refusal.meaning(), refusal.is_permanent()))
}

/// Creates a `Broken` exception, which means that the caller's code violated its contract.
pub(crate) fn broken(message: impl Into<String>) -> PyErr {
    Broken::new_err((message.into(),))
}

/// Returns the exception that the caller's code raised, or `Broken` if it raised none.
pub(crate) fn failed(py: Python<'_>, error: &CallerError) -> PyErr {
    match error.get().downcast_ref::<PyErr>() {
        Some(raised) => raised.clone_ref(py),
        None => broken(error.to_string()),
    }
}

/// Converts the error that stopped a run. Unless the caller's own code failed, the message begins
/// with `of`, which may name the run.
pub(crate) fn stopped(py: Python<'_>, error: &RunError, of: &str) -> PyErr {
    match error {
        RunError::Failed(error) => failed(py, error),
        // Only the caller's own scheduler can choose a job that cannot start.
        RunError::Start(error) => broken(format!("{of}{error}")),
        error => other(format!("{of}{error}")),
    }
}

/// Creates a `PaviorError` for an error that has no class of its own.
pub(crate) fn other(message: impl Into<String>) -> PyErr {
    PaviorError::new_err((message.into(),))
}

/// Converts a file error to the corresponding `OSError`, or to `ValueError` for invalid contents.
pub(crate) fn file_error(py: Python<'_>, error: &FileError) -> PyErr {
    let (FileError::Read { path, reason }
    | FileError::Place { path, reason }
    | FileError::Write { path, source: reason }) = error
    else {
        return value(error);
    };
    match (reason.raw_os_error(), reason.kind()) {
        (Some(code), _) => {
            let words = py.import("os").and_then(|os| os.call_method1("strerror", (code,)));
            let words = words.and_then(|words| words.extract::<String>());
            let path = path.clone().into_os_string();
            words.map_or_else(|error| error, |words| PyOSError::new_err((code, words, path)))
        }
        (None, ErrorKind::InvalidData) => value(error),
        (None, ErrorKind::IsADirectory) => PyIsADirectoryError::new_err(error.to_string()),
        (None, _) => PyOSError::new_err(error.to_string()),
    }
}

/// Converts an error that occurred while reading a log or a list of failures.
pub(crate) fn log_error(py: Python<'_>, error: &LogError) -> PyErr {
    match error {
        LogError::File(error) => file_error(py, error),
        LogError::Line { .. } => value(error),
    }
}

/// Converts an error that occurred while reading an experiment's input.
pub(crate) fn input_error(py: Python<'_>, error: &InputError) -> PyErr {
    error.downcast_ref().map_or_else(|| value(error), |error| log_error(py, error))
}

/// Converts an error concerning an experiment's directory.
pub(crate) fn directory_error(py: Python<'_>, error: &DirectoryError) -> PyErr {
    match error {
        DirectoryError::File(error) => file_error(py, error),
        error => other(error.to_string()),
    }
}

/// Creates a `ValueError` for an invalid value from the caller.
pub(crate) fn value(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}
