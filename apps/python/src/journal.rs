//! Spans of replications, and known replications.

use std::sync::{Mutex, MutexGuard};

use pavior::experiments::JournalEntry;
use pyo3::exceptions::{PyDeprecationWarning, PyTypeError};
use pyo3::prelude::*;

use crate::errors::value;

/// Consecutive replications of one point: the unit of work.
#[pyclass(frozen, eq, hash, module = "pavior")]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Span {
    /// The index of the point.
    #[pyo3(get)]
    pub(crate) point: usize,
    /// The index of the first replication.
    #[pyo3(get)]
    pub(crate) first: u64,
    /// The index after the last replication.
    #[pyo3(get)]
    pub(crate) end: u64,
}

#[pymethods]
impl Span {
    #[new]
    #[pyo3(signature = (point, first, end = None, *, last = None))]
    #[pyo3(text_signature = "(point, first, end)")]
    fn new(
        py: Python<'_>,
        point: usize,
        first: u64,
        end: Option<u64>,
        last: Option<u64>,
    ) -> PyResult<Span> {
        if last.is_some() {
            warn_of_last(py)?;
        }
        let (Some(end), true) = (end.or(last), end.is_none() || last.is_none()) else {
            return Err(PyTypeError::new_err("Span() requires point, first and end"));
        };
        if first >= end {
            return Err(value(format!("a span from {first} to {end} contains no replications")));
        }
        Ok(Span { point, first, end })
    }

    /// Deprecated; use `end`, which has the same value: the index after the last replication.
    /// In the JSON of `pavior sweep`, `last` is the index of the last replication itself.
    #[getter]
    fn last(&self, py: Python<'_>) -> PyResult<u64> {
        warn_of_last(py)?;
        Ok(self.end)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyAny>, (usize, u64, u64)) {
        let Span { point, first, end } = *slf.get();
        (slf.get_type().into_any(), (point, first, end))
    }

    fn __repr__(&self) -> String {
        format!("Span({}, {}, {})", self.point, self.first, self.end)
    }
}

/// Warns about the deprecated `last`, which is kept for one version.
fn warn_of_last(py: Python<'_>) -> PyResult<()> {
    let words =
        c"Span.last is one past the last replication, unlike in the JSON of `pavior sweep`; use \
          Span.end, which has the same value";
    PyErr::warn(py, &py.get_type::<PyDeprecationWarning>(), words, 1)
}

/// The known replications.
#[pyclass(frozen, module = "pavior")]
#[derive(Default)]
pub(crate) struct Journal {
    entries: Mutex<Vec<JournalEntry>>,
}

impl Journal {
    pub(crate) fn of(entries: Vec<JournalEntry>) -> Journal {
        Journal { entries: Mutex::new(entries) }
    }

    /// Returns the known replications, in the order added.
    pub(crate) fn entries(&self) -> PyResult<Vec<JournalEntry>> {
        Ok(self.lock()?.clone())
    }

    fn lock(&self) -> PyResult<MutexGuard<'_, Vec<JournalEntry>>> {
        self.entries.lock().map_err(|_| value("an earlier call failed during a change"))
    }
}

/// The key of lines that are exchanged between workers before they are stored in a directory.
pub(crate) const BETWEEN_WORKERS: &str = "";

/// Parses lines from `replicate`.
pub(crate) fn entries(lines: &[u8]) -> PyResult<Vec<JournalEntry>> {
    let text = std::str::from_utf8(lines).map_err(value)?;
    let entry = |(number, line): (usize, &str)| {
        let wrong = || value(format!("line {} was not returned by `replicate`", number + 1));
        JournalEntry::parse(line, BETWEEN_WORKERS).ok_or_else(wrong)
    };
    text.lines().enumerate().map(entry).collect()
}

#[pymethods]
impl Journal {
    #[new]
    fn new() -> Journal {
        Journal::default()
    }

    /// Adds lines from `replicate` and returns their number. If a line is incomplete, raises
    /// `ValueError` and adds nothing.
    fn add(&self, lines: &[u8]) -> PyResult<usize> {
        let added = entries(lines)?;
        let count = added.len();
        self.lock()?.extend(added);
        Ok(count)
    }

    fn __len__(&self) -> PyResult<usize> {
        Ok(self.lock()?.len())
    }

    fn __repr__(&self) -> PyResult<String> {
        Ok(format!("<Journal of {} replications>", self.__len__()?))
    }
}
