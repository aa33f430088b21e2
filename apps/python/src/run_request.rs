//! Parses arguments that define a run: one combination of parameters, and the source of its jobs.

use std::path::PathBuf;
use std::sync::Arc;

use pavior::experiments::parameters::{self, CONTROLS, ValueType};
use pavior::experiments::{Folder, InputError, Keys, Point, Scenario, Setting, Specification};
use pavior::files::Limits;
use pavior::simulation::Histories;
use pavior::workload::TimeUnit;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

use crate::arguments::{machine_name, plain, shown};
use crate::errors::{bad_name, value};
use crate::extensions::{Code, Extensions};
use crate::trace::Trace;

/// The name that a point uses for an in-memory log.
const IN_MEMORY: &str = "table";

/// Reads settings from keyword arguments, each of which is a value or a list of values. Arguments
/// that are None are ignored.
pub(crate) fn settings(parameters: &Bound<'_, PyDict>) -> PyResult<Vec<Setting>> {
    let mut settings = Vec::new();
    for (key, given) in parameters {
        if given.is_none() {
            continue;
        }
        let key: String = key.extract()?;
        let values = match members(&given)? {
            Some(list) => list.iter().map(|member| text(&key, member)).collect::<PyResult<_>>()?,
            None => vec![text(&key, &given)?],
        };
        settings.push(Setting { key, values });
    }
    Ok(settings)
}

/// Returns the members of a list, tuple or array, or `None` if the argument is anything else.
fn members<'py>(given: &Bound<'py, PyAny>) -> PyResult<Option<Vec<Bound<'py, PyAny>>>> {
    let given = plain(given)?;
    if let Ok(list) = given.cast::<PyList>() {
        return Ok(Some(list.iter().collect()));
    }
    let tuple = given.cast::<PyTuple>();
    Ok(tuple.ok().map(|tuple| tuple.iter().collect()))
}

/// Returns a value as text, in the form that experiment files use.
fn text(key: &str, given: &Bound<'_, PyAny>) -> PyResult<String> {
    let given = plain(given)?;
    if let Ok(text) = given.cast::<PyString>() {
        return Ok(text.to_str()?.to_string());
    }
    if let Ok(switch) = given.cast::<PyBool>() {
        return Ok(switch.is_true().to_string());
    }
    if given.cast::<PyInt>().is_ok() {
        return Ok(given.str()?.to_str()?.to_string());
    }
    if let Ok(number) = given.cast::<PyFloat>() {
        // Users may also write a number of jobs as a float, such as 1e4.
        return Ok(number.value().to_string());
    }
    let mut known = parameters::ALL.iter().filter(|known| known.is_called(key));
    let is_time = |known: &parameters::Parameter| {
        known.kind == ValueType::Number && known.unit == "units of time"
    };
    if known.any(is_time) && given.hasattr("total_seconds")? {
        let seconds: f64 = given.call_method0("total_seconds")?.extract()?;
        return Ok(seconds.to_string());
    }
    if given.hasattr("__fspath__")? {
        return given.call_method0("__fspath__")?.extract();
    }
    if let Ok(number) = given.extract::<f64>() {
        return Ok(number.to_string());
    }
    Err(PyTypeError::new_err(format!("{} is not a valid value for {key}", shown(&given))))
}

/// Returns true if an argument is a `timedelta` or a list that contains one.
fn has_duration(given: &Bound<'_, PyAny>) -> PyResult<bool> {
    let all = members(given)?.unwrap_or_else(|| vec![given.clone()]);
    all.iter().try_fold(false, |found, one| Ok(found || plain(one)?.hasattr("total_seconds")?))
}

/// Creates an experiment from settings. Raises `BadName` if any of them is invalid.
fn specification(
    settings: &[Setting],
    name: &str,
    extensions: &Extensions,
) -> PyResult<Specification> {
    let read =
        Specification::from_settings_with(settings, name, Keys::Keywords, &extensions.catalogue);
    let specification = read.map_err(|error| {
        let setting = error.setting.map(|index| &settings[index]);
        match (setting, error.value) {
            (Some(Setting { key, values }), Some((index, span))) => {
                bad_name(&values[index], format!("{key}: {}", error.reason), span)
            }
            (Some(Setting { key, .. }), None) => bad_name(key, error.reason, 0..key.len()),
            (None, _) => bad_name("", error.reason, 0..0),
        }
    })?;
    extensions.settle(&specification)?;
    Ok(specification)
}

/// The arguments of a call, separated by purpose.
pub(crate) struct Call<'py> {
    machine: String,
    strategy: String,
    scheduler: String,
    pub(crate) trace: Option<Bound<'py, PyAny>>,
    pub(crate) rest: Bound<'py, PyDict>,
    extensions: Extensions,
}

impl<'py> Call<'py> {
    /// Separates a call's arguments. Raises an error if any argument lists several values.
    pub(crate) fn of(
        py: Python<'py>,
        machine: Option<&Bound<'py, PyAny>>,
        [strategy, scheduler]: [Option<&Bound<'py, PyAny>>; 2],
        parameters: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Call<'py>> {
        let rest = parameters.map_or_else(|| Ok(PyDict::new(py)), PyDictMethods::copy)?;
        let trace = taken(&rest, "trace")?;
        let mut extensions = Extensions::default();
        for (key, given) in [("strategy", strategy), ("scheduler", scheduler)] {
            given.map_or(Ok(()), |given| one(key, given))?;
        }
        trace.as_ref().map_or(Ok(()), |given| one("trace", given))?;
        for (key, given) in &rest {
            let key: String = key.extract()?;
            if key != "metrics" {
                one(&key, &given)?;
            }
            if is_of_several(&key) {
                return Err(value(format!(
                    "{key} applies to several runs, but this call performs only one; use \
                     Experiment({key}=...)"
                )));
            }
        }
        let strategy = named(strategy, "tff", Extensions::add_strategy, &mut extensions)?;
        let scheduler = named(scheduler, "fcfs", Extensions::add_scheduler, &mut extensions)?;
        let machine = machine.map_or_else(|| Ok("mesh:16x16".to_string()), one_machine)?;
        Ok(Call { machine, strategy, scheduler, trace, rest, extensions })
    }

    /// Returns the settings, and the log if it is in memory.
    fn settings(&self) -> PyResult<(Vec<Setting>, Option<Bound<'py, Trace>>)> {
        let mut all = vec![
            Setting::new("machine", &self.machine),
            Setting::new("strategy", &self.strategy),
            Setting::new("scheduler", &self.scheduler),
        ];
        let mut in_memory = None;
        if let Some(given) = &self.trace {
            if let Ok(trace) = given.cast::<Trace>() {
                in_memory = Some(trace.clone());
                all.push(Setting::new("trace", IN_MEMORY));
            } else {
                all.push(Setting::new("trace", path(given)?));
            }
        }
        all.extend(settings(&self.rest)?);
        Ok((all, in_memory))
    }
}

/// Removes and returns a keyword argument. None is treated as missing.
pub(crate) fn taken<'py>(
    from: &Bound<'py, PyDict>,
    key: &str,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let given = from.get_item(key)?;
    if given.is_some() {
        from.del_item(key)?;
    }
    Ok(given.filter(|given| !given.is_none()))
}

/// Creates the error for an unknown keyword argument of a function.
pub(crate) fn unexpected(function: &str, key: &str) -> PyErr {
    let key = pavior::text::shown(key);
    PyTypeError::new_err(format!("{function}() got an unexpected keyword argument '{key}'"))
}

/// Returns true if a key applies to an experiment as a whole rather than to a single run.
fn is_of_several(key: &str) -> bool {
    let name = key.replace('_', "-");
    let of_one = ["metrics", "timing"];
    CONTROLS.iter().any(|control| control.name == name) && !of_one.contains(&name.as_str())
}

/// Raises an error unless a parameter has exactly one value, because a call performs only one run.
fn one(key: &str, given: &Bound<'_, PyAny>) -> PyResult<()> {
    let count = match members(given)? {
        Some(members) => members.len(),
        None if given.cast::<PyDict>().is_ok() => 0,
        None => 1,
    };
    let key = pavior::text::shown(key);
    match count {
        1 => Ok(()),
        0 => Err(value(format!(
            "{key} is a range or an empty list, but this call performs only one run; use \
             Experiment({key}=...)"
        ))),
        several => Err(value(format!(
            "{key} has {several} values, but this call performs only one run; use \
             Experiment({key}=[...]).run()"
        ))),
    }
}

/// Returns the name of a single machine, given by name or as a sequence of its sides.
fn one_machine(given: &Bound<'_, PyAny>) -> PyResult<String> {
    match members(given)? {
        Some(members) if members.iter().any(|one| one.extract::<i64>().is_err()) => {
            one("machine", given)?;
            machine_name(&members[0])
        }
        _ => machine_name(given),
    }
}

/// Reads the path to a log.
fn path(given: &Bound<'_, PyAny>) -> PyResult<String> {
    let path: PathBuf = given.extract().map_err(|_| {
        PyTypeError::new_err(format!("a log must be a path or a Trace, not {}", shown(given)))
    })?;
    path.into_os_string().into_string().map_err(|path| {
        value(format!("{} is not valid Unicode", pavior::text::shown(&path.to_string_lossy())))
    })
}

/// Returns the name of a strategy or scheduler. If a class or function is given, first adds it to
/// `extensions`.
fn named(
    given: Option<&Bound<'_, PyAny>>,
    usual: &str,
    add: fn(&mut Extensions, &Bound<'_, PyAny>) -> PyResult<String>,
    extensions: &mut Extensions,
) -> PyResult<String> {
    let Some(given) = given else { return Ok(usual.to_string()) };
    // A list with a single member is equivalent to that member.
    let member = members(given)?.and_then(|members| members.into_iter().next());
    let given = member.as_ref().unwrap_or(given);
    match given.cast::<PyString>() {
        Ok(name) => Ok(name.to_str()?.to_string()),
        Err(_) => add(extensions, given),
    }
}

/// A single combination of parameters, and the source of its jobs.
pub(crate) struct RunRequest {
    pub(crate) specification: Specification,
    pub(crate) point: Point,
    /// The source of logs and other files, including in-memory logs.
    pub(crate) inputs: Folder,
    pub(crate) code: Code,
}

impl RunRequest {
    /// Reads a call's arguments. Raises an error unless they describe exactly one run.
    pub(crate) fn new(call: Call<'_>) -> PyResult<RunRequest> {
        let (all, trace) = call.settings()?;
        let mut inputs = Folder::new("", Limits::LINES);
        if let Some(trace) = trace {
            inputs = inputs.with_log(IN_MEMORY, Arc::clone(&trace.get().trace));
        }
        let specification = specification(&all, "simulate", &call.extensions)?;
        let [point] = &specification.points[..] else {
            return Err(value("this call performs only one run; use Experiment for several"));
        };
        if point.is_snapshot() {
            return Err(value("a snapshot is not a job simulation; use Experiment instead"));
        }
        // Logs with messages have units of the same name but with another number of ticks.
        let in_seconds = point.unit().name == TimeUnit::SECOND.name;
        for (key, given) in &call.rest {
            if !in_seconds && has_duration(&given)? {
                return Err(value(format!(
                    "{key}: a timedelta is in seconds, but synthetic jobs use abstract time units"
                )));
            }
        }
        let point = point.clone();
        Ok(RunRequest { specification, point, inputs, code: call.extensions.code() })
    }

    /// Reads the log, and creates the point's scenario.
    pub(crate) fn scenario(&self) -> Result<Scenario, InputError> {
        let timing = self.specification.timing;
        Scenario::new(self.point.settings(), timing, &self.inputs, &Histories::default())
    }
}
