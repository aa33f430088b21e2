//! When the jobs of a queue will start, and what that is learned from.

use pavior_kernel::Time;
use pavior_mesh::{Grid, JobId};
use rustc_hash::FxHashMap;

use super::{Record, Start, StartJson};

/// When jobs will start, as one answer of every interface.
#[derive(Clone, Debug, Default)]
pub struct QueueForecast {
    /// The instant of the forecasts.
    pub now: Time,
    /// The jobs that were asked about.
    pub starts: FxHashMap<JobId, Start>,
    /// What the forecasts were learned from.
    pub experience: Experience,
}

/// What has been learned on a machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Experience {
    /// Known run times.
    pub runs: u64,
    /// How promises turned out.
    pub promises: Record,
    /// True if enough promises have been held against what came. Before, intervals have a margin
    /// that nothing supports.
    pub calibrated: bool,
}

impl Experience {
    /// Returns the number of promises that were kept or broken.
    pub fn judged(&self) -> u64 {
        self.promises.kept + self.promises.broken
    }
}

impl QueueForecast {
    /// Returns the answer about a job as it is written in JSON; `date` writes a time in RFC 3339.
    pub fn json(
        &self,
        job: JobId,
        grid: &Grid,
        date: impl Fn(Time) -> String,
    ) -> Option<StartJson> {
        Some(self.starts.get(&job)?.json(&self.experience, grid, date))
    }
}
