//! The nodes that a job holds.

use std::sync::Arc;

use pavior::Placement;
use pavior::draw::escape;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::arrays::{array, boxes, bytes_at};
use crate::errors::value;
use crate::explain;
use crate::jobs::JobName;
use crate::shared_state::{Inner, SharedState};

/// The nodes that a job holds. Leaving a `with` block releases them.
#[pyclass(frozen, module = "pavior")]
pub(crate) struct Allocation {
    pub(super) shared: Arc<SharedState>,
    pub(super) name: JobName,
    pub(super) placement: Placement,
    /// The serial number of the grant.
    pub(super) serial: u64,
}

#[pymethods]
impl Allocation {
    /// The name of the job.
    #[getter]
    fn job(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.name.to_object(py)
    }

    /// The number of granted nodes, which may exceed the requested number.
    #[getter]
    fn nodes(&self) -> u32 {
        self.placement.nodes()
    }

    /// The disjoint boxes, in the order in which they were granted.
    #[getter]
    fn boxes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        boxes(py, &self.shared.grid, self.placement.parts())
    }

    /// Returns an array `[z, y, x]` that is True at the job's nodes. Requires numpy.
    fn mask<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let grid = &self.shared.grid;
        let nodes = self.placement.parts().iter().flat_map(|part| part.nodes(grid));
        array(py, grid, &bytes_at(grid, nodes), "bool")
    }

    /// Releases the nodes. Raises `KeyError` if the job no longer holds them.
    pub(super) fn release(&self, py: Python<'_>) -> PyResult<()> {
        let mut inner = self.shared.lock(py)?;
        if !self.is_held(&inner) {
            let name = &self.name;
            return Err(PyKeyError::new_err(format!("job {name} no longer holds these nodes")));
        }
        release(py, &mut inner, &self.name)
    }

    fn __enter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    #[pyo3(signature = (*_raised))]
    fn __exit__(&self, py: Python<'_>, _raised: &Bound<'_, PyTuple>) -> PyResult<()> {
        // The body of the `with` block may already have released the job.
        let mut inner = self.shared.lock(py)?;
        if self.is_held(&inner) { release(py, &mut inner, &self.name) } else { Ok(()) }
    }

    /// Describes the job's nodes, and draws the machine in its current state.
    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        let inner = self.shared.lock(py)?;
        let name = self.name.to_string();
        let (name, nodes) = (escape(&name), self.nodes());
        let words = format!("job {name} was granted {nodes} nodes: {}", escape(&self.words()));
        Ok(format!("<p>{words}</p>{}", explain::picture(&inner)))
    }

    fn __repr__(&self) -> String {
        format!("<Allocation job={} {}>", self.name, self.words())
    }
}

impl Allocation {
    /// Returns true if the job still holds these nodes. If not, a later job may have its name.
    fn is_held(&self, inner: &Inner) -> bool {
        let Inner { machine, jobs, .. } = inner;
        jobs.has(machine, &self.name) && jobs.serial(&self.name) == self.serial
    }

    fn words(&self) -> String {
        let parts = self.placement.parts().iter();
        let words = parts.map(|part| pavior::boxes::words(&self.shared.grid, part));
        words.collect::<Vec<_>>().join(" ")
    }
}

/// Returns the name for a new job: the caller's name, which must be unused, or else the next unused
/// automatic name.
pub(super) fn new_name(inner: &mut Inner, job: Option<&Bound<'_, PyAny>>) -> PyResult<JobName> {
    let Some(job) = job else {
        loop {
            let name = inner.jobs.next_name();
            if !inner.jobs.has(&inner.machine, &name) {
                return Ok(name);
            }
        }
    };
    let name = JobName::of(job)?;
    if inner.jobs.has(&inner.machine, &name) {
        return Err(value(format!("job {name} already holds nodes")));
    }
    Ok(name)
}

/// Releases a job's nodes, even if the strategy's Python code fails.
pub(super) fn release(py: Python<'_>, inner: &mut Inner, name: &JobName) -> PyResult<()> {
    let missing = || PyKeyError::new_err(format!("job {name} holds no nodes"));
    let number = inner.jobs.number(name).ok_or_else(missing)?;
    inner.machine.release(number).map_err(|_| missing())?;
    inner.jobs.remove(number);
    inner.check(py)
}
