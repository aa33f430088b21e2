//! Spans of replications.

use pyo3::exceptions::{PyDeprecationWarning, PyTypeError};
use pyo3::prelude::*;

use crate::errors::value;

/// Consecutive replications of a single point, which form a unit of work.
#[pyclass(frozen, eq, hash, module = "pavior")]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Span {
    /// The index of the point.
    #[pyo3(get)]
    pub(crate) point: usize,
    /// The index of the first replication.
    #[pyo3(get)]
    pub(crate) first: u64,
    /// The index one past the last replication.
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
        let ((Some(end), None) | (None, Some(end))) = (end, last) else {
            return Err(PyTypeError::new_err(
                "Span() requires point, first, and either end or last",
            ));
        };
        if first >= end {
            return Err(value(format!("a span from {first} to {end} contains no replications")));
        }
        Ok(Span { point, first, end })
    }

    /// Deprecated alias of `end`, the index one past the last replication. In the JSON of
    /// `pavior sweep`, however, `last` is the index of the last replication itself.
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

/// Emits the deprecation warning for `last`, which is kept for one version.
fn warn_of_last(py: Python<'_>) -> PyResult<()> {
    let words =
        c"Span.last is one past the last replication, unlike `last` in the JSON from `pavior \
            sweep`; use Span.end, which has the same value";
    PyErr::warn(py, &py.get_type::<PyDeprecationWarning>(), words, 1)
}
