//! The Python class that holds the replications whose results are already known.

use std::sync::{Mutex, MutexGuard};

use pavior::experiments::JournalEntry;
use pyo3::prelude::*;

use crate::errors::{other, value};

/// The replications that are already known.
#[pyclass(frozen, module = "pavior")]
#[derive(Default)]
pub(crate) struct Journal {
    entries: Mutex<Vec<JournalEntry>>,
}

impl Journal {
    pub(crate) fn of(entries: Vec<JournalEntry>) -> Journal {
        Journal { entries: Mutex::new(entries) }
    }

    /// Returns the known replications in the order in which they were added.
    pub(crate) fn entries(&self) -> PyResult<Vec<JournalEntry>> {
        Ok(self.lock()?.clone())
    }

    fn lock(&self) -> PyResult<MutexGuard<'_, Vec<JournalEntry>>> {
        self.entries.lock().map_err(|_| other("an earlier change failed partway through"))
    }
}

/// The key for lines that workers exchange before the lines are stored in a directory.
pub(crate) const BETWEEN_WORKERS: &str = "";

/// Parses lines from `replicate`.
pub(crate) fn parse(lines: &[u8]) -> PyResult<Vec<JournalEntry>> {
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

    /// Adds lines from `replicate` and returns the number of lines added. If a line is incomplete,
    /// raises `ValueError` and adds nothing.
    fn add(&self, lines: &[u8]) -> PyResult<usize> {
        let added = parse(lines)?;
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
