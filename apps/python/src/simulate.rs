//! Runs a single simulation and returns its results.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use pavior::Time;
use pavior::experiments::{InputError, Progress, RunRecord, Sample};
use pavior::simulation::{Fact, Interest, Observer, RunError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arguments::whole;
use crate::errors::{input_error, stopped};
use crate::outcome::Outcome;
use crate::progress::{Reporter, Task};
use crate::run_request::{Call, RunRequest, taken};

#[doc = include_str!("simulate.txt")]
#[pyfunction]
#[pyo3(signature = (machine = None, strategy = None, scheduler = None, **parameters))]
#[pyo3(text_signature = None)]
pub(crate) fn simulate<'py>(
    py: Python<'py>,
    machine: Option<&Bound<'py, PyAny>>,
    strategy: Option<&Bound<'py, PyAny>>,
    scheduler: Option<&Bound<'py, PyAny>>,
    parameters: Option<&Bound<'py, PyDict>>,
) -> PyResult<Outcome> {
    let call = Call::of(py, machine, [strategy, scheduler], parameters)?;
    let replication = taken(&call.rest, "replication")?;
    let replication = replication.as_ref().map_or(Ok(0), whole)?;
    let mut reporter = Reporter::new(taken(&call.rest, "progress")?.as_ref(), "jobs", py)?;
    let request = RunRequest::new(call)?;
    let (point, specification) = (request.point.clone(), request.specification.clone());
    let (sample, record) = run(py, request, replication, &mut reporter)?;
    Ok(Outcome::new(&specification, point, sample, record))
}

/// Runs one replication and reports its progress.
fn run(
    py: Python<'_>,
    request: RunRequest,
    replication: u64,
    reporter: &mut Reporter,
) -> PyResult<(Sample, RunRecord)> {
    let (code, task) = (request.code, Arc::new(Task::default()));
    let run = {
        let task = task.clone();
        move || -> Result<_, Fault> {
            let scenario = request.scenario().map_err(Fault::Input)?;
            task.planned.store(scenario.length(), Ordering::Relaxed);
            let stop = task.stop.clone();
            let mut counter = Counter { task, of_log: request.point.get("trace").is_some() };
            let metrics = &request.specification.metrics;
            scenario.record(replication, metrics, Some(&mut counter), &stop).map_err(Fault::Run)
        }
    };
    reporter.watch(py, &task, code, run, |fault| match fault {
        Fault::Input(error) => input_error(py, &error),
        Fault::Run(error) => stopped(py, &error, ""),
    })
}

enum Fault {
    Input(InputError),
    Run(RunError),
}

/// An observer that counts the jobs that have ended.
struct Counter {
    task: Arc<Task>,
    /// True if the jobs come from a log, in which case rejected jobs count as ended.
    of_log: bool,
}

impl Observer for Counter {
    fn interest(&self) -> Interest {
        Interest::ARRIVALS | Interest::DEPARTURES
    }

    fn see(&mut self, _: Time, fact: &Fact<'_>) {
        if matches!(fact, Fact::Departed { .. })
            || (self.of_log && matches!(fact, Fact::Rejected(..)))
        {
            self.task.done();
        }
    }
}
