//! Runs that advance one decision at a time, used by the environments in `pavior.gym`.
//!
//! A step takes only microseconds, so it runs on the caller's thread and holds the GIL.

mod allocation;
mod features;
mod run;
mod scheduling;

use std::sync::Mutex;

use pavior::Grid;
use pavior::experiments::Scenario;
use pavior::simulation::RunError;
use pavior::workload::TimeUnit;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyDict, PyTuple};

use crate::arguments::whole;
use crate::errors::{input_error, other, stopped, value};
use crate::geometry;
use crate::interrupt::interruptible;
use crate::run_request::{Call, RunRequest};
use allocation::Allocating;
use run::SteppedRun;
use scheduling::Scheduling;

/// A factory for episodes that share one combination of parameters.
#[pyclass(frozen, module = "pavior._native")]
pub(crate) struct Episodes {
    scenario: Scenario,
    grid: Grid,
    unit: TimeUnit,
    jobs: usize,
}

impl Episodes {
    fn begin(&self, py: Python<'_>, replication: u64) -> PyResult<SteppedRun> {
        let run = self.scenario.stepped(replication, self.jobs);
        let run = run.map_err(|error| stopped(py, &error, ""))?;
        let run =
            run.ok_or_else(|| value("an episode requires a job simulation, not a snapshot"))?;
        Ok(SteppedRun::new(run, self.scale(replication)))
    }

    /// Returns the mean estimated run time in a replication, in ticks, for scaling times.
    fn scale(&self, replication: u64) -> f64 {
        let (mut sum, mut count) = (0.0, 0_u32);
        for job in self.scenario.jobs(replication).take(self.jobs.min(10_000)) {
            sum += job.estimate.ticks();
            count += 1;
        }
        (sum / f64::from(count.max(1))).max(1.0)
    }
}

#[pymethods]
impl Episodes {
    /// Creates a factory for episodes with `jobs` jobs each. By default, an episode has all jobs in
    /// the log, or 1,000 synthetic jobs.
    #[new]
    #[pyo3(signature = (machine, strategy, scheduler, *, jobs = None, **parameters))]
    fn new(
        py: Python<'_>,
        machine: &Bound<'_, PyAny>,
        strategy: &Bound<'_, PyAny>,
        scheduler: &Bound<'_, PyAny>,
        jobs: Option<&Bound<'_, PyAny>>,
        parameters: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Episodes> {
        let jobs = jobs.map(whole).transpose()?;
        if jobs == Some(0) {
            return Err(value("an episode must have at least one job"));
        }
        let call = Call::of(py, Some(machine), [Some(strategy), Some(scheduler)], parameters)?;
        let of_log = call.trace.is_some();
        let request = RunRequest::new(call)?;
        let (grid, unit) = (request.point.settings().machine, request.point.unit());
        let jobs = jobs.map(|jobs| usize::try_from(jobs).unwrap_or(usize::MAX));
        let jobs = jobs.unwrap_or(if of_log { usize::MAX } else { 1_000 });
        let scenario = interruptible(py, || (), move || request.scenario())?;
        let scenario = scenario.map_err(|error| input_error(py, &error))?;
        Ok(Episodes { scenario, grid, unit, jobs })
    }

    /// The sides of the machine.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        geometry::tuple(py, self.grid.sides(), self.grid.axes())
    }

    /// Creates an episode in which the caller schedules jobs and sees the first `window` jobs in
    /// the queue.
    fn scheduling(&self, py: Python<'_>, replication: u64, window: usize) -> PyResult<Episode> {
        let scheduling = Scheduling::new(self.begin(py, replication)?, window);
        Episode::begin(py, Box::new(scheduling), self.unit)
    }

    /// Creates an episode in which the caller places jobs.
    fn allocating(&self, py: Python<'_>, replication: u64) -> PyResult<Episode> {
        let allocating = Allocating::new(self.begin(py, replication)?);
        Episode::begin(py, Box::new(allocating), self.unit)
    }
}

/// The decisions that an episode leaves to the caller.
trait Decisions: Send {
    fn run(&mut self) -> &mut SteppedRun;
    /// Runs until the caller has to decide, or to the end.
    fn run_to_decision(&mut self) -> Result<(), RunError>;
    /// Performs an action. Returns true if the mask allows it.
    fn act(&mut self, action: usize) -> Result<bool, RunError>;
    /// Returns the arrays of an observation. The last one is the mask.
    fn observe(&mut self) -> Vec<Vec<u8>>;
}

/// A run that is waiting for the caller's decision.
#[pyclass(frozen, module = "pavior._native")]
pub(crate) struct Episode {
    decisions: Mutex<Box<dyn Decisions>>,
    unit: TimeUnit,
}

/// The result of a step, which consists of: the observation and the mask as raw arrays; the time
/// integral of the number of waiting jobs since the last decision; a flag that is True if the run
/// is over; the time; the numbers of waiting, running and departed jobs; and a flag that is True if
/// the mask allows the action.
type Step<'py> = (Vec<Bound<'py, PyByteArray>>, f64, bool, f64, (usize, usize, u64), bool);

impl Episode {
    fn begin(py: Python<'_>, decisions: Box<dyn Decisions>, unit: TimeUnit) -> PyResult<Episode> {
        let episode = Episode { decisions: Mutex::new(decisions), unit };
        episode.with(py, |decisions| decisions.run_to_decision())?;
        Ok(episode)
    }

    fn with<T>(
        &self,
        py: Python<'_>,
        step: impl FnOnce(&mut dyn Decisions) -> Result<T, RunError>,
    ) -> PyResult<T> {
        let busy = |_| other("only one thread at a time can step an episode");
        let mut decisions = self.decisions.try_lock().map_err(busy)?;
        step(&mut **decisions).map_err(|error| stopped(py, &error, ""))
    }
}

#[pymethods]
impl Episode {
    /// Performs an action, and runs until the next decision.
    fn step<'py>(&self, py: Python<'py>, action: usize) -> PyResult<Step<'py>> {
        let valid = self.with(py, |decisions| decisions.act(action))?;
        self.look(py, valid)
    }

    /// Returns the current observation without taking a step.
    fn see<'py>(&self, py: Python<'py>) -> PyResult<Step<'py>> {
        self.look(py, true)
    }

    /// Draws the machine as text. A free node is `.`, and a busy or failed node is `#`.
    fn drawn(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |decisions| {
            Ok(pavior::boxes::picture::draw(decisions.run().simulation.machine().free()))
        })
    }
}

impl Episode {
    fn look<'py>(&self, py: Python<'py>, valid: bool) -> PyResult<Step<'py>> {
        let (arrays, waited, over, now, counts) = self.with(py, |decisions| {
            let arrays = decisions.observe();
            let run = decisions.run();
            let (waited, simulation) = (std::mem::take(&mut run.waited), &run.simulation);
            let (queue, running) = (simulation.queue().len(), simulation.running().len());
            let counts = (queue, running, simulation.completed());
            Ok((arrays, waited, run.over, simulation.now(), counts))
        })?;
        let arrays = arrays.iter().map(|bytes| PyByteArray::new(py, bytes)).collect();
        let waited = waited / self.unit.ticks as f64;
        Ok((arrays, waited, over, self.unit.units(now), counts, valid))
    }
}
