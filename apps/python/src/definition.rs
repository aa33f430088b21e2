//! An experiment with its inputs, and the scenarios created so far.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use pavior::experiments::Specification as Experiment;
use pavior::experiments::{Folder, InputError, JournalEntry, Scenario};
use pavior::simulation::{Histories, RunError, Stop};
use pyo3::prelude::*;

use crate::errors::{input, other, stopped};
use crate::journal::{BETWEEN_WORKERS, Span};

/// An experiment with its inputs, shared by the threads that run it.
pub(crate) struct Definition {
    pub(crate) experiment: Experiment,
    inputs: Folder,
    histories: Histories,
    scenarios: Mutex<HashMap<usize, Arc<Scenario>>>,
}

/// The reasons why running a span failed.
pub(crate) enum SpanError {
    Words(String),
    Input(InputError),
    Run(usize, u64, RunError),
}

impl Definition {
    pub(crate) fn new(experiment: Experiment, inputs: Folder) -> Definition {
        let (histories, scenarios) = (Histories::default(), Mutex::default());
        Definition { experiment, inputs, histories, scenarios }
    }

    /// Returns the fingerprint of the experiment and its inputs, or an error in them.
    pub(crate) fn fingerprint(&self) -> Result<String, InputError> {
        self.experiment.fingerprint(&self.inputs)
    }

    fn scenario(&self, point: usize) -> Result<Arc<Scenario>, SpanError> {
        let failed = |_| SpanError::Words("an earlier call for this experiment failed".to_string());
        let mut scenarios = self.scenarios.lock().map_err(failed)?;
        if let Some(scenario) = scenarios.get(&point) {
            return Ok(scenario.clone());
        }
        let Experiment { points, timing, .. } = &self.experiment;
        let values = points.get(point);
        let missing = || SpanError::Words(format!("the experiment has no point {point}"));
        let values = values.ok_or_else(missing)?;
        let settings = values.settings();
        let scenario = Scenario::new(settings, *timing, &self.inputs, &self.histories);
        let scenario = Arc::new(scenario.map_err(SpanError::Input)?);
        scenarios.insert(point, scenario.clone());
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
                .map_err(|error| SpanError::Run(point, replication, error))?;
            lines += &JournalEntry { point, replication, sample }.line(BETWEEN_WORKERS);
            lines.push('\n');
        }
        Ok(lines)
    }

    pub(crate) fn raised(&self, py: Python<'_>, fault: SpanError) -> PyErr {
        match fault {
            SpanError::Words(words) => other(words),
            SpanError::Input(error) => input(py, &error),
            SpanError::Run(point, replication, error) => {
                let key = self.experiment.points[point].key();
                stopped(py, &error, &format!("replication {replication} of {key}: "))
            }
        }
    }
}
