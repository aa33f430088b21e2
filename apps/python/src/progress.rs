//! How far a long call is, and how its work is asked to end.

use pavior::simulation::Stop;
use pyo3::prelude::*;

/// Asks `replicate` in another thread to end.
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

/// How far a long call is.
#[pyclass(frozen, get_all, module = "pavior")]
pub(crate) struct Progress {
    /// What is known or done: replications of a sweep, jobs of a run, answers of a judgement.
    pub(crate) done: u64,
    /// How many are known or wanted; 0 where that is not known.
    pub(crate) planned: u64,
    /// Points that want nothing more.
    pub(crate) points_done: usize,
    /// All points.
    pub(crate) points: usize,
    /// Seconds since the beginning.
    pub(crate) seconds: f64,
}

#[pymethods]
impl Progress {
    fn __repr__(&self) -> String {
        let Progress { done, planned, points_done, points, seconds } = self;
        format!("<Progress {done} of {planned}, {points_done}/{points} points, {seconds:.1} s>")
    }
}

/// How often it is told how far a call is, in seconds.
const EVERY: f64 = 0.5;

/// The clock of the caller, in seconds: no result depends on it.
fn now() -> PyResult<f64> {
    Python::attach(|py| py.import("time")?.call_method0("monotonic")?.extract())
}

/// Tells the caller how far a call of one piece is.
pub(crate) struct Reporter {
    /// What is called, if anything.
    report: Option<Py<PyAny>>,
    begun: f64,
    told: f64,
}

impl Reporter {
    /// What `progress` asks for: a function, a line on standard error for what is counted, or
    /// nothing.
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

    /// Tells how far the call is, if that was not told just now.
    pub(crate) fn tell(&mut self, done: u64, planned: u64) -> PyResult<()> {
        let now = now()?;
        if now - self.told < EVERY {
            return Ok(());
        }
        self.told = now;
        self.call(done, planned, 0)
    }

    /// Tells that the call is over.
    pub(crate) fn done(&mut self, done: u64) -> PyResult<()> {
        self.call(done, done, 1)
    }

    /// Ends the line of a call that has failed.
    pub(crate) fn end(&self, py: Python<'_>) {
        let Some(report) = &self.report else { return };
        // The failure itself is what the caller is told; a function of his has no such method.
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
