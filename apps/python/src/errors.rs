//! Conversion of errors to the exceptions of `pavior._errors`.

use std::io::ErrorKind;
use std::ops::Range;

use pavior::experiments::directory::DirectoryError;
use pavior::experiments::{InputError, LogError};
use pavior::files::FileError;
use pavior::names::CallerError;
use pavior::simulation::RunError;
use pavior::{BadName, Refusal};
use pyo3::exceptions::{PyIsADirectoryError, PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

/// Returns an exception class of `pavior._errors`, which is looked up only once.
fn class<'py>(
    py: Python<'py>,
    cell: &'static PyOnceLock<Py<PyType>>,
    name: &str,
) -> PyResult<&'py Bound<'py, PyType>> {
    cell.import(py, "pavior._errors", name)
}

static BAD_NAME: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static REFUSED: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static BROKEN: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static PAVIOR_ERROR: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// Creates an instance of an exception class, or returns the error that was raised in the attempt.
fn raise(
    class: PyResult<&Bound<'_, PyType>>,
    arguments: impl FnOnce(&Bound<'_, PyType>) -> PyErr,
) -> PyErr {
    match class {
        Ok(class) => arguments(class),
        Err(error) => error,
    }
}

/// Creates a `BadName` that marks the wrong characters of `text`.
pub(crate) fn bad_name(py: Python<'_>, text: &str, reason: String, span: Range<usize>) -> PyErr {
    // Python counts characters, but Rust counts bytes.
    let characters = |end: usize| text.get(..end).map_or(end, |part| part.chars().count());
    let span = (characters(span.start), characters(span.end));
    raise(class(py, &BAD_NAME, "BadName"), |class| PyErr::from_type(class.clone(), (reason, span)))
}

/// Parses text into a type that implements `FromStr`. Raises `BadName` if the text is invalid.
pub(crate) fn read<T: std::str::FromStr<Err = BadName>>(py: Python<'_>, text: &str) -> PyResult<T> {
    text.parse().map_err(|bad: BadName| bad_name(py, text, bad.reason, bad.span))
}

/// Creates a `Refused` exception with its reason.
pub(crate) fn refused(py: Python<'_>, refusal: Refusal) -> PyErr {
    let arguments = (refusal.word(), refusal.meaning(), refusal.is_permanent());
    raise(class(py, &REFUSED, "Refused"), |class| PyErr::from_type(class.clone(), arguments))
}

/// Creates a `Broken` exception, which means that the caller's code violates its contract.
pub(crate) fn broken(py: Python<'_>, message: String) -> PyErr {
    raise(class(py, &BROKEN, "Broken"), |class| PyErr::from_type(class.clone(), (message,)))
}

/// Returns the exception that the caller's code raised, or `Broken`.
pub(crate) fn failed(py: Python<'_>, error: &CallerError) -> PyErr {
    match error.get().downcast_ref::<PyErr>() {
        Some(raised) => raised.clone_ref(py),
        None => broken(py, error.to_string()),
    }
}

/// Converts the error that stopped a run. `of` names the run if there are several.
pub(crate) fn stopped(py: Python<'_>, error: &RunError, of: &str) -> PyErr {
    match error {
        RunError::Failed(error) => failed(py, error),
        // Only the caller's own scheduler can start a job that cannot start.
        RunError::Start(error) => broken(py, format!("{of}{error}")),
        error => other(py, format!("{of}{error}")),
    }
}

/// Creates a `PaviorError` for an error that has no class of its own.
pub(crate) fn other(py: Python<'_>, message: String) -> PyErr {
    raise(class(py, &PAVIOR_ERROR, "PaviorError"), |class| {
        PyErr::from_type(class.clone(), (message,))
    })
}

/// Converts a file error to the matching `OSError`, or to `ValueError` for invalid contents.
pub(crate) fn file(py: Python<'_>, error: &FileError) -> PyErr {
    let (FileError::Read { path, reason }
    | FileError::Place { path, reason }
    | FileError::Write { path, source: reason }) = error
    else {
        return value(error);
    };
    match (reason.raw_os_error(), reason.kind()) {
        (Some(code), _) => {
            let words = py.import("os").and_then(|os| os.call_method1("strerror", (code,)));
            match words.and_then(|words| words.extract::<String>()) {
                Ok(words) => PyOSError::new_err((code, words, path.clone())),
                Err(error) => error,
            }
        }
        (None, ErrorKind::InvalidData) => value(error),
        (None, ErrorKind::IsADirectory) => PyIsADirectoryError::new_err(error.to_string()),
        (None, _) => PyOSError::new_err(error.to_string()),
    }
}

/// Converts an error from reading a log or a list of failures.
pub(crate) fn log(py: Python<'_>, error: &LogError) -> PyErr {
    match error {
        LogError::File(error) => file(py, error),
        LogError::Line { .. } => value(error),
    }
}

/// Converts an error from reading an input of an experiment.
pub(crate) fn input(py: Python<'_>, error: &InputError) -> PyErr {
    error.downcast_ref().map_or_else(|| value(error), |error| log(py, error))
}

/// Converts an error from an experiment's directory.
pub(crate) fn directory(py: Python<'_>, error: &DirectoryError) -> PyErr {
    match error {
        DirectoryError::File(error) => file(py, error),
        error => other(py, error.to_string()),
    }
}

/// Creates a `ValueError` for an invalid value from the caller.
pub(crate) fn value(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}
