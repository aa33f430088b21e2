//! Typed settings for a run. Only valid combinations can be expressed.
//!
//! The parameters parse text into [`Given`], which is then converted to [`RunSettings`] once.
//! Incompatible settings, such as a mean time to failure without a mean time to repair, cannot be
//! expressed in these types.

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

/// The name of an invalid parameter, and the reason.
pub(crate) type Fault = (&'static str, String);

/// A machine, a strategy, and the strategy's task.
#[derive(Clone, Debug)]
pub struct RunSettings {
    /// The machine's grid.
    pub machine: Grid,
    /// The strategy.
    pub strategy: pavior_allocation::Selection,
    /// The seed for all random numbers.
    pub seed: u64,
    /// The strategy's task.
    pub asked: Asked,
}

/// The task given to a strategy.
#[derive(Clone, Debug)]
pub enum Asked {
    /// Placing jobs over time.
    Jobs(Box<JobSettings>),
    /// Placing one request in a snapshot.
    Snapshot(SnapshotSettings),
}

impl RunSettings {
    /// Creates settings from the given values, without reading any files.
    ///
    /// # Errors
    /// Returns the offending parameter and the reason if settings are incompatible.
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

    /// Returns the settings for a run of jobs, or `None` for a snapshot.
    pub fn jobs(&self) -> Option<&JobSettings> {
        match &self.asked {
            Asked::Jobs(jobs) => Some(jobs),
            Asked::Snapshot(_) => None,
        }
    }

    /// Returns the unit of time.
    pub fn unit(&self) -> TimeUnit {
        self.jobs().map_or(TimeUnit::TIME_UNIT, |jobs| jobs.unit)
    }

    /// Returns true if the workload uses random numbers. Replications then differ even if the
    /// strategy uses no random numbers.
    pub fn draws(&self) -> bool {
        self.jobs().is_none_or(JobSettings::draws)
    }

    /// Returns the files needed: a log, and lists of failures and reservations.
    pub fn inputs(&self) -> Vec<InputRequest> {
        self.jobs().map_or_else(Vec::new, JobSettings::inputs)
    }
}

/// Returns a value that must be specified or have a default in the list of parameters.
fn needed<T>(value: Option<T>, name: &'static str) -> Result<T, Fault> {
    value.ok_or_else(|| (name, "a value is required".to_string()))
}
