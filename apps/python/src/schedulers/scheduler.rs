//! Schedulers and priority functions written in Python.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use pavior::names::CallerError;
use pavior::scheduling::{
    BuildScheduler, Entry, MachineView, Priority, Queue as Waiting, Registry, Running as Started,
    Scheduler, SchedulerKind, Start,
};
use pavior::workload::TimeUnit;
use pavior::{Grid, Placement, Time};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyInt, PyTuple};

use super::job::Job;
use super::turn::{MachineView as PyView, Question, Queue, Running, TURN};
use crate::arguments::shown;
use crate::errors::{broken, value};
use crate::strategies::{lasting, placement};

/// A run's time unit, which is set after its experiment has been read.
pub(crate) type Unit = Arc<OnceLock<TimeUnit>>;

/// A scheduler that is an instance of a Python class. Each decision calls the scheduler's `next`
/// method with three objects that are created once per run.
struct InPython {
    next: Py<PyAny>,
    queue: Py<Queue>,
    running: Py<Running>,
    view: Py<PyView>,
    unit: TimeUnit,
    error: Option<CallerError>,
}

impl InPython {
    fn new(object: &Bound<'_, PyAny>, unit: TimeUnit) -> PyResult<InPython> {
        let py = object.py();
        Ok(InPython {
            next: object.getattr("next")?.unbind(),
            queue: Py::new(py, Queue { unit })?,
            running: Py::new(py, Running { unit })?,
            view: Py::new(py, PyView {})?,
            unit,
            error: None,
        })
    }

    fn ask(&self, py: Python<'_>, now: Time, grid: &Grid) -> PyResult<Option<Start>> {
        let now = self.unit.units(now);
        let answer = self.next.bind(py).call1((now, &self.queue, &self.running, &self.view))?;
        start(&answer, grid)
    }
}

/// Reads the result of `next`, which is None, an index in the queue, or an index and boxes.
fn start(answer: &Bound<'_, PyAny>, grid: &Grid) -> PyResult<Option<Start>> {
    let wrong = || {
        let message = "`next` must return None, an index into the queue, or an index and boxes";
        broken(format!("{message}, not {}", shown(answer)))
    };
    if answer.is_none() {
        return Ok(None);
    }
    let place = |index: &Bound<'_, PyAny>| -> PyResult<usize> {
        if index.cast::<PyInt>().is_err() || index.cast::<PyBool>().is_ok() {
            return Err(wrong());
        }
        index.extract::<usize>().map_err(|_| wrong())
    };
    let Ok(pair) = answer.cast::<PyTuple>() else { return Ok(Some(Start::at(place(answer)?))) };
    if pair.len() != 2 {
        return Err(wrong());
    }
    let placement: Option<Placement> = placement(&pair.get_item(1)?, grid, wrong)?;
    Ok(Some(Start { index: place(&pair.get_item(0)?)?, placement }))
}

impl Scheduler for InPython {
    fn next(
        &mut self,
        now: Time,
        queue: &Waiting,
        running: &Started,
        view: &mut MachineView<'_>,
    ) -> Option<Start> {
        if self.error.is_some() {
            return None;
        }
        let grid = *view.machine().grid();
        let mut question = Question { queue, running, view };
        let answer = TURN.set(&mut question, || Python::attach(|py| self.ask(py, now, &grid)));
        answer.unwrap_or_else(|error| {
            self.error = Some(CallerError::new(error));
            None
        })
    }

    fn error(&self) -> Option<CallerError> {
        self.error.clone()
    }
}

/// A scheduler that orders jobs by keys from a Python function.
struct ByKey {
    inner: Priority,
    /// The number of axes in shapes, stored here because the key function receives only a job.
    axes: Arc<AtomicUsize>,
}

impl ByKey {
    fn new(function: Py<PyAny>, backfill: bool, unit: TimeUnit) -> ByKey {
        let axes = Arc::new(AtomicUsize::new(0));
        let seen = axes.clone();
        let key = move |job: &pavior::workload::Job| {
            let job = Job::waiting(job.clone(), unit, seen.load(Ordering::Relaxed));
            Python::attach(|py| function.bind(py).call1((job,))?.extract::<f64>())
                .map_err(CallerError::new)
        };
        ByKey { inner: Priority::new(Box::new(key), backfill), axes }
    }
}

impl Scheduler for ByKey {
    fn next(
        &mut self,
        now: Time,
        queue: &Waiting,
        running: &Started,
        view: &mut MachineView<'_>,
    ) -> Option<Start> {
        self.axes.store(view.machine().grid().axes(), Ordering::Relaxed);
        self.inner.next(now, queue, running, view)
    }

    fn error(&self) -> Option<CallerError> {
        self.inner.error()
    }
}

/// The kind of the caller's scheduler.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    /// A class with `next`.
    Scheduler,
    /// A class with `key`.
    Priority,
    /// A function that takes a job.
    Function,
}

/// Adds a class or a function to a registry under a given name.
pub(crate) fn register(
    own: &Bound<'_, PyAny>,
    kind: Kind,
    name: &str,
    registry: &mut Registry,
    unit: &Unit,
) -> PyResult<()> {
    let (own, unit) = (own.clone().unbind(), unit.clone());
    let build = move || -> PyResult<Box<dyn Scheduler>> {
        let unit = unit.get().copied().unwrap_or(TimeUnit::TIME_UNIT);
        Python::attach(|py| {
            Ok(match kind {
                Kind::Function => Box::new(ByKey::new(own.clone_ref(py), false, unit)) as _,
                Kind::Scheduler => Box::new(InPython::new(&own.bind(py).call0()?, unit)?) as _,
                Kind::Priority => {
                    let object = own.bind(py).call0()?;
                    let backfill = object.getattr("backfill")?.extract()?;
                    Box::new(ByKey::new(object.getattr("key")?.unbind(), backfill, unit)) as _
                }
            })
        })
    };
    let build = BuildScheduler::Closure(Arc::new(move |_| build().map_err(CallerError::new)));
    let entry =
        Entry { source: "written in Python", ..Entry::new(lasting(name), SchedulerKind { build }) };
    registry.add(entry).map(drop).map_err(value)
}
