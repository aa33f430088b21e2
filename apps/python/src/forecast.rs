//! The function that forecasts when the jobs in a log will start, and its results.

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::types::{Float64Type, UInt32Type, UInt64Type};
use pavior::Time;
use pavior::answers::forecasts::{Effort, Judged, Score};
use pavior::experiments::{Environment, LogForecastError, Point, forecast_log, parameters};
use pavior::workload::TimeUnit;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyString};

use crate::arguments::whole;
use crate::errors::{input_error, value};
use crate::excerpt::{cell, number};
use crate::extensions::Code;
use crate::progress::{Reporter, Task};
use crate::run_request::{Call, RunRequest, taken, unexpected};
use crate::table::{Table, column, flags};

/// Forecasts the start of each job in a log as an interval, using only what is known when the job
/// is submitted. Each forecast runs `futures` simulations (default: 8) on `threads` threads
/// (default: 1). The number of threads does not affect the results. The default scheduler is
/// `easy`. The keywords `progress`, `shape_rule`, `freedom` and `seed`, the keywords for reading
/// the log, and the exceptions are the same as for `simulate`.
#[pyfunction]
#[pyo3(signature = (trace, machine = None, strategy = None, scheduler = None, **parameters))]
#[pyo3(text_signature = None)]
pub(crate) fn forecast<'py>(
    py: Python<'py>,
    trace: &Bound<'py, PyAny>,
    machine: Option<&Bound<'py, PyAny>>,
    strategy: Option<&Bound<'py, PyAny>>,
    scheduler: Option<&Bound<'py, PyAny>>,
    parameters: Option<&Bound<'py, PyDict>>,
) -> PyResult<Forecasts> {
    let rest = parameters.map_or_else(|| Ok(PyDict::new(py)), PyDictMethods::copy)?;
    let futures = taken(&rest, "futures")?.as_ref().map_or(Ok(8), whole)?;
    let threads = taken(&rest, "threads")?.as_ref().map_or(Ok(1), whole)?;
    if !(1..=1000).contains(&futures) || threads == 0 {
        return Err(value("futures must be from 1 to 1000, and threads must be at least 1"));
    }
    let progress = taken(&rest, "progress")?;
    for (key, _) in &rest {
        let key: String = key.extract()?;
        let is_other = ["shape_rule", "freedom", "seed"].contains(&&*key);
        if !is_other && parameters::of_reading(&key).is_none() {
            return Err(unexpected("forecast", &key));
        }
    }
    rest.set_item("trace", trace)?;
    let easy = PyString::new(py, "easy").into_any();
    let call = Call::of(py, machine, [strategy, scheduler.or(Some(&easy))], Some(&rest))?;
    let mut reporter = Reporter::new(progress.as_ref(), "jobs", py)?;
    let request = RunRequest::new(call)?;
    if request.code == Code::Python {
        return Err(value("forecasts support only built-in strategies and schedulers"));
    }
    let point = request.point.clone();
    let effort = Effort {
        futures: usize::try_from(futures).map_err(value)?,
        threads: usize::try_from(threads).map_err(value)?,
        seed: point.settings().seed,
    };
    let (judged, rejected) = run(py, request, effort, &mut reporter)?;
    Ok(Forecasts { score: Score::of(&judged), judged, rejected, point, jobs: PyOnceLock::new() })
}

/// Computes all forecasts while reporting progress.
fn run(
    py: Python<'_>,
    request: RunRequest,
    effort: Effort,
    reporter: &mut Reporter,
) -> PyResult<(Vec<Judged>, u64)> {
    let task = Arc::new(Task::default());
    let work = {
        let task = task.clone();
        move || -> Result<_, LogForecastError> {
            let mut judged = Vec::new();
            let environment = Environment {
                files: &request.inputs,
                progress: &*task,
                stop: Some(&task.stop),
                ..Environment::PLAIN
            };
            let settings = request.point.settings();
            let rejected = forecast_log(settings, effort, environment, |job| judged.push(job))?;
            judged.sort_unstable_by_key(|job| (job.submit, job.number));
            Ok((judged, rejected))
        }
    };
    reporter.watch(py, &task, Code::Native, work, |error| match error {
        LogForecastError::Input(error) => input_error(py, &error),
        other => value(other),
    })
}

/// The forecast made for each job in a log at its submission, and the job's actual start.
#[pyclass(frozen, module = "pavior")]
pub(crate) struct Forecasts {
    point: Point,
    judged: Vec<Judged>,
    score: Score,
    rejected: u64,
    jobs: PyOnceLock<Py<Table>>,
}

#[pymethods]
impl Forecasts {
    /// A table with one row per started job, in order of arrival. The table is created only once.
    #[getter]
    fn jobs(&self, py: Python<'_>) -> PyResult<Py<Table>> {
        let table = self.jobs.get_or_try_init(py, || Py::new(py, self.table()?))?;
        Ok(table.clone_ref(py))
    }

    /// The number of jobs that had to wait.
    #[getter]
    fn waited(&self) -> u64 {
        self.score.waited
    }

    /// The number of jobs that were omitted because they could never fit.
    #[getter]
    fn rejected(&self) -> u64 {
        self.rejected
    }

    /// The fraction of jobs that started within their intervals, among those that had to wait.
    /// `None` if no job had to wait.
    #[getter]
    fn held(&self) -> Option<f64> {
        (self.score.waited > 0).then_some(self.score.held)
    }

    /// The mean pinball loss of the 5%, 50% and 95% quantiles, in seconds, for the intervals and
    /// for three other forecasting methods, over the jobs that had to wait. If there are none, all
    /// losses are 0.
    #[getter]
    fn losses<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let losses = PyDict::new(py);
        losses.set_item("intervals", self.score.loss)?;
        losses.set_item("plan", self.score.plan_loss)?;
        losses.set_item("corrected", self.score.corrected_loss)?;
        losses.set_item("past_waits", self.score.past_waits_loss)?;
        Ok(losses)
    }

    /// Describes the forecasts, and shows the first and last ones.
    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        Ok(self.jobs(py)?.get().excerpt(20).html(&self.summary()))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let jobs = self.jobs(py)?;
        Ok(format!("<{}>\n{}", self.summary(), jobs.get().excerpt(10).text()))
    }
}

impl Forecasts {
    fn table(&self) -> PyResult<Table> {
        let all = || self.judged.iter();
        let times = |of: fn(&Judged) -> Time| -> ArrayRef {
            column::<Float64Type>(all().map(|job| TimeUnit::SECOND.units(of(job))))
        };
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("job", column::<UInt64Type>(all().map(|job| job.number))),
            ("user", column::<UInt64Type>(all().map(|job| job.kind.user))),
            ("nodes", column::<UInt32Type>(all().map(|job| job.kind.nodes))),
            ("submit", times(|job| job.submit)),
            ("low", times(|job| job.forecast.low)),
            ("median", times(|job| job.forecast.median)),
            ("high", times(|job| job.forecast.high)),
            ("plan", times(|job| job.forecast.plan)),
            ("corrected", times(|job| job.rivals.corrected)),
            ("start", times(|job| job.start)),
            ("held", flags(all().map(Judged::held))),
        ];
        Table::new(columns, TimeUnit::SECOND.name)
    }

    fn summary(&self) -> String {
        let get = |name| cell(self.point.get(name).unwrap_or_default());
        let [machine, strategy, scheduler] = ["machine", "strategy", "scheduler"].map(get);
        let Score { jobs, waited, .. } = &self.score;
        let held = self.held().map_or_else(String::new, |held| {
            format!(", and {}% of them started within their intervals", number(100.0 * held))
        });
        format!(
            "Forecasts for {jobs} jobs on {machine} under {strategy} and {scheduler}: {waited} \
             had to wait{held}"
        )
    }
}
