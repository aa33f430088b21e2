//! Counts how many boxes of a shape fit at the same time.

use pavior::answers::{Defragmented, SearchLimits, Shape, SlotsAnswer, Snapshot};
use pavior::{Cuboid, Grid};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::arrays::boxes;
use crate::jobs::{JobName, Jobs};

/// Boxes of one shape that fit at the same time, and an upper bound on their number.
#[pyclass(frozen, module = "pavior")]
pub(crate) struct Slots {
    grid: Grid,
    found: pavior::answers::Slots,
    moves: Vec<(JobName, Vec<Cuboid>, Vec<Cuboid>)>,
}

/// Counts the boxes of a shape that fit now and after at most `moves` moves.
pub(crate) fn count(
    snapshot: &Snapshot,
    jobs: &Jobs,
    shape: Shape,
    limits: &SearchLimits,
) -> Slots {
    let grid = *snapshot.grid();
    let moves = (limits.max_jobs > 0).then_some(*limits);
    let answer = SlotsAnswer::of(snapshot, &[shape], |_| None, limits.budget, moves);
    let found = answer.after.as_ref().map_or(answer.now, Defragmented::slots);
    let moves = answer.after.into_iter().flat_map(|after| after.plan.moves);
    let moves = moves.map(|step| (jobs.name(step.job), step.from, step.to)).collect();
    Slots { grid, found, moves }
}

#[pymethods]
impl Slots {
    /// The number of boxes found.
    #[getter]
    fn count(&self) -> usize {
        self.found.boxes.len()
    }

    /// An upper bound on the number of boxes.
    #[getter]
    fn bound(&self) -> u32 {
        self.found.bound
    }

    /// True if it has been proven that no more boxes fit.
    #[getter]
    fn proven(&self) -> bool {
        self.found.proven()
    }

    /// The boxes that were found.
    #[getter]
    fn boxes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        boxes(py, &self.grid, &self.found.boxes)
    }

    /// The moves that make room for the boxes, in a feasible order. Each move is a tuple of the
    /// job, its old boxes and its new boxes.
    #[getter]
    fn moves<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let mut moves = Vec::new();
        for (job, from, to) in &self.moves {
            let (from, to) = (boxes(py, &self.grid, from)?, boxes(py, &self.grid, to)?);
            moves.push((job.to_object(py)?, from, to));
        }
        PyTuple::new(py, moves)
    }

    fn __repr__(&self) -> String {
        format!("<Slots {} of at most {}>", self.found.boxes.len(), self.found.bound)
    }
}
