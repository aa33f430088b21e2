//! The progress of a long call, and requests to stop it.

use pavior::simulation::Stop;
use pyo3::prelude::*;

/// A request to another thread to end `replicate`.
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
    /// The number of items done: replications of a sweep, jobs of a run, or answers of a test.
    pub(crate) done: u64,
    /// The number of items in total, or 0 if it is unknown.
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

/// The interval between reports, in seconds.
const EVERY: f64 = 0.5;

/// Returns the caller's clock, in seconds. No result depends on it.
fn now() -> PyResult<f64> {
    Python::attach(|py| py.import("time")?.call_method0("monotonic")?.extract())
}

/// Reports the progress of a call to the caller.
pub(crate) struct Reporter {
    /// The function to call, if any.
    report: Option<Py<PyAny>>,
    begun: f64,
    told: f64,
}

impl Reporter {
    /// Creates a reporter from the `progress` argument. The reporter calls a function, writes a
    /// line on standard error that counts `what`, or does nothing.
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

    /// Reports the progress, unless it was reported very recently.
    pub(crate) fn tell(&mut self, done: u64, planned: u64) -> PyResult<()> {
        let now = now()?;
        if now - self.told < EVERY {
            return Ok(());
        }
        self.told = now;
        self.call(done, planned, 0)
    }

    /// Reports that the call is done.
    pub(crate) fn done(&mut self, done: u64) -> PyResult<()> {
        self.call(done, done, 1)
    }

    /// Ends the progress line of a failed call.
    pub(crate) fn end(&self, py: Python<'_>) {
        let Some(report) = &self.report else { return };
        // The caller receives the error itself. The caller's own functions have no such method.
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
