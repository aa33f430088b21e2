//! Where strategies would put a request, and what stands in its way.

use pavior_allocation::Selection;
use pavior_allocation::explain::{Answer, Diagnosis, State, answer};
use pavior_mesh::{Cuboid, Grid, JobId, Request};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMappingProxy};

use crate::arrays::{boxes, word};
use crate::errors::value;
use crate::geometry::Box;
use crate::jobs::{JobName, Jobs};
use crate::shared::{Inner, Shared};

/// Where each strategy would put a request, and what stands in its way.
#[pyclass(frozen, module = "pavior")]
pub(crate) struct Explanation {
    grid: Grid,
    state: State,
    request: Request,
    answers: Vec<Answer>,
    diagnosis: Option<Diagnosis>,
    jobs: Jobs,
}

/// Asks strategies in the state of a machine. Nothing changes.
pub(crate) fn explain(
    shared: &Shared,
    inner: &Inner,
    selections: &[Selection],
    request: &Request,
) -> PyResult<Explanation> {
    let state = State::of(&inner.machine);
    let answers = selections
        .iter()
        .map(|selection| answer(&state, selection, request, shared.seed).map_err(value))
        .collect::<PyResult<_>>()?;
    let diagnosis = request.shape.map(|shape| Diagnosis::of(&state, shape));
    let jobs = inner.jobs.clone();
    Ok(Explanation { grid: shared.grid, state, request: *request, answers, diagnosis, jobs })
}

/// The machine as it is, drawn.
pub(crate) fn picture(inner: &Inner) -> String {
    let state = State::of(&inner.machine);
    pavior_draw::state(&state, &|job| name(&inner.jobs, job))
}

fn name(jobs: &Jobs, job: JobId) -> String {
    match jobs.name(job) {
        JobName::Number(number) => number.to_string(),
        JobName::Word(word) => word.to_string(),
    }
}

impl Explanation {
    fn boxed(&self, of: fn(&Diagnosis) -> Option<Cuboid>) -> Option<Box> {
        let cuboid = self.diagnosis.as_ref().and_then(of)?;
        Some(Box::new_on(&self.grid, cuboid))
    }
}

#[pymethods]
impl Explanation {
    /// By strategy: where it would put the request, or why it refuses.
    #[getter]
    fn answers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyMappingProxy>> {
        let answers = PyDict::new(py);
        for Answer { selection, outcome } in &self.answers {
            let answer = match outcome {
                Ok(choice) => boxes(py, &self.grid, choice.placement.parts())?.into_any().unbind(),
                Err(refusal) => word(py, *refusal),
            };
            answers.set_item(selection.to_string(), answer)?;
        }
        Ok(PyMappingProxy::new(py, answers.as_mapping()))
    }

    /// Where the box is free, turned or not.
    #[getter]
    fn fits(&self) -> Option<Box> {
        self.boxed(|diagnosis| diagnosis.fits)
    }

    /// The free box that comes nearest to the one asked for.
    #[getter]
    fn nearest(&self) -> Option<Box> {
        self.boxed(|diagnosis| diagnosis.nearest)
    }

    /// The largest free box.
    #[getter]
    fn largest_free(&self) -> Option<Box> {
        self.boxed(|diagnosis| diagnosis.largest_free)
    }

    /// Where the box would fit with the least number of nodes in the way.
    #[getter]
    fn blocked(&self) -> Option<Box> {
        self.boxed(|diagnosis| diagnosis.blocked.as_ref().map(|blocked| blocked.at))
    }

    /// The jobs that hold nodes of `blocked`, and how many.
    #[getter]
    fn blocked_by<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyMappingProxy>> {
        let jobs = PyDict::new(py);
        let blocked = self.diagnosis.iter().filter_map(|diagnosis| diagnosis.blocked.as_ref());
        for (job, nodes) in blocked.flat_map(|blocked| &blocked.jobs) {
            jobs.set_item(self.jobs.name(*job).to_object(py)?, nodes)?;
        }
        Ok(PyMappingProxy::new(py, jobs.as_mapping()))
    }

    fn _repr_svg_(&self) -> String {
        pavior_draw::explanation(&self.state, &self.request, &self.answers, &|job| {
            name(&self.jobs, job)
        })
    }

    fn __repr__(&self) -> String {
        let answer = |Answer { selection, outcome }: &Answer| match outcome {
            Ok(choice) => {
                let parts = choice.placement.parts().iter();
                let parts: Vec<String> =
                    parts.map(|part| Box::new_on(&self.grid, *part).words()).collect();
                format!("{selection}: {}", parts.join(", "))
            }
            Err(refusal) => format!("{selection}: {refusal}"),
        };
        let answers: Vec<String> = self.answers.iter().map(answer).collect();
        format!("<Explanation {}>", answers.join("; "))
    }
}
