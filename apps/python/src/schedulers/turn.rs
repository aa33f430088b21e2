//! The arguments passed to a scheduler: the queue, the running jobs, and a view of the machine.
//!
//! These Python objects contain no data. They refer to data that the calling thread provides for
//! the duration of the call. Nothing is copied, and using an object after the call raises an error.

// The methods ignore `self`, because the objects do not contain the data they present.
#![allow(clippy::unused_self)]

use std::sync::atomic::{AtomicUsize, Ordering};

use pavior::scheduling::{MachineView as View, Queue as Waiting, Running as Started, RunningJob};
use pavior::workload::{Family, ShapeRule, TimeUnit};
use pavior::{JobId, Machine, Refusal, Time};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use scoped_tls_hkt::scoped_thread_local;

use super::job::{Job, table};
use crate::arrays::{boxes, free_nodes, word};
use crate::errors::{broken, failed};
use crate::geometry;
use crate::jobs::Jobs;
use crate::machine::Machine as PyMachine;
use crate::shared_state::SharedState;
use crate::table::Table;

/// The data for one call from the engine to a scheduler.
pub(super) trait Turn {
    fn queue(&self) -> &Waiting;
    fn running(&self) -> &Started;
    fn machine(&self) -> &Machine;
    /// Checks whether the job at a queue index could start now. Each check counts as an attempt in
    /// the metrics.
    fn ask(&mut self, index: usize) -> Result<(), Refusal>;
}

/// The data that the engine provides for a call. This is the only implementation of [`Turn`].
pub(super) struct Question<'q, 'm> {
    pub(super) queue: &'q Waiting,
    pub(super) running: &'q Started,
    pub(super) view: &'q mut View<'m>,
}

impl Turn for Question<'_, '_> {
    fn queue(&self) -> &Waiting {
        self.queue
    }

    fn running(&self) -> &Started {
        self.running
    }

    fn machine(&self) -> &Machine {
        self.view.machine()
    }

    fn ask(&mut self, index: usize) -> Result<(), Refusal> {
        self.view.can_start(self.queue.get(index).expect("the index was checked"))
    }
}

scoped_thread_local!(pub(super) static mut TURN: for<'t> &'t mut dyn Turn);

/// Accesses the data for this thread's current call.
fn turn<T>(look: impl FnOnce(&mut dyn Turn) -> PyResult<T>) -> PyResult<T> {
    if !TURN.is_set() {
        let message = "the queue, the running jobs and the view can be used only inside `next`";
        return Err(broken(message));
    }
    TURN.with(look)
}

/// Converts an index in a Python sequence to a position. Negative indices count from the end.
fn place(index: isize, length: usize) -> PyResult<usize> {
    let from_start = if index < 0 { index.saturating_add_unsigned(length) } else { index };
    let place = usize::try_from(from_start).ok().filter(|&place| place < length);
    place.ok_or_else(|| {
        PyIndexError::new_err(format!("index {index} is out of range for {length} jobs"))
    })
}

/// Describes a sequence of jobs, even one that is no longer valid.
fn description(name: &str, length: PyResult<usize>) -> String {
    match length {
        Ok(length) => format!("<{name} of {length} jobs>"),
        Err(_) => format!("<{name}, usable only within `next`>"),
    }
}

/// The waiting jobs, oldest first.
#[pyclass(frozen, sequence, module = "pavior")]
pub(crate) struct Queue {
    pub(super) unit: TimeUnit,
}

#[pymethods]
impl Queue {
    fn __len__(&self) -> PyResult<usize> {
        turn(|turn| Ok(turn.queue().len()))
    }

    fn __getitem__(&self, index: isize) -> PyResult<Job> {
        turn(|turn| {
            let index = place(index, turn.queue().len())?;
            let job = turn.queue().get(index).expect("the index was checked").clone();
            Ok(Job::waiting(job, self.unit, turn.machine().grid().axes()))
        })
    }

    fn __iter__(&self) -> QueueIterator {
        QueueIterator { unit: self.unit, next: AtomicUsize::new(0) }
    }

    fn __repr__(&self) -> String {
        description("Queue", self.__len__())
    }

    /// Returns a table of the jobs with the columns `id`, `job`, `submit`, `nodes`, `estimate`,
    /// `x`, `y` and `z`.
    fn table(&self) -> PyResult<Table> {
        turn(|turn| table(&turn.queue().iter().collect::<Vec<_>>(), None, self.unit))
    }
}

/// An iterator over the queue that creates the jobs one at a time.
#[pyclass(frozen, module = "pavior._native")]
pub(crate) struct QueueIterator {
    unit: TimeUnit,
    next: AtomicUsize,
}

#[pymethods]
impl QueueIterator {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__(&self) -> PyResult<Option<Job>> {
        let index = self.next.fetch_add(1, Ordering::Relaxed);
        turn(|turn| {
            let job = turn.queue().get(index).cloned();
            let axes = turn.machine().grid().axes();
            Ok(job.map(|job| Job::waiting(job, self.unit, axes)))
        })
    }
}

/// The running jobs, in order of estimated end.
#[pyclass(frozen, sequence, module = "pavior")]
pub(crate) struct Running {
    pub(super) unit: TimeUnit,
}

#[pymethods]
impl Running {
    fn __len__(&self) -> PyResult<usize> {
        turn(|turn| Ok(turn.running().len()))
    }

    fn __getitem__(&self, index: isize) -> PyResult<Job> {
        turn(|turn| {
            let index = place(index, turn.running().len())?;
            let running = turn.running().by_estimated_end().nth(index);
            let running = running.expect("the index was checked");
            Ok(Job::running(running, self.unit, turn.machine().grid().axes()))
        })
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let jobs: Vec<Job> = turn(|turn| {
            let axes = turn.machine().grid().axes();
            let job = |running: &RunningJob| Job::running(running, self.unit, axes);
            Ok(turn.running().by_estimated_end().map(job).collect())
        })?;
        Ok(PyTuple::new(py, jobs)?.try_iter()?.into_any())
    }

    fn __repr__(&self) -> String {
        description("Running", self.__len__())
    }

    /// Returns a table of the jobs, with the columns of the queue's table plus `start` and
    /// `estimated_end`.
    fn table(&self) -> PyResult<Table> {
        turn(|turn| {
            let running: Vec<&RunningJob> = turn.running().by_estimated_end().collect();
            let times: Vec<(Time, Time)> =
                running.iter().map(|running| (running.start, running.estimated_end())).collect();
            let jobs: Vec<_> = running.iter().map(|running| &running.job).collect();
            table(&jobs, Some(&times), self.unit)
        })
    }
}

/// The machine as presented to a scheduler. Calls to `can_start` and `refusal` count as attempts in
/// the metrics.
#[pyclass(frozen, module = "pavior")]
pub(crate) struct MachineView {}

impl MachineView {
    /// Checks whether the job at a queue index could start now.
    fn ask(py: Python<'_>, index: isize) -> PyResult<Result<(), Refusal>> {
        turn(|turn| {
            let length = turn.queue().len();
            let answer = turn.ask(place(index, length)?);
            turn.machine().error().map_or(Ok(answer), |error| Err(failed(py, &error)))
        })
    }
}

#[pymethods]
impl MachineView {
    /// Returns True if the job at the given queue index could start now.
    fn can_start(&self, py: Python<'_>, index: isize) -> PyResult<bool> {
        Ok(MachineView::ask(py, index)?.is_ok())
    }

    /// Returns the reason why the job at the given queue index cannot start now, or None if it can.
    fn refusal(&self, py: Python<'_>, index: isize) -> PyResult<Option<Py<PyAny>>> {
        Ok(MachineView::ask(py, index)?.err().map(|refusal| word(py, refusal)))
    }

    /// The name of the machine, such as `torus:8x8x8`.
    #[getter]
    fn machine(&self) -> PyResult<String> {
        turn(|turn| Ok(turn.machine().grid().to_string()))
    }

    /// The sides of the machine.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let grid = turn(|turn| Ok(*turn.machine().grid()))?;
        geometry::tuple(py, grid.sides(), grid.axes())
    }

    /// The number of free, healthy nodes.
    #[getter]
    fn free(&self) -> PyResult<u32> {
        turn(|turn| Ok(turn.machine().free().count()))
    }

    /// Returns the boxes of the running job with the given `id`, or None if the job holds no boxes.
    fn boxes<'py>(&self, py: Python<'py>, id: u64) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let held = turn(|turn| {
            let placement = turn.machine().placement(JobId(id)).cloned();
            Ok(placement.map(|placement| (*turn.machine().grid(), placement)))
        })?;
        held.map(|(grid, placement)| boxes(py, &grid, placement.parts())).transpose()
    }

    /// Returns a new array `[z, y, x]` that is True at free nodes. Requires numpy.
    fn occupancy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        turn(|turn| free_nodes(py, turn.machine().free()))
    }

    /// Returns a copy of the machine for trying out a plan. Each job's name is its `id`.
    fn fork(&self, py: Python<'_>) -> PyResult<PyMachine> {
        let machine = turn(|turn| Ok(turn.machine().clone()))?;
        machine.error().map_or(Ok(()), |error| Err(failed(py, &error)))?;
        // Jobs are numbered from 0 in order of arrival, so a job's number can serve as its name.
        let rule = pavior::workload::Selection::defaults(ShapeRule::builtin()[0]);
        Ok(PyMachine::of(SharedState::new(machine, Jobs::default(), rule, 1)))
    }
}
