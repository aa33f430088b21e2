//! An experiment with its inputs and the scenarios created so far.

use std::sync::{Arc, Mutex};

use pavior::experiments::Specification as Experiment;
use pavior::experiments::{Folder, InputError, JournalEntry, Scenario};
use pavior::simulation::{Histories, RunError, Stop};
use pyo3::prelude::*;

use crate::errors::{input_error, other, stopped};
use crate::journal::BETWEEN_WORKERS;
use crate::span::Span;

/// An experiment with its inputs, shared by the threads that run it.
pub(crate) struct Definition {
    pub(crate) experiment: Experiment,
    pub(crate) inputs: Folder,
    histories: Histories,
    /// The scenario for each point. Each has its own lock, so threads can create several at once.
    scenarios: Vec<Mutex<Option<Arc<Scenario>>>>,
}

/// Reasons why a span could not be run.
pub(crate) enum SpanError {
    /// The experiment has no point with this index.
    NoPoint(usize),
    /// A thread panicked while creating the scenario.
    Panicked,
    /// An input cannot be read.
    Input(InputError),
    /// A replication failed.
    Replication { point: usize, replication: u64, error: RunError },
}

impl Definition {
    pub(crate) fn new(experiment: Experiment, inputs: Folder) -> Definition {
        let scenarios = experiment.points.iter().map(|_| Mutex::default()).collect();
        Definition { experiment, inputs, histories: Histories::default(), scenarios }
    }

    /// Returns the scenario for a point, creating it on the first call.
    fn scenario(&self, point: usize) -> Result<Arc<Scenario>, SpanError> {
        let known = self.scenarios.get(point).ok_or(SpanError::NoPoint(point))?;
        let mut known = known.lock().map_err(|_| SpanError::Panicked)?;
        if let Some(scenario) = &*known {
            return Ok(scenario.clone());
        }
        let Experiment { points, timing, .. } = &self.experiment;
        let settings = points[point].settings();
        let scenario = Scenario::new(settings, *timing, &self.inputs, &self.histories);
        let scenario = Arc::new(scenario.map_err(SpanError::Input)?);
        *known = Some(scenario.clone());
        Ok(scenario)
    }

    /// Runs a span, and returns its journal lines.
    pub(crate) fn lines(&self, span: Span, stop: &Stop) -> Result<String, SpanError> {
        let Span { point, first, end } = span;
        let scenario = self.scenario(point)?;
        let mut lines = String::new();
        for replication in first..end {
            let sample = self
                .experiment
                .replicate(point, &scenario, replication, stop)
                .map_err(|error| SpanError::Replication { point, replication, error })?;
            lines += &JournalEntry { point, replication, sample }.line(BETWEEN_WORKERS);
            lines.push('\n');
        }
        Ok(lines)
    }

    /// Converts an error to the exception that should be raised.
    pub(crate) fn raised(&self, py: Python<'_>, error: SpanError) -> PyErr {
        match error {
            SpanError::NoPoint(point) => other(format!("the experiment has no point {point}")),
            SpanError::Panicked => other("an earlier call for this experiment failed"),
            SpanError::Input(error) => input_error(py, &error),
            SpanError::Replication { point, replication, error } => {
                let key = self.experiment.points[point].key();
                stopped(py, &error, &format!("replication {replication} of {key}: "))
            }
        }
    }
}
