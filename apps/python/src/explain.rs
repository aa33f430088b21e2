//! Shows where several strategies would place a request, and which jobs block it.

use pavior::answers::{Demand, Question, SearchLimits, Shape, Snapshot, Why, Words, nearest, why};
use pavior::strategies::Selection;
use pavior::strategies::explain::{Answer, State, answer};
use pavior::{BuildError, Cuboid, Grid, JobId, Request};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMappingProxy, PyTuple};

use crate::arrays::{boxes, word};
use crate::errors::{failed, value};
use crate::geometry::Box;
use crate::jobs::{JobName, Jobs};
use crate::shared_state::{Inner, SharedState};

/// The maximum number of jobs that a plan may move.
const MOVED: usize = 2;

/// An explanation of where several strategies would place a request and which jobs block it.
#[pyclass(frozen, module = "pavior")]
pub(crate) struct Explanation {
    grid: Grid,
    state: State,
    request: Request,
    answers: Vec<Answer>,
    /// A free location for the request, or the jobs in its way. Set only if the request has a
    /// shape.
    why: Option<Why>,
    nearest: Option<Cuboid>,
    jobs: Jobs,
}

/// Finds where each strategy would place a request, without changing the machine.
pub(crate) fn explain(
    py: Python<'_>,
    shared: &SharedState,
    inner: &Inner,
    selections: &[Selection],
    request: &Request,
) -> PyResult<Explanation> {
    let state = State::of(&inner.machine);
    let answers = selections
        .iter()
        .map(|selection| answer(&state, selection, request, shared.seed))
        .collect::<Result<_, _>>()
        .map_err(|error| match error {
            BuildError::Failed(error) => failed(py, &error),
            error => value(error),
        })?;
    let snapshot = Snapshot::of(&inner.machine);
    let boxes = Shape::all_for(request, &inner.machine, true);
    let why = request.shape.map(|shape| {
        let boxes = boxes.unwrap_or_else(|| vec![Shape::new(shape)]);
        let demand = Demand::boxed(&snapshot, boxes);
        let limits = SearchLimits::jobs(MOVED);
        why(&snapshot, &Question { limits, ..Question::new(&demand, &|_| None) })
    });
    let nearest = request.shape.and_then(|shape| nearest(&snapshot, Shape::new(shape), 1).pop());
    let (grid, request, jobs) = (shared.grid, *request, inner.jobs.clone());
    Ok(Explanation { grid, state, request, answers, why, nearest, jobs })
}

/// Draws a machine's current state.
pub(crate) fn picture(inner: &Inner) -> String {
    let state = State::of(&inner.machine);
    pavior::draw::state(&state, &|job| name(&inner.jobs, job))
}

fn name(jobs: &Jobs, job: JobId) -> String {
    match jobs.name(job) {
        JobName::Number(number) => number.to_string(),
        JobName::Word(word) => word.to_string(),
    }
}

impl Explanation {
    fn boxed(&self, cuboid: Option<Cuboid>) -> Option<Box> {
        Some(Box::new_on(&self.grid, cuboid?))
    }

    fn place_to_empty(&self) -> Option<Cuboid> {
        Some(self.why.as_ref()?.blocked.as_ref()?.at)
    }

    fn lines(&self) -> Vec<String> {
        let refuses = |answer: &&Answer| answer.outcome.is_err();
        let strategy = self.answers.iter().find(refuses).map(|answer| answer.selection.to_string());
        let words = Words {
            grid: &self.grid,
            job: &|job| format!("job {}", pavior::text::shown(&name(&self.jobs, job))),
            time: &|_| String::new(),
            strategy: &strategy.unwrap_or_default(),
            scheduler: "",
        };
        self.why.as_ref().map_or(Vec::new(), |why| why.lines(&words))
    }
}

#[pymethods]
impl Explanation {
    /// Each strategy's decision: the boxes it would grant, or its reason for refusing.
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

    /// A free box with the requested sides, possibly rotated.
    #[getter]
    fn fits(&self) -> Option<Box> {
        let why = self.why.as_ref();
        self.boxed(why.and_then(|why| why.place.first().copied()))
    }

    /// The free box most similar to the requested box.
    #[getter]
    fn nearest(&self) -> Option<Box> {
        self.boxed(self.nearest)
    }

    /// The largest free box.
    #[getter]
    fn largest_free(&self) -> Option<Box> {
        self.boxed(self.state.free().largest_free())
    }

    /// The answer in words: the reason, the jobs in the way, and moves that would make room.
    #[getter]
    fn why<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.lines())
    }

    /// The place that is cheapest to empty.
    #[getter]
    fn blocked(&self) -> Option<Box> {
        self.boxed(self.place_to_empty())
    }

    /// The jobs that hold nodes in `blocked`, largest first, with the total size of each job.
    #[getter]
    fn blocked_by<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyMappingProxy>> {
        let jobs = PyDict::new(py);
        let blocked = self.why.iter().filter_map(|why| why.blocked.as_ref());
        for (job, nodes) in blocked.flat_map(|blocked| &blocked.jobs) {
            jobs.set_item(self.jobs.name(*job).to_object(py)?, nodes)?;
        }
        Ok(PyMappingProxy::new(py, jobs.as_mapping()))
    }

    fn _repr_svg_(&self) -> String {
        let (freed, name) = (self.place_to_empty(), |job| name(&self.jobs, job));
        pavior::draw::explanation(&self.state, &self.request, &self.answers, freed.as_ref(), &name)
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
