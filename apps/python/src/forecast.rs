//! Forecasts for the jobs in a log: from a call's arguments to a table.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow_array::{ArrayRef, BooleanArray, Float64Array, UInt32Array, UInt64Array};
use pavior::Time;
use pavior::answers::forecasts::{Effort, Judged, Score};
use pavior::experiments::{Environment, LogForecastError, Point, Progress, forecast_log};
use pavior::simulation::Stop;
use pavior::workload::TimeUnit;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyString};

use crate::arguments::whole;
use crate::asked::{Asked, Call, taken};
use crate::errors::{input, value};
use crate::interrupt::watched;
use crate::progress::Reporter;
use crate::shown::{cell, number};
use crate::table::Table;

/// The keywords that are parameters of runs.
const PARAMETERS: [&str; 12] = [
    "shape_rule",
    "freedom",
    "seed",
    "first",
    "filter",
    "status",
    "lenient",
    "dependencies",
    "processors_per_node",
    "nodes_from",
    "pieces",
    "log_format",
];

/// Forecasts the start of each job in a log as an interval, using only what is known when the job
/// is submitted. Each forecast runs `futures` simulations on `threads` threads. The results depend
/// only on the number of futures. The other keywords are as in `simulate`, and so are the
/// exceptions.
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
        return Err(value("futures must be from 1 to 1000, and threads at least 1"));
    }
    let progress = taken(&rest, "progress")?;
    for (key, _) in &rest {
        let key: String = key.extract()?;
        if !PARAMETERS.contains(&&*key) {
            let key = pavior::text::shown(&key);
            let message = format!("forecast() got an unexpected keyword argument '{key}'");
            return Err(PyTypeError::new_err(message));
        }
    }
    rest.set_item("trace", trace)?;
    let easy = PyString::new(py, "easy").into_any();
    let call = Call::of(py, machine, [strategy, scheduler.or(Some(&easy))], Some(&rest))?;
    let mut reporter = Reporter::new(progress.as_ref(), "jobs", py)?;
    let asked = Asked::new(py, call)?;
    if asked.own {
        return Err(value("forecasts need built-in strategies and schedulers"));
    }
    let point = asked.point.clone();
    let effort = Effort {
        futures: usize::try_from(futures).map_err(value)?,
        threads: usize::try_from(threads).map_err(value)?,
        seed: point.settings().seed,
    };
    let (judged, rejected) = run(py, asked, effort, &mut reporter)?;
    Ok(Forecasts { score: Score::of(&judged), judged, rejected, point, jobs: PyOnceLock::new() })
}

/// Computes all forecasts and reports the progress.
fn run(
    py: Python<'_>,
    asked: Asked,
    effort: Effort,
    reporter: &mut Reporter,
) -> PyResult<(Vec<Judged>, u64)> {
    let (stop, counts) = (Stop::default(), Arc::new(Counts::default()));
    let work = {
        let (stop, counts) = (stop.clone(), counts.clone());
        move || -> Result<_, LogForecastError> {
            let mut judged = Vec::new();
            let environment = Environment {
                files: asked.inputs(),
                progress: &*counts,
                stop: Some(&stop),
                ..Environment::PLAIN
            };
            let settings = asked.point.settings();
            let rejected = forecast_log(settings, effort, environment, |job| judged.push(job))?;
            judged.sort_unstable_by_key(|job| (job.submit, job.number));
            Ok((judged, rejected))
        }
    };
    let count = |count: &AtomicU64| count.load(Ordering::Relaxed);
    let looked = || reporter.tell(count(&counts.done), count(&counts.planned));
    let done = watched(py, || stop.set(), looked, work).and_then(|done| {
        done.map_err(|error| match error {
            LogForecastError::Input(error) => input(py, &error),
            other => value(other),
        })
    });
    let done = done.inspect_err(|_| reporter.end(py))?;
    reporter.done(count(&counts.done))?;
    Ok(done)
}

/// The number of started jobs and the number of all jobs.
#[derive(Default)]
struct Counts {
    done: AtomicU64,
    planned: AtomicU64,
}

impl Progress for Counts {
    fn planned(&self, runs: u64) {
        self.planned.fetch_add(runs, Ordering::Relaxed);
    }

    fn done(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }
}

/// The forecast for each job in a log at its submission, and the actual start.
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

    /// The number of jobs that were left out because they can never fit.
    #[getter]
    fn rejected(&self) -> u64 {
        self.rejected
    }

    /// The fraction of jobs that started in the interval, among those that had to wait.
    #[getter]
    fn held(&self) -> f64 {
        self.score.held
    }

    /// The mean pinball loss of the 5, 50 and 95 % quantiles, in seconds, for the intervals and for
    /// three other methods.
    #[getter]
    fn losses<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let losses = PyDict::new(py);
        losses.set_item("intervals", self.score.loss)?;
        losses.set_item("plan", self.score.plan_loss)?;
        losses.set_item("corrected", self.score.corrected_loss)?;
        losses.set_item("past_waits", self.score.past_waits_loss)?;
        Ok(losses)
    }

    /// Describes the forecasts, and shows the first and last of them.
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
            let seconds = all().map(|job| TimeUnit::SECOND.units(of(job)));
            Arc::new(Float64Array::from_iter_values(seconds))
        };
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("job", Arc::new(UInt64Array::from_iter_values(all().map(|job| job.number)))),
            ("user", Arc::new(all().map(|job| job.kind.user).collect::<UInt64Array>())),
            ("nodes", Arc::new(UInt32Array::from_iter_values(all().map(|job| job.kind.nodes)))),
            ("submit", times(|job| job.submit)),
            ("low", times(|job| job.forecast.low)),
            ("median", times(|job| job.forecast.median)),
            ("high", times(|job| job.forecast.high)),
            ("plan", times(|job| job.forecast.plan)),
            ("corrected", times(|job| job.rivals.corrected)),
            ("start", times(|job| job.start)),
            ("held", Arc::new(all().map(|job| Some(job.held())).collect::<BooleanArray>())),
        ];
        Table::new(columns, TimeUnit::SECOND.name)
    }

    /// Describes the forecasts in a sentence.
    fn summary(&self) -> String {
        let get = |name| cell(self.point.get(name).unwrap_or_default());
        let [machine, strategy, scheduler] = ["machine", "strategy", "scheduler"].map(get);
        let Score { jobs, waited, held, .. } = &self.score;
        format!(
            "Forecasts of {jobs} jobs on {machine} under {strategy} and {scheduler}: {waited} had \
             to wait, and {} % of these started in their intervals",
            number(100.0 * held)
        )
    }
}
