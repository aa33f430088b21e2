//! What a run is: every setting with its type, and only what goes together.
//!
//! The list of parameters reads texts into [`Given`], and [`RunSettings`] is made of that once. Its
//! types leave no place for settings that do not go together. An example is a mean time to failure
//! without a mean time to repair.

mod failures;
mod jobs;
mod network;
mod snapshot;

use pavior_mesh::Grid;
use pavior_workload::TimeUnit;

use crate::inputs::InputRequest;
use crate::keys::Keys;
use crate::{Catalogue, Given};

pub use failures::{FailureSettings, FailureSource};
pub use jobs::{JobSettings, JobSource, LogSettings, MigrationSettings};
pub use network::{NetworkParameters, NetworkSettings};
pub use snapshot::{BusyBoxes, SnapshotSettings};

/// A parameter at fault, by name, and why.
pub(crate) type Fault = (&'static str, String);

/// A machine, a strategy, and what it is asked.
#[derive(Clone, Debug)]
pub struct RunSettings {
    /// The machine.
    pub machine: Grid,
    /// Which nodes a job gets.
    pub strategy: pavior_allocation::Selection,
    /// The seed of all random numbers.
    pub seed: u64,
    /// What is asked.
    pub asked: Asked,
}

/// What the strategy is asked.
#[derive(Clone, Debug)]
pub enum Asked {
    /// To place jobs, as time passes.
    Jobs(Box<JobSettings>),
    /// To place one request in a state in which no time passes.
    Snapshot(SnapshotSettings),
}

impl RunSettings {
    /// The settings that were given. No file is read.
    ///
    /// # Errors
    /// If settings do not go together: the parameter at fault, and why.
    pub(crate) fn new(
        given: &Given,
        keys: Keys,
        catalogue: &Catalogue,
    ) -> Result<RunSettings, Fault> {
        let machine = needed(given.machine, "machine")?;
        let strategy = needed(given.strategy.clone(), "strategy")?;
        strategy.supports(&machine).map_err(|error| ("strategy", error.to_string()))?;
        let seed = needed(given.seed, "seed")?;
        let asked = if let Some(request) = given.request {
            Asked::Snapshot(SnapshotSettings::new(given, request, machine, seed)?)
        } else {
            Asked::Jobs(Box::new(JobSettings::new(given, machine, keys, catalogue)?))
        };
        Ok(RunSettings { machine, strategy, seed, asked })
    }

    /// The jobs of a run; none in a snapshot.
    pub fn jobs(&self) -> Option<&JobSettings> {
        match &self.asked {
            Asked::Jobs(jobs) => Some(jobs),
            Asked::Snapshot(_) => None,
        }
    }

    /// What times are measured in.
    pub fn unit(&self) -> TimeUnit {
        self.jobs().map_or(TimeUnit::TIME_UNIT, |jobs| jobs.unit)
    }

    /// Whether the workload draws numbers. If it does, replications differ even if the strategy
    /// draws none.
    pub fn draws(&self) -> bool {
        self.jobs().is_none_or(JobSettings::draws)
    }

    /// The files that are needed: a log, and lists of failures and of reservations.
    pub fn inputs(&self) -> Vec<InputRequest> {
        self.jobs().map_or_else(Vec::new, JobSettings::inputs)
    }
}

/// A value that must be given, or have a default in the list of parameters.
fn needed<T>(value: Option<T>, name: &'static str) -> Result<T, Fault> {
    value.ok_or_else(|| (name, "a value is needed".to_string()))
}
