//! Experiments, and the replications that they want: pure functions that any engine can call.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use pavior_experiments::{JournalEntry, Scenario, Span as Wanted, Specification as Experiment};
use pavior_simulation::{Histories, RunError, Stop};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};

use crate::custom::Own;
use crate::errors::{bad_name, other, stopped, value};
use crate::inputs::Inputs;
use crate::interrupt::{interruptible, interruptible_own};
use crate::results::Results;

/// Some replications of one point: the unit of work.
#[pyclass(frozen, eq, hash, module = "pavior")]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Span {
    /// The index of the point.
    #[pyo3(get)]
    point: usize,
    /// The first replication.
    #[pyo3(get)]
    first: u64,
    /// Behind the last replication.
    #[pyo3(get)]
    last: u64,
}

#[pymethods]
impl Span {
    #[new]
    fn new(point: usize, first: u64, last: u64) -> PyResult<Span> {
        if first >= last {
            return Err(value(format!("{first} to {last} is no span of replications")));
        }
        Ok(Span { point, first, last })
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyAny>, (usize, u64, u64)) {
        let Span { point, first, last } = *slf.get();
        (slf.get_type().into_any(), (point, first, last))
    }

    fn __repr__(&self) -> String {
        format!("Span({}, {}, {})", self.point, self.first, self.last)
    }
}

/// Asks `replicate` in another thread to end.
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

/// The replications that are known.
#[pyclass(frozen, module = "pavior")]
#[derive(Default)]
pub(crate) struct Journal {
    entries: Mutex<Vec<JournalEntry>>,
}

impl Journal {
    pub(crate) fn of(entries: Vec<JournalEntry>) -> Journal {
        Journal { entries: Mutex::new(entries) }
    }

    /// What is known, in the order in which it came.
    fn entries(&self) -> PyResult<Vec<JournalEntry>> {
        Ok(self.lock()?.clone())
    }

    fn lock(&self) -> PyResult<std::sync::MutexGuard<'_, Vec<JournalEntry>>> {
        self.entries.lock().map_err(|_| value("an earlier call failed in the middle of a change"))
    }
}

/// The entries of lines that `replicate` gave.
pub(crate) fn entries(lines: &[u8]) -> PyResult<Vec<JournalEntry>> {
    let text = std::str::from_utf8(lines).map_err(value)?;
    let entry = |(number, line): (usize, &str)| {
        let wrong = || value(format!("line {} is not one that `replicate` gives", number + 1));
        JournalEntry::parse(line).ok_or_else(wrong)
    };
    text.lines().enumerate().map(entry).collect()
}

#[pymethods]
impl Journal {
    #[new]
    fn new() -> Journal {
        Journal::default()
    }

    /// Adds lines that `replicate` gave; returns how many. A line that is not whole is an error, and
    /// nothing is added.
    fn add(&self, lines: &[u8]) -> PyResult<usize> {
        let added = entries(lines)?;
        let count = added.len();
        self.lock()?.extend(added);
        Ok(count)
    }

    fn __len__(&self) -> PyResult<usize> {
        Ok(self.lock()?.len())
    }
}

/// How far a sweep is.
#[pyclass(frozen, get_all, module = "pavior")]
pub(crate) struct Progress {
    /// Replications that are known.
    done: u64,
    /// Replications that are known or wanted.
    planned: u64,
    /// Points that want nothing more.
    points_done: usize,
    /// All points.
    points: usize,
    /// Seconds since the beginning.
    seconds: f64,
}

/// What an experiment is, shared by the threads that run it.
pub(crate) struct Shared {
    pub(crate) experiment: Experiment,
    inputs: Inputs,
    histories: Histories,
    scenarios: Mutex<HashMap<usize, Arc<Scenario>>>,
}

/// Why a span gave no lines.
enum Fault {
    Words(String),
    Run(usize, u64, RunError),
}

impl Shared {
    fn scenario(&self, point: usize) -> Result<Arc<Scenario>, String> {
        let mut scenarios = self.scenarios.lock().map_err(|_| "a scenario failed".to_string())?;
        if let Some(scenario) = scenarios.get(&point) {
            return Ok(scenario.clone());
        }
        let Experiment { points, catalogue, timing, .. } = &self.experiment;
        let values = points.get(point);
        let values = values.ok_or_else(|| format!("the experiment has no point {point}"))?;
        let scenario = Scenario::new(values, catalogue, *timing, &self.inputs, &self.histories);
        let scenario = Arc::new(scenario.map_err(|error| error.to_string())?);
        scenarios.insert(point, scenario.clone());
        Ok(scenario)
    }

    /// The lines of a span.
    fn lines(&self, span: Span, stop: &Stop) -> Result<String, Fault> {
        let Span { point, first, last } = span;
        let scenario = self.scenario(point).map_err(Fault::Words)?;
        let mut lines = String::new();
        for replication in first..last {
            let sample = self
                .experiment
                .replicate(point, &scenario, replication, stop)
                .map_err(|error| Fault::Run(point, replication, error))?;
            lines += &JournalEntry { point, replication, sample }.line();
            lines.push('\n');
        }
        Ok(lines)
    }

    fn raised(&self, py: Python<'_>, fault: Fault) -> PyErr {
        match fault {
            Fault::Words(words) => other(py, words),
            Fault::Run(point, replication, error) => {
                let key = self.experiment.points[point].key();
                stopped(py, &error, &format!("replication {replication} of {key}: "))
            }
        }
    }
}

/// An experiment: its points, and the rule that says how often each is replicated.
#[pyclass(frozen, module = "pavior")]
pub(crate) struct Specification {
    pub(crate) shared: Arc<Shared>,
    pub(crate) text: String,
    folder: PathBuf,
    pub(crate) fingerprint: String,
    classes: Vec<Py<PyAny>>,
}

#[pymethods]
impl Specification {
    #[new]
    #[pyo3(signature = (text, *, folder = PathBuf::new(), name = "experiment", classes = Vec::new()))]
    #[pyo3(text_signature = "(text, *, folder='', name='experiment', classes=())")]
    fn new(
        py: Python<'_>,
        text: String,
        folder: PathBuf,
        name: &str,
        classes: Vec<Py<PyAny>>,
    ) -> PyResult<Specification> {
        let mut own = Own::default();
        for class in &classes {
            own.add(class.bind(py))?;
        }
        let experiment = Experiment::parse_with(&text, name, &own.catalogue)
            .map_err(|error| bad_name(py, &text, error.reason, error.span))?;
        own.settle(&experiment)?;
        let inputs = Inputs::new(&folder);
        let shared = Arc::new(Shared {
            experiment,
            inputs,
            histories: Histories::default(),
            scenarios: Mutex::default(),
        });
        let own = shared.clone();
        let read = move || own.experiment.fingerprint(&own.inputs).map_err(|e| e.to_string());
        let fingerprint = interruptible(py, || (), read)?.map_err(|reason| other(py, reason))?;
        Ok(Specification { shared, text, folder, fingerprint, classes })
    }

    /// The text that describes it.
    #[getter]
    fn text(&self) -> &str {
        &self.text
    }

    /// The word that names it in files.
    #[getter]
    fn name(&self) -> &str {
        &self.shared.experiment.name
    }

    /// The folder of its logs.
    #[getter]
    fn folder(&self) -> String {
        self.folder.display().to_string()
    }

    /// The strategies and schedulers of its own.
    #[getter]
    fn classes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.classes.iter().map(|class| class.clone_ref(py)))
    }

    /// Equal for experiments whose replications may be mixed.
    #[getter]
    fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// The values of the parameters that are set at each point.
    #[getter]
    fn points(&self) -> Vec<HashMap<&'static str, String>> {
        let of = |point: &pavior_experiments::Point| {
            point.set().map(|(parameter, value)| (parameter.name, value.to_string())).collect()
        };
        self.shared.experiment.points.iter().map(of).collect()
    }

    /// What is still to be run, without the spans that are under way; empty when all is. A pure
    /// function of the replications known.
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
        for Wanted { point, first, last } in spans {
            let under_way = without.iter().filter(|span| span.point == point);
            let mut taken: Vec<(u64, u64)> =
                under_way.map(|span| (span.first, span.last)).collect();
            taken.sort_unstable();
            let (mut from, end) = (first, last + 1);
            for (begin, behind) in taken {
                if from < begin.min(end) {
                    wanted.push(Span { point, first: from, last: begin.min(end) });
                }
                from = from.max(behind);
            }
            if from < end {
                wanted.push(Span { point, first: from, last: end });
            }
        }
        Ok(wanted)
    }

    /// Runs the replications of a span; returns the journal's lines. The same on every worker,
    /// however often it is run, but for measured times.
    #[pyo3(signature = (span, *, cancelled = None))]
    fn replicate<'py>(
        &self,
        py: Python<'py>,
        span: &Span,
        cancelled: Option<&Cancel>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let stop = cancelled.map(|cancel| cancel.stop.clone()).unwrap_or_default();
        let (shared, own, span) = (self.shared.clone(), stop.clone(), *span);
        let (stops, lines) = (|| stop.set(), move || shared.lines(span, &own));
        let lines = if self.classes.is_empty() {
            interruptible(py, stops, lines)
        } else {
            interruptible_own(py, stops, || stop.is_set(), lines)
        };
        let lines = lines?.map_err(|fault| self.shared.raised(py, fault))?;
        Ok(PyBytes::new(py, lines.as_bytes()))
    }

    /// How far a sweep is.
    fn progress(&self, py: Python<'_>, journal: &Journal, seconds: f64) -> PyResult<Progress> {
        let known = journal.entries()?;
        let done = known.len() as u64;
        let wanted = py.detach(|| self.shared.experiment.wanted(known));
        let mut open: Vec<usize> = wanted.iter().map(|span| span.point).collect();
        open.dedup();
        let missing: u64 = wanted.iter().map(|span| span.last + 1 - span.first).sum();
        let points = self.shared.experiment.points.len();
        let points_done = points - open.len();
        Ok(Progress { done, planned: done + missing, points_done, points, seconds })
    }

    /// The results; `ValueError` if replications are still wanted.
    fn results(&self, journal: &Journal) -> PyResult<Results> {
        let samples = self.shared.experiment.complete(journal.entries()?);
        let samples = samples.map_err(|wanted| {
            let missing: u64 = wanted.iter().map(|span| span.last + 1 - span.first).sum();
            PyValueError::new_err(format!("{missing} replications are still wanted"))
        })?;
        Results::new(self.shared.clone(), samples)
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let (py, own) = (slf.py(), slf.get());
        let named = PyDict::new(py);
        named.set_item("folder", own.folder())?;
        named.set_item("name", own.name())?;
        named.set_item("classes", own.classes(py)?)?;
        let again = (slf.get_type(), own.text());
        let rebuild = py.import("functools")?.call_method("partial", again, Some(&named))?;
        Ok((rebuild, PyTuple::empty(py)))
    }
}
