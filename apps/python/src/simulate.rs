//! One run, as tables.

use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, StringArray};
use pavior_experiments::{Keys, Point, RunRecord, Scenario, Setting, Specification};
use pavior_simulation::{Histories, JobRecord, RunError, Stop};
use pavior_workload::TimeUnit;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};

use crate::errors::{bad_name, other, stopped, value};
use crate::inputs::Inputs;
use crate::interrupt::{interruptible, interruptible_own};
use crate::own::Own;
use crate::table::Table;
use crate::trace::Trace;
use crate::{records, steps};

/// The name under which a log that is in memory stands in a point.
const IN_MEMORY: &str = "table";

/// What one run came to.
#[pyclass(frozen, name = "Result", module = "pavior")]
pub(crate) struct Outcome {
    point: Point,
    metrics: Vec<(&'static str, Option<f64>, &'static str)>,
    record: RunRecord,
    jobs: PyOnceLock<Py<Table>>,
    placements: PyOnceLock<Py<Table>>,
}

impl Outcome {
    fn once(
        &self,
        py: Python<'_>,
        cell: &PyOnceLock<Py<Table>>,
        make: fn(&[JobRecord], TimeUnit) -> PyResult<Table>,
    ) -> PyResult<Py<Table>> {
        let table = cell.get_or_try_init(py, || {
            Py::new(py, py.detach(|| make(self.jobs_in_order(), self.point.unit()))?)
        })?;
        Ok(table.clone_ref(py))
    }

    fn jobs_in_order(&self) -> &[JobRecord] {
        &self.record.jobs
    }
}

#[pymethods]
impl Outcome {
    /// A row a metric: `metric`, `value` (null where it does not apply), `unit`.
    #[getter]
    fn metrics(&self) -> PyResult<Table> {
        let all = || self.metrics.iter();
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("metric", Arc::new(all().map(|(name, ..)| Some(*name)).collect::<StringArray>())),
            ("value", Arc::new(all().map(|(_, value, _)| *value).collect::<Float64Array>())),
            ("unit", Arc::new(all().map(|(.., unit)| Some(*unit)).collect::<StringArray>())),
        ];
        Table::new(columns, self.unit())
    }

    /// A row a job, in the order of arrival; see `records`. Made once.
    #[getter]
    fn jobs(&self, py: Python<'_>) -> PyResult<Py<Table>> {
        self.once(py, &self.jobs, records::jobs)
    }

    /// A row a box that a job held. Made once.
    #[getter]
    fn placements(&self, py: Python<'_>) -> PyResult<Py<Table>> {
        self.once(py, &self.placements, records::placements)
    }

    /// How many nodes were `busy`, how many jobs waited (`queue`), or the nodes of the largest free
    /// box (`largest_free`): a row a change, `time` and `value`. Not of runs with failures of
    /// nodes.
    fn steps(&self, py: Python<'_>, metric: &str) -> PyResult<Table> {
        let settings = self.point.settings();
        if settings.jobs().is_some_and(|jobs| jobs.failures.is_some()) {
            return Err(value("jobs that were interrupted held nodes that are in no table"));
        }
        let grid = settings.machine;
        let jobs = self.jobs_in_order();
        let steps = py.detach(|| match metric {
            "busy" => Some(steps::busy(jobs)),
            "queue" => Some(steps::queue(jobs)),
            "largest_free" => Some(steps::largest_free(jobs, grid)),
            _ => None,
        });
        let unknown = || value(format!("`{metric}` is none of busy, queue, largest_free"));
        steps::table(&steps.ok_or_else(unknown)?, self.point.unit())
    }

    /// The last departure, in units; 0 if no job departed.
    #[getter]
    fn end(&self) -> f64 {
        let end = self.jobs_in_order().iter().filter_map(|job| records::span(job)?.1).max();
        end.map_or(0.0, |end| self.point.unit().units(end))
    }

    /// What times are in: `s`, `time_unit` or `cycle`.
    #[getter]
    fn unit(&self) -> &'static str {
        self.point.unit().name
    }

    /// The value of a metric, None where it does not apply; `KeyError` if it was not observed.
    fn __getitem__(&self, metric: &str) -> PyResult<Option<f64>> {
        let found = self.metrics.iter().find(|(name, ..)| *name == metric);
        found.map(|(_, value, _)| *value).ok_or_else(|| {
            let known: Vec<&str> = self.metrics.iter().map(|(name, ..)| *name).collect();
            PyKeyError::new_err(format!(
                "{metric} was not observed; there are {}",
                known.join(", ")
            ))
        })
    }

    fn __repr__(&self) -> String {
        let get = |name| self.point.get(name).unwrap_or_default();
        format!(
            "<Result {} {} {}: {} jobs>",
            get("machine"),
            get("strategy"),
            get("scheduler"),
            self.jobs_in_order().len()
        )
    }
}

/// The settings of keyword arguments: each a value or a list of values; None is left out.
pub(crate) fn settings(parameters: &Bound<'_, PyDict>) -> PyResult<Vec<Setting>> {
    let mut settings = Vec::new();
    for (key, given) in parameters {
        if given.is_none() {
            continue;
        }
        let key: String = key.extract()?;
        let values = match members(&given)? {
            Some(list) => list.iter().map(text).collect::<PyResult<_>>()?,
            None => vec![text(&given)?],
        };
        settings.push(Setting { key: key.replace('_', "-"), values });
    }
    Ok(settings)
}

/// The members of a list, a tuple or an array; none of anything else.
fn members<'py>(given: &Bound<'py, PyAny>) -> PyResult<Option<Vec<Bound<'py, PyAny>>>> {
    if let Ok(list) = given.cast::<PyList>() {
        return Ok(Some(list.iter().collect()));
    }
    if let Ok(tuple) = given.cast::<PyTuple>() {
        return Ok(Some(tuple.iter().collect()));
    }
    if given.hasattr("tolist")? {
        let list = given.call_method0("tolist")?;
        return Ok(list.cast::<PyList>().ok().map(|list| list.iter().collect()));
    }
    Ok(None)
}

/// A value as experiment files have it.
fn text(given: &Bound<'_, PyAny>) -> PyResult<String> {
    if let Ok(switch) = given.extract::<bool>() {
        return Ok(switch.to_string());
    }
    Ok(given.str()?.to_str()?.to_string())
}

/// The experiment of settings; what is wrong is `BadName`.
pub(crate) fn specification(
    py: Python<'_>,
    settings: &[Setting],
    name: &str,
    own: &Own,
) -> PyResult<Specification> {
    let read = Specification::from_settings_with(settings, name, Keys::Plain, &own.catalogue);
    let specification = read.map_err(|error| {
        let setting = error.setting.map(|index| &settings[index]);
        match (setting, error.value) {
            (Some(Setting { key, values }), Some((index, span))) => {
                let reason = format!("{}: {}", key.replace('-', "_"), error.reason);
                bad_name(py, &values[index], reason, span)
            }
            (Some(Setting { key, .. }), None) => bad_name(py, key, error.reason, 0..key.len()),
            (None, _) => bad_name(py, "", error.reason, 0..0),
        }
    })?;
    own.settle(&specification)?;
    Ok(specification)
}

/// What a name, a class or a function is called in an experiment.
fn named(given: Option<&Bound<'_, PyAny>>, usual: &str, own: &mut Own) -> PyResult<String> {
    let Some(given) = given else { return Ok(usual.to_string()) };
    match given.cast::<PyString>() {
        Ok(name) => Ok(name.to_str()?.to_string()),
        Err(_) => own.add(given),
    }
}

/// One run. `strategy` may be a subclass of `Strategy`, `scheduler` one of `Scheduler` or
/// `Priority`, or a function that gives a job its key. `parameters` are the keys of experiment
/// files, `_` for `-`; an unknown one raises `BadName`.
#[pyfunction]
#[pyo3(signature = (
    machine = "mesh:16x16", strategy = None, scheduler = None, *, trace = None, replication = 0,
    **parameters
))]
#[pyo3(text_signature = "(machine='mesh:16x16', strategy='tff', scheduler='fcfs', *, trace=None, \
                         replication=0, **parameters)")]
pub(crate) fn simulate(
    py: Python<'_>,
    machine: &str,
    strategy: Option<&Bound<'_, PyAny>>,
    scheduler: Option<&Bound<'_, PyAny>>,
    trace: Option<&Bound<'_, PyAny>>,
    replication: u64,
    parameters: Option<&Bound<'_, PyDict>>,
) -> PyResult<Outcome> {
    let asked = Asked::new(py, machine, [strategy, scheduler], trace, parameters)?;
    let (stop, timing, own) = (Stop::default(), asked.specification.timing, asked.own);
    let (point, metrics) = (asked.point.clone(), asked.specification.metrics.clone());
    let run = {
        let (metrics, stop) = (metrics.clone(), stop.clone());
        move || -> Result<_, Fault> {
            let scenario = asked.scenario().map_err(Fault::Words)?;
            scenario.record(replication, &metrics, &stop).map_err(Fault::Run)
        }
    };
    let ended = if own {
        interruptible_own(py, || stop.set(), || false, run)
    } else {
        interruptible(py, || stop.set(), run)
    };
    let (sample, record) = ended?.map_err(|fault| match fault {
        Fault::Words(words) => other(py, words),
        Fault::Run(error) => stopped(py, &error, ""),
    })?;
    let unit = point.unit();
    let metrics = metrics
        .iter()
        .zip(sample.values)
        .map(|(spec, value)| (spec.name, value, spec.unit.word(unit)));
    let measured = timing.then_some(("allocation_ns", sample.allocation_ns, "ns"));
    let metrics = metrics.chain(measured).collect();
    let (jobs, placements) = (PyOnceLock::new(), PyOnceLock::new());
    Ok(Outcome { point, metrics, record, jobs, placements })
}

/// Why there is no run.
enum Fault {
    Words(String),
    Run(RunError),
}

/// One combination of parameters, and where its jobs come from.
pub(crate) struct Asked {
    pub(crate) specification: Specification,
    pub(crate) point: Point,
    inputs: Inputs,
    /// Whether strategy or scheduler are in Python.
    own: bool,
}

impl Asked {
    /// What the arguments of a call ask for; `names` are its strategy and its scheduler.
    pub(crate) fn new(
        py: Python<'_>,
        machine: &str,
        names: [Option<&Bound<'_, PyAny>>; 2],
        trace: Option<&Bound<'_, PyAny>>,
        parameters: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Asked> {
        let (mut own, [strategy, scheduler]) = (Own::default(), names);
        let mut all = vec![
            Setting::new("machine", machine),
            Setting::new("strategy", &named(strategy, "tff", &mut own)?),
            Setting::new("scheduler", &named(scheduler, "fcfs", &mut own)?),
        ];
        let mut inputs = Inputs::new(Path::new(""));
        if let Some(trace) = trace {
            if let Ok(trace) = trace.cast::<Trace>() {
                inputs.add(IN_MEMORY, Arc::clone(&trace.get().trace));
                all.push(Setting::new("trace", IN_MEMORY));
            } else {
                all.push(Setting::new("trace", trace.str()?.to_str()?));
            }
        }
        if let Some(parameters) = parameters {
            all.extend(settings(parameters)?);
        }
        let specification = specification(py, &all, "simulate", &own)?;
        let [point] = &specification.points[..] else {
            return Err(value("this runs one combination; use Experiment for several"));
        };
        if point.is_snapshot() {
            return Err(value("a snapshot has no run; use Experiment for it"));
        }
        let point = point.clone();
        Ok(Asked { specification, point, inputs, own: own.is_used() })
    }

    /// What the point means; its log is read.
    pub(crate) fn scenario(&self) -> Result<Scenario, String> {
        let timing = self.specification.timing;
        Scenario::new(self.point.settings(), timing, &self.inputs, &Histories::default())
            .map_err(|error| error.to_string())
    }
}
