//! A job as presented to schedulers and priority functions.

use arrow_array::ArrayRef;
use arrow_array::types::{Float64Type, UInt16Type, UInt32Type, UInt64Type};
use pavior::Time;
use pavior::scheduling::RunningJob;
use pavior::workload::{Service, TimeUnit};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::geometry;
use crate::table::{Table, column};

/// A job, with its request and its estimated run time.
#[pyclass(frozen, module = "pavior")]
pub(crate) struct Job {
    inner: pavior::workload::Job,
    /// The start time and the estimated end time, if the job is running.
    times: Option<(Time, Time)>,
    unit: TimeUnit,
    axes: usize,
}

impl Job {
    pub(super) fn waiting(job: pavior::workload::Job, unit: TimeUnit, axes: usize) -> Job {
        Job { inner: job, times: None, unit, axes }
    }

    pub(super) fn running(running: &RunningJob, unit: TimeUnit, axes: usize) -> Job {
        let times = Some((running.start, running.estimated_end()));
        Job { inner: running.job.clone(), times, unit, axes }
    }
}

#[pymethods]
impl Job {
    /// The job's position in order of arrival, starting at 0.
    #[getter]
    fn id(&self) -> u64 {
        self.inner.id.0
    }

    /// The job's number in the log, or the same as `id` if there is no log.
    #[getter]
    fn job(&self) -> u64 {
        self.inner.number
    }

    /// The time of arrival, in units of time.
    #[getter]
    fn submit(&self) -> f64 {
        self.unit.units(self.inner.arrival)
    }

    /// The requested number of nodes.
    #[getter]
    fn nodes(&self) -> u32 {
        self.inner.request.nodes
    }

    /// The requested sides, or None if the job requests only a number of nodes.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let shape = self.inner.request.shape;
        shape.map(|sides| geometry::tuple(py, sides, self.axes)).transpose()
    }

    /// The estimated run time, in units of time. For a job that sends messages, this is the number
    /// of messages or iterations.
    #[getter]
    fn estimate(&self) -> f64 {
        self.unit.units(self.inner.estimate)
    }

    /// The start time, in units of time, or None if the job is waiting.
    #[getter]
    fn start(&self) -> Option<f64> {
        self.times.map(|(start, _)| self.unit.units(start))
    }

    /// The estimated end time, in units of time, or None if the job is waiting.
    #[getter]
    fn estimated_end(&self) -> Option<f64> {
        self.times.map(|(_, end)| self.unit.units(end))
    }

    fn __repr__(&self) -> String {
        let pavior::workload::Job { number, request, .. } = &self.inner;
        let shape = request.shape.map(|sides| {
            let sides: Vec<String> = sides[..self.axes].iter().map(u16::to_string).collect();
            format!(" as {}", sides.join("x"))
        });
        let shape = shape.unwrap_or_default();
        let unit = match self.inner.service {
            Service::Messages(_) => "messages",
            Service::Iterations(_) => "iterations",
            Service::Run(_) | Service::Partly { .. } => self.unit.name,
        };
        let (nodes, s) = (request.nodes, if request.nodes == 1 { "" } else { "s" });
        format!("<Job {number}: {nodes} node{s}{shape}, {} {unit}>", self.estimate())
    }
}

/// Creates a table of jobs. For running jobs, `times` gives each job's start and estimated end.
pub(super) fn table(
    jobs: &[&pavior::workload::Job],
    times: Option<&[(Time, Time)]>,
    unit: TimeUnit,
) -> PyResult<Table> {
    let side = |axis: usize| -> ArrayRef {
        column::<UInt16Type>(jobs.iter().map(|job| Some(job.request.shape?[axis])))
    };
    let units = |times: &mut dyn Iterator<Item = Time>| -> ArrayRef {
        column::<Float64Type>(times.map(|time| unit.units(time)))
    };
    let mut columns: Vec<(&str, ArrayRef)> = vec![
        ("id", column::<UInt64Type>(jobs.iter().map(|job| job.id.0))),
        ("job", column::<UInt64Type>(jobs.iter().map(|job| job.number))),
        ("submit", units(&mut jobs.iter().map(|job| job.arrival))),
        ("nodes", column::<UInt32Type>(jobs.iter().map(|job| job.request.nodes))),
        ("estimate", units(&mut jobs.iter().map(|job| job.estimate))),
        ("x", side(0)),
        ("y", side(1)),
        ("z", side(2)),
    ];
    if let Some(times) = times {
        columns.push(("start", units(&mut times.iter().map(|&(start, _)| start))));
        columns.push(("estimated_end", units(&mut times.iter().map(|&(_, end)| end))));
    }
    Table::new(columns, unit.name)
}
