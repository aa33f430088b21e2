//! How far a sweep is, and how its work is asked to end.

use pavior_simulation::Stop;
use pyo3::prelude::*;

/// Asks `replicate` in another thread to end.
#[pyclass(frozen, module = "pavior")]
#[derive(Default)]
pub(crate) struct Cancel {
    pub(crate) stop: Stop,
}

#[pymethods]
impl Cancel {
    #[new]
    fn new() -> Cancel {
        Cancel::default()
    }

    /// Asks for the end.
    fn cancel(&self) {
        self.stop.set();
    }

    /// Whether it was asked for.
    #[getter]
    fn cancelled(&self) -> bool {
        self.stop.is_set()
    }
}

/// How far a sweep is.
#[pyclass(frozen, get_all, module = "pavior")]
pub(crate) struct Progress {
    /// Replications that are known.
    pub(crate) done: u64,
    /// Replications that are known or wanted.
    pub(crate) planned: u64,
    /// Points that want nothing more.
    pub(crate) points_done: usize,
    /// All points.
    pub(crate) points: usize,
    /// Seconds since the beginning.
    pub(crate) seconds: f64,
}
