//! Spans of replications, and what is known of them.

use std::sync::{Mutex, MutexGuard};

use pavior_experiments::JournalEntry;
use pyo3::prelude::*;

use crate::errors::value;

/// Some replications of one point: the unit of work.
#[pyclass(frozen, eq, hash, module = "pavior")]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Span {
    /// The index of the point.
    #[pyo3(get)]
    pub(crate) point: usize,
    /// The first replication.
    #[pyo3(get)]
    pub(crate) first: u64,
    /// Behind the last replication.
    #[pyo3(get)]
    pub(crate) last: u64,
}

#[pymethods]
impl Span {
    #[new]
    fn new(point: usize, first: u64, last: u64) -> PyResult<Span> {
        if first >= last {
            return Err(value(format!("{first} to {last} is no span of replications")));
        }
        Ok(Span { point, first, last })
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyAny>, (usize, u64, u64)) {
        let Span { point, first, last } = *slf.get();
        (slf.get_type().into_any(), (point, first, last))
    }

    fn __repr__(&self) -> String {
        format!("Span({}, {}, {})", self.point, self.first, self.last)
    }
}

/// The replications that are known.
#[pyclass(frozen, module = "pavior")]
#[derive(Default)]
pub(crate) struct Journal {
    entries: Mutex<Vec<JournalEntry>>,
}

impl Journal {
    pub(crate) fn of(entries: Vec<JournalEntry>) -> Journal {
        Journal { entries: Mutex::new(entries) }
    }

    /// What is known, in the order in which it came.
    pub(crate) fn entries(&self) -> PyResult<Vec<JournalEntry>> {
        Ok(self.lock()?.clone())
    }

    fn lock(&self) -> PyResult<MutexGuard<'_, Vec<JournalEntry>>> {
        self.entries.lock().map_err(|_| value("an earlier call failed in the middle of a change"))
    }
}

/// The entries of lines that `replicate` gave.
pub(crate) fn entries(lines: &[u8]) -> PyResult<Vec<JournalEntry>> {
    let text = std::str::from_utf8(lines).map_err(value)?;
    let entry = |(number, line): (usize, &str)| {
        let wrong = || value(format!("line {} is not one that `replicate` gives", number + 1));
        JournalEntry::parse(line).ok_or_else(wrong)
    };
    text.lines().enumerate().map(entry).collect()
}

#[pymethods]
impl Journal {
    #[new]
    fn new() -> Journal {
        Journal::default()
    }

    /// Adds lines that `replicate` gave; returns how many. A line that is not whole is an error,
    /// and nothing is added.
    fn add(&self, lines: &[u8]) -> PyResult<usize> {
        let added = entries(lines)?;
        let count = added.len();
        self.lock()?.extend(added);
        Ok(count)
    }

    fn __len__(&self) -> PyResult<usize> {
        Ok(self.lock()?.len())
    }
}
