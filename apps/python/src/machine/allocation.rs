//! What a job holds.

use std::sync::Arc;

use pavior::Placement;
use pavior::draw::escape;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::arrays::{array, boxes};
use crate::errors::value;
use crate::explain;
use crate::jobs::JobName;
use crate::shared::{Inner, Shared};

/// What a job holds. Leaving a `with` block releases it.
#[pyclass(frozen, module = "pavior")]
pub(crate) struct Allocation {
    pub(super) shared: Arc<Shared>,
    pub(super) name: JobName,
    pub(super) placement: Placement,
}

#[pymethods]
impl Allocation {
    /// The job, as it was named.
    #[getter]
    fn job(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.name.to_object(py)
    }

    /// The nodes granted, which may exceed those asked for.
    #[getter]
    fn nodes(&self) -> u32 {
        self.placement.nodes()
    }

    /// The boxes, disjoint, in the order of grant.
    #[getter]
    fn boxes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        boxes(py, &self.shared.grid, self.placement.parts())
    }

    /// True where the job has a node, `[z, y, x]`.
    fn mask<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let mut bytes = vec![0; self.shared.grid.nodes() as usize];
        for node in self.placement.parts().iter().flat_map(|part| part.nodes(&self.shared.grid)) {
            bytes[node.index()] = 1;
        }
        array(py, &self.shared.grid, &bytes, "bool")
    }

    /// Releases what the job holds.
    fn release(&self, py: Python<'_>) -> PyResult<()> {
        release(py, &self.shared, &self.name)
    }

    fn __enter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    #[pyo3(signature = (*_raised))]
    fn __exit__(&self, py: Python<'_>, _raised: &Bound<'_, PyTuple>) -> PyResult<()> {
        // Released inside the block, on purpose: nothing is left to release.
        let inner = self.shared.lock(py)?;
        if !inner.jobs.has(&inner.machine, &self.name) {
            return Ok(());
        }
        drop(inner);
        self.release(py)
    }

    /// What the job was granted, and the machine as it is now, drawn.
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
    fn words(&self) -> String {
        let parts = self.placement.parts().iter();
        let words = parts.map(|part| pavior::boxes::words(&self.shared.grid, part));
        words.collect::<Vec<_>>().join(" ")
    }
}

/// The name of a new job: as given, and not in use; without one the next, which may be in use.
pub(super) fn new_name(inner: &mut Inner, job: Option<&Bound<'_, PyAny>>) -> PyResult<JobName> {
    let Some(job) = job else { return Ok(inner.jobs.next_name()) };
    let name = JobName::of(job)?;
    if inner.jobs.has(&inner.machine, &name) {
        return Err(value(format!("job {name} holds nodes already")));
    }
    Ok(name)
}

/// Takes back what a job holds. It is taken back also if the strategy's own code fails then.
pub(super) fn release(py: Python<'_>, shared: &Shared, name: &JobName) -> PyResult<()> {
    let mut inner = shared.lock(py)?;
    let missing = || PyKeyError::new_err(format!("job {name} holds no nodes"));
    let number = inner.jobs.number(name).ok_or_else(missing)?;
    inner.machine.release(number).map_err(|_| missing())?;
    inner.jobs.remove(number);
    inner.check(py)
}
