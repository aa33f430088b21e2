//! Exposes experiments as pure functions, so that any execution engine can list their replications
//! and run them.

use std::collections::HashMap;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use pavior::experiments::{Folder, LeftOut, Span as Wanted, Specification as Experiment};
use pavior::files::Limits;
use pavior::simulation::Stop;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};

use crate::definition::Definition;
use crate::errors::{bad_name, input_error};
use crate::extensions::Extensions;
use crate::interrupt::{interruptible, interruptible_own};
use crate::journal::Journal;
use crate::progress::Progress;
use crate::results::Results;
use crate::span::Span;
use crate::trace::Trace;

/// An experiment, its points, and the rule that decides how often each point is run.
#[pyclass(frozen, module = "pavior")]
pub(crate) struct Specification {
    pub(crate) shared: Arc<Definition>,
    pub(crate) text: String,
    folder: PathBuf,
    pub(crate) fingerprint: String,
    classes: Vec<Py<PyAny>>,
    /// The in-memory logs, keyed by their names in the experiment's text.
    logs: HashMap<String, Py<Trace>>,
}

#[pymethods]
impl Specification {
    #[new]
    #[pyo3(signature = (
        text, *, folder = PathBuf::new(), name = "experiment", classes = Vec::new(),
        logs = HashMap::new()
    ))]
    #[pyo3(text_signature = "(text, *, folder='', name='experiment', classes=(), logs={})")]
    fn new(
        py: Python<'_>,
        text: String,
        folder: PathBuf,
        name: &str,
        classes: Vec<Py<PyAny>>,
        logs: HashMap<String, Py<Trace>>,
    ) -> PyResult<Specification> {
        let mut extensions = Extensions::default();
        for class in &classes {
            extensions.add(class.bind(py))?;
        }
        let experiment = Experiment::parse_with(&text, name, &extensions.catalogue)
            .map_err(|error| bad_name(&text, error.reason, error.span))?;
        extensions.settle(&experiment)?;
        let inputs =
            logs.iter().fold(Folder::new(&folder, Limits::LINES), |inputs, (name, log)| {
                inputs.with_log(name, Arc::clone(&log.get().trace))
            });
        let shared = Arc::new(Definition::new(experiment, inputs));
        let read = shared.clone();
        let read = move || read.experiment.fingerprint(&read.inputs);
        let fingerprint = interruptible(py, || (), read)?;
        let fingerprint = fingerprint.map_err(|error| input_error(py, &error))?;
        Ok(Specification { shared, text, folder, fingerprint, classes, logs })
    }

    /// The text of the experiment file.
    #[getter]
    fn text(&self) -> &str {
        &self.text
    }

    /// The experiment's name, as it appears in files.
    #[getter]
    fn name(&self) -> &str {
        &self.shared.experiment.name
    }

    /// The directory that contains the experiment's logs.
    #[getter]
    fn folder(&self) -> String {
        self.folder.display().to_string()
    }

    /// The user-defined strategies and schedulers.
    #[getter]
    fn classes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.classes.iter().map(|class| class.clone_ref(py)))
    }

    /// The names of the in-memory logs.
    #[getter]
    fn logs(&self) -> Vec<&String> {
        self.logs.keys().collect()
    }

    /// The fingerprint. Experiments with the same fingerprint have interchangeable replications.
    #[getter]
    fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// The values of the parameters that are set at each point.
    #[getter]
    fn points(&self) -> Vec<HashMap<&'static str, String>> {
        let of = |point: &pavior::experiments::Point| {
            point.set().map(|(parameter, value)| (parameter.name, value.to_string())).collect()
        };
        self.shared.experiment.points.iter().map(of).collect()
    }

    /// The combinations that `skip_unsupported` left out. Each has a parameter, its value, the
    /// machine, and the reason.
    #[getter]
    fn skipped(&self) -> Vec<HashMap<&'static str, String>> {
        let of = |one: &LeftOut| {
            HashMap::from([
                ("parameter", one.parameter.to_string()),
                ("value", one.value.clone()),
                ("machine", one.machine.clone()),
                ("reason", one.reason.clone()),
            ])
        };
        self.shared.experiment.left_out.iter().map(of).collect()
    }

    /// Returns the spans that remain to be run, except those in progress (`without`). The list is
    /// empty once everything is done, and depends only on `without` and the known replications.
    #[pyo3(signature = (journal, *, without = Vec::new()))]
    #[pyo3(text_signature = "($self, journal, *, without=())")]
    fn wanted(
        &self,
        py: Python<'_>,
        journal: &Journal,
        without: Vec<PyRef<'_, Span>>,
    ) -> PyResult<Vec<Span>> {
        let known = journal.entries()?;
        let spans = py.detach(|| self.shared.experiment.wanted(known));
        let mut wanted = Vec::new();
        for Wanted { point, first, end } in spans {
            let under_way = without.iter().filter(|span| span.point == point);
            let under_way = under_way.map(|span| span.first..span.end).collect();
            let left = subtract(first..end, under_way).into_iter();
            wanted.extend(left.map(|Range { start, end }| Span { point, first: start, end }));
        }
        Ok(wanted)
    }

    /// Runs the replications in a span, and returns the lines to add to the journal. Except for
    /// measured times, the lines are the same on every worker and in every call.
    #[pyo3(signature = (span, *, cancelled = None))]
    fn replicate<'py>(
        &self,
        py: Python<'py>,
        span: &Span,
        cancelled: Option<&Cancel>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let stop = cancelled.map(|cancel| cancel.stop.clone()).unwrap_or_default();
        let (shared, stopped, span) = (self.shared.clone(), stop.clone(), *span);
        let work = move || shared.lines(span, &stopped);
        let on_signal = || stop.set();
        let lines = if self.classes.is_empty() {
            interruptible(py, on_signal, work)
        } else {
            interruptible_own(py, on_signal, || Ok(()), || stop.is_set(), work)
        };
        let lines = lines?.map_err(|error| self.shared.raised(py, error))?;
        Ok(PyBytes::new(py, lines.as_bytes()))
    }

    /// Returns the progress of a sweep.
    fn progress(&self, py: Python<'_>, journal: &Journal, seconds: f64) -> PyResult<Progress> {
        let known = journal.entries()?;
        let done = known.len() as u64;
        let wanted = py.detach(|| self.shared.experiment.wanted(known));
        let mut open: Vec<usize> = wanted.iter().map(|span| span.point).collect();
        open.dedup();
        let missing: u64 = wanted.iter().map(Wanted::runs).sum();
        let points = self.shared.experiment.points.len();
        let points_done = points - open.len();
        Ok(Progress { done, planned: done + missing, points_done, points, seconds })
    }

    /// Returns the results. Raises `ValueError` if replications are missing.
    fn results(&self, journal: &Journal) -> PyResult<Results> {
        let samples = self.shared.experiment.complete(journal.entries()?);
        let samples = samples.map_err(|wanted| {
            let missing: u64 = wanted.iter().map(Wanted::runs).sum();
            PyValueError::new_err(format!("{missing} replications are still missing"))
        })?;
        Results::new(self.shared.clone(), samples)
    }

    fn __repr__(&self) -> String {
        let experiment = &self.shared.experiment;
        format!("<Specification {}: {} points>", experiment.name, experiment.points.len())
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let (py, own) = (slf.py(), slf.get());
        if !own.logs.is_empty() {
            let reason = "a Trace cannot be sent to another process; pass its file's path instead";
            return Err(PyTypeError::new_err(reason));
        }
        let named = PyDict::new(py);
        named.set_item("folder", own.folder())?;
        named.set_item("name", own.name())?;
        named.set_item("classes", own.classes(py)?)?;
        let again = (slf.get_type(), own.text());
        let rebuild = py.import("functools")?.call_method("partial", again, Some(&named))?;
        Ok((rebuild, PyTuple::empty(py)))
    }
}

/// A handle for canceling a `replicate` call in another thread.
#[pyclass(frozen, module = "pavior")]
#[derive(Default)]
pub(crate) struct Cancel {
    stop: Stop,
}

#[pymethods]
impl Cancel {
    #[new]
    fn new() -> Cancel {
        Cancel::default()
    }

    /// Requests cancellation.
    fn cancel(&self) {
        self.stop.set();
    }

    /// True if cancellation has been requested.
    #[getter]
    fn cancelled(&self) -> bool {
        self.stop.is_set()
    }
}

/// Returns, in order, the parts of a range that no other range covers.
fn subtract(from: Range<u64>, mut others: Vec<Range<u64>>) -> Vec<Range<u64>> {
    others.sort_unstable_by_key(|other| (other.start, other.end));
    let (mut left, mut start) = (Vec::new(), from.start);
    for other in others.into_iter().chain(std::iter::once(from.end..from.end)) {
        let end = other.start.min(from.end);
        if start < end {
            left.push(start..end);
        }
        start = start.max(other.end);
    }
    left
}
