//! Reports the progress of a long call.

use std::sync::atomic::{AtomicU64, Ordering};

use pavior::experiments;
use pavior::simulation::Stop;
use pyo3::prelude::*;

use crate::extensions::Code;
use crate::interrupt::{interruptible_own, watched};

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

/// The state shared by the calling thread and the worker thread: the numbers of finished and
/// planned items, and a request to stop.
#[derive(Default)]
pub(crate) struct Task {
    pub(crate) done: AtomicU64,
    pub(crate) planned: AtomicU64,
    pub(crate) stop: Stop,
}

impl experiments::Progress for Task {
    fn planned(&self, runs: u64) {
        self.planned.fetch_add(runs, Ordering::Relaxed);
    }

    fn done(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }
}

/// The minimum interval between reports, in seconds.
const REPORT_INTERVAL: f64 = 0.5;

/// Returns the time on Python's monotonic clock, in seconds. No result depends on this time.
fn now() -> PyResult<f64> {
    Python::attach(|py| py.import("time")?.call_method0("monotonic")?.extract())
}

/// A reporter that keeps the caller informed of a call's progress.
pub(crate) struct Reporter {
    callback: Option<Py<PyAny>>,
    start: f64,
    last_report: f64,
}

impl Reporter {
    /// Creates a reporter. Depending on the `progress` argument, it calls a function, shows a count
    /// of items (named by `counted`) on standard error, or does nothing.
    pub(crate) fn new(
        progress: Option<&Bound<'_, PyAny>>,
        counted: &str,
        py: Python<'_>,
    ) -> PyResult<Reporter> {
        let module = py.import("pavior._progress")?;
        let callback = module.call_method1("reporter", (progress, counted))?;
        let callback = (!callback.is_none()).then(|| callback.unbind());
        let start = now()?;
        Ok(Reporter { callback, start, last_report: start })
    }

    /// Runs `work` without holding the interpreter lock, and reports the task's progress. A signal
    /// sets `task.stop`, which must end the work. `raised` converts errors to exceptions.
    pub(crate) fn watch<T: Send + 'static, E: Send + 'static>(
        &mut self,
        py: Python<'_>,
        task: &Task,
        code: Code,
        work: impl FnOnce() -> Result<T, E> + Send + 'static,
        raised: impl FnOnce(E) -> PyErr,
    ) -> PyResult<T> {
        let count = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let on_poll = || self.report_if_due(count(&task.done), count(&task.planned));
        let on_signal = || task.stop.set();
        let ended = match code {
            Code::Native => watched(py, on_signal, on_poll, work),
            Code::Python => interruptible_own(py, on_signal, on_poll, || false, work),
        };
        let result = ended.and_then(|result| result.map_err(raised));
        self.finish(py, result, |_| count(&task.done))
    }

    /// Reports the progress, unless the last report was very recent.
    pub(crate) fn report_if_due(&mut self, done: u64, planned: u64) -> PyResult<()> {
        let now = now()?;
        if now - self.last_report < REPORT_INTERVAL {
            return Ok(());
        }
        self.last_report = now;
        self.report(done, planned, 0)
    }

    /// Reports that the call has finished, with its number of items. If the call failed, only ends
    /// the progress line.
    pub(crate) fn finish<T>(
        &self,
        py: Python<'_>,
        result: PyResult<T>,
        done: impl FnOnce(&T) -> u64,
    ) -> PyResult<T> {
        let reported = result.and_then(|value| {
            let done = done(&value);
            self.report(done, done, 1).map(|()| value)
        });
        // Ignore any later error. A callback that is a plain function has no `end` method.
        reported.inspect_err(|_| {
            let end = self.callback.as_ref().and_then(|callback| callback.getattr(py, "end").ok());
            let _ = end.map(|end| end.call0(py));
        })
    }

    /// Calls the callback. A single run counts as one point.
    fn report(&self, done: u64, planned: u64, points_done: usize) -> PyResult<()> {
        let Some(callback) = &self.callback else { return Ok(()) };
        let seconds = now()? - self.start;
        let progress = Progress { done, planned, points_done, points: 1, seconds };
        Python::attach(|py| callback.call1(py, (progress,)).map(drop))
    }
}
