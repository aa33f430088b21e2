//! Maps the caller's job names to the machine's job numbers.

use pavior::{JobId, Machine};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyString};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::arguments::shown;
use crate::errors::value;

/// The name of a job. The names 7 and "7" are different.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum JobName {
    Number(i64),
    Word(Box<str>),
}

impl JobName {
    pub(crate) fn of(argument: &Bound<'_, PyAny>) -> PyResult<JobName> {
        if argument.cast::<PyInt>().is_ok() {
            return argument
                .extract()
                .map(JobName::Number)
                .map_err(|_| value(format!("{} is too large for a job name", shown(argument))));
        }
        if let Ok(word) = argument.cast::<PyString>() {
            return Ok(JobName::Word(word.to_str()?.into()));
        }
        // The extraction also accepts numpy integers.
        argument.extract().map(JobName::Number).map_err(|_| {
            let given = shown(argument);
            PyTypeError::new_err(format!("a job name must be an int or a str, not {given}"))
        })
    }

    pub(crate) fn to_object(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        match self {
            JobName::Number(number) => number.into_py_any(py),
            JobName::Word(word) => (&**word).into_py_any(py),
        }
    }
}

impl std::fmt::Display for JobName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            JobName::Number(number) => write!(f, "{number}"),
            JobName::Word(word) => write!(f, "{word:?}"),
        }
    }
}

/// The first job number for jobs whose names are text or negative numbers.
const TABLED: u64 = 1 << 63;

/// The names of the jobs that hold nodes. If a name is a non-negative number, it is also the job's
/// number. The machine itself stores the order of the jobs.
#[derive(Clone, Default)]
pub(crate) struct Jobs {
    tabled: FxHashMap<JobName, JobId>,
    names: FxHashMap<JobId, JobName>,
    /// The serial numbers of the grants. No two grants of a machine have the same serial number.
    serials: FxHashMap<JobId, u64>,
    last_serial: u64,
    next_name: i64,
}

impl Jobs {
    /// Returns the next automatic job name. The caller may already have given a job the same name.
    pub(crate) fn next_name(&mut self) -> JobName {
        self.next_name += 1;
        JobName::Number(self.next_name - 1)
    }

    /// Returns the number of the job with this name if the job holds nodes. If the name is itself a
    /// non-negative number, always returns that number.
    pub(crate) fn number(&self, name: &JobName) -> Option<JobId> {
        match name {
            JobName::Number(number) if *number >= 0 => Some(JobId(*number as u64)),
            _ => self.tabled.get(name).copied(),
        }
    }

    /// Returns true if a job with this name holds nodes.
    pub(crate) fn has(&self, machine: &Machine, name: &JobName) -> bool {
        self.number(name).is_some_and(|number| machine.placement(number).is_some())
    }

    /// Returns the number to use for a new job with this name.
    pub(crate) fn number_for(&self, name: &JobName) -> JobId {
        match name {
            JobName::Number(number) if *number >= 0 => JobId(*number as u64),
            _ => JobId(TABLED + self.last_serial),
        }
    }

    /// Returns the serial number of a job's grant; 0 if the job was copied from a simulation.
    pub(crate) fn serial(&self, name: &JobName) -> u64 {
        self.number(name).and_then(|number| self.serials.get(&number)).copied().unwrap_or(0)
    }

    pub(crate) fn name(&self, number: JobId) -> JobName {
        self.names.get(&number).cloned().unwrap_or(JobName::Number(number.0 as i64))
    }

    /// Adds a job with the number that [`Jobs::number_for`] returned.
    pub(crate) fn add(&mut self, name: &JobName, number: JobId) {
        self.last_serial += 1;
        self.serials.insert(number, self.last_serial);
        if number.0 >= TABLED {
            self.tabled.insert(name.clone(), number);
            self.names.insert(number, name.clone());
        }
    }

    pub(crate) fn remove(&mut self, number: JobId) {
        self.serials.remove(&number);
        if let Some(name) = self.names.remove(&number) {
            self.tabled.remove(&name);
        }
    }
}
