//! Forecasts for the jobs in a queue, and the evidence behind them.

use pavior_kernel::Time;
use pavior_mesh::{Grid, JobId};
use rustc_hash::FxHashMap;

use super::{Record, Start, StartJson};

/// Forecasts for the jobs in a queue. All interfaces use this type.
#[derive(Clone, Debug, Default)]
pub struct QueueForecast {
    /// The time at which the forecasts were made.
    pub now: Time,
    /// The forecast for each job in question.
    pub starts: FxHashMap<JobId, Start>,
    /// The evidence behind the forecasts.
    pub experience: Experience,
}

/// A summary of the data that a machine's forecasts are based on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Experience {
    /// The number of known run times.
    pub runs: u64,
    /// The record of promises.
    pub promises: Record,
    /// True if the outcomes of enough promises are known. Until then, intervals have a fixed margin
    /// that is not based on data.
    pub calibrated: bool,
}

impl Experience {
    /// Returns the number of promises that were kept or broken.
    pub fn judged(&self) -> u64 {
        self.promises.kept + self.promises.broken
    }
}

impl QueueForecast {
    /// Returns a job's forecast as JSON. `date` formats a time as RFC 3339.
    pub fn json(
        &self,
        job: JobId,
        grid: &Grid,
        date: impl Fn(Time) -> String,
    ) -> Option<StartJson> {
        Some(self.starts.get(&job)?.json(&self.experience, grid, date))
    }
}
