//! How many boxes of a shape can be placed side by side.

use pavior_answers::{Defragmented, SearchLimits, Shape, SlotsAnswer, Snapshot};
use pavior_mesh::{Cuboid, Grid};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::arrays::boxes;
use crate::jobs::{JobName, Jobs};

/// Boxes of a shape that can be placed side by side, and how many there are at most.
#[pyclass(frozen, module = "pavior")]
pub(crate) struct Slots {
    grid: Grid,
    slots: pavior_answers::Slots,
    moves: Vec<(JobName, Vec<Cuboid>, Vec<Cuboid>)>,
}

/// Counts them, once at most so many jobs have moved.
pub(crate) fn count(
    snapshot: &Snapshot,
    jobs: &Jobs,
    shape: Shape,
    limits: &SearchLimits,
) -> Slots {
    let grid = *snapshot.grid();
    let moves = (limits.max_jobs > 0).then_some(*limits);
    let found = SlotsAnswer::of(snapshot, &[shape], |_| None, limits.budget, moves);
    let slots = found.after.as_ref().map_or(found.now, Defragmented::slots);
    let moves = found.after.into_iter().flat_map(|after| after.plan.moves);
    let moves = moves.map(|step| (jobs.name(step.job), step.from, step.to)).collect();
    Slots { grid, slots, moves }
}

#[pymethods]
impl Slots {
    /// How many were found.
    #[getter]
    fn count(&self) -> usize {
        self.slots.boxes.len()
    }

    /// No more are possible.
    #[getter]
    fn bound(&self) -> u32 {
        self.slots.bound
    }

    /// Whether there are certainly no more.
    #[getter]
    fn proven(&self) -> bool {
        self.slots.proven()
    }

    /// The boxes.
    #[getter]
    fn boxes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        boxes(py, &self.grid, &self.slots.boxes)
    }

    /// The moves that make room for them: the job, what it holds before, and after. In an order in
    /// which they can be carried out.
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
        format!("<Slots {} of at most {}>", self.slots.boxes.len(), self.slots.bound)
    }
}
