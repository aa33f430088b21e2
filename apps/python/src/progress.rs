//! Reports the progress of a long call, and lets another thread stop it.

use std::sync::atomic::{AtomicU64, Ordering};

use pavior::experiments;
use pavior::simulation::Stop;
use pyo3::prelude::*;

use crate::interrupt::{interruptible_own, watched};

/// A handle for canceling a `replicate` call in another thread.
#[pyclass(frozen, module = "pavior")]
#[derive(Default)]
pub(crate) struct Cancel {
    pub(crate) stop: Stop,
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

/// The progress of a long call.
#[pyclass(frozen, get_all, module = "pavior")]
pub(crate) struct Progress {
    /// The number of finished items: replications in a sweep, jobs in a run, or answers in a test.
    pub(crate) done: u64,
    /// The total number of items, or 0 if unknown.
    pub(crate) planned: u64,
    /// The number of completed points.
    pub(crate) points_done: usize,
    /// The number of points.
    pub(crate) points: usize,
    /// The time since the start, in seconds.
    pub(crate) seconds: f64,
}

#[pymethods]
impl Progress {
    fn __repr__(&self) -> String {
        let Progress { done, planned, points_done, points, seconds } = self;
        format!("<Progress {done} of {planned}, {points_done}/{points} points, {seconds:.1} s>")
    }
}

/// The numbers of finished and planned items.
#[derive(Default)]
pub(crate) struct Counts {
    pub(crate) done: AtomicU64,
    pub(crate) planned: AtomicU64,
}

impl experiments::Progress for Counts {
    fn planned(&self, runs: u64) {
        self.planned.fetch_add(runs, Ordering::Relaxed);
    }

    fn done(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }
}

/// The interval between reports, in seconds.
const EVERY: f64 = 0.5;

/// Returns the time on Python's monotonic clock, in seconds. Results do not depend on it.
fn now() -> PyResult<f64> {
    Python::attach(|py| py.import("time")?.call_method0("monotonic")?.extract())
}

/// A reporter that keeps the caller informed of a call's progress.
pub(crate) struct Reporter {
    report: Option<Py<PyAny>>,
    begun: f64,
    told: f64,
}

impl Reporter {
    /// Creates a reporter from the `progress` argument. It calls a function, shows a line on
    /// standard error that counts items (named by `counted`), or does nothing.
    pub(crate) fn new(
        progress: Option<&Bound<'_, PyAny>>,
        counted: &str,
        py: Python<'_>,
    ) -> PyResult<Reporter> {
        let module = py.import("pavior._progress")?;
        let report = module.call_method1("reporter", (progress, counted))?;
        let report = (!report.is_none()).then(|| report.unbind());
        let begun = now()?;
        Ok(Reporter { report, begun, told: begun })
    }

    /// Runs `work` without holding the interpreter lock, and reports its counts. A signal sets
    /// `stop`, which must make the work end. The flag `own` is true if the work calls the caller's
    /// code, and `raised` converts errors in the work to exceptions.
    pub(crate) fn watch<T: Send + 'static, E: Send + 'static>(
        &mut self,
        py: Python<'_>,
        (counts, stop, own): (&Counts, &Stop, bool),
        work: impl FnOnce() -> Result<T, E> + Send + 'static,
        raised: impl FnOnce(E) -> PyErr,
    ) -> PyResult<T> {
        let count = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let looked = || self.tell(count(&counts.done), count(&counts.planned));
        let ended = if own {
            interruptible_own(py, || stop.set(), looked, || false, work)
        } else {
            watched(py, || stop.set(), looked, work)
        };
        let done = ended.and_then(|ended| ended.map_err(raised));
        let done = done.inspect_err(|_| self.end(py))?;
        self.done(count(&counts.done))?;
        Ok(done)
    }

    /// Reports the progress, unless it was reported very recently.
    pub(crate) fn tell(&mut self, done: u64, planned: u64) -> PyResult<()> {
        let now = now()?;
        if now - self.told < EVERY {
            return Ok(());
        }
        self.told = now;
        self.call(done, planned, 0)
    }

    pub(crate) fn done(&mut self, done: u64) -> PyResult<()> {
        self.call(done, done, 1)
    }

    /// Ends the progress line of a failed call.
    pub(crate) fn end(&self, py: Python<'_>) {
        let Some(report) = &self.report else { return };
        // The caller gets the original error. A function passed by the caller has no `end` method.
        if let Ok(end) = report.getattr(py, "end") {
            let _ = end.call0(py);
        }
    }

    fn call(&self, done: u64, planned: u64, points_done: usize) -> PyResult<()> {
        let Some(report) = &self.report else { return Ok(()) };
        let seconds = now()? - self.begun;
        let progress = Progress { done, planned, points_done, points: 1, seconds };
        Python::attach(|py| report.call1(py, (progress,)).map(drop))
    }
}
