//! Forecasts as sentences.

use pavior_allocation::explain;
use pavior_kernel::Time;
use pavior_mesh::{Grid, JobId};
use pavior_workload::TimeUnit;

use super::{HORIZON, Obstacle, QueueForecast, Start};

/// The wording that an interface uses for times and jobs in a forecast.
pub struct StartWords<'a> {
    /// The machine's grid.
    pub grid: &'a Grid,
    /// A function that formats a time in seconds since 1970.
    pub date: &'a dyn Fn(u64) -> String,
    /// A noun phrase, such as `jobs of the last 7 days`, for the past jobs.
    pub jobs: &'a str,
    /// A verb, such as `ran`, for past jobs whose run times are known.
    pub known: &'a str,
}

impl QueueForecast {
    /// Describes when a job will probably start, and how reliable forecasts have been so far. If
    /// there is no forecast, describes what is missing or why the job does not start.
    pub fn words(&self, job: JobId, words: &StartWords<'_>) -> Option<String> {
        let (start, learned) = (self.starts.get(&job)?, &self.experience);
        Some(match &start.obstacle {
            Some(obstacle) => obstacle.words(words.grid),
            None if learned.calibrated => self.range(start, words.date),
            None => format!(
                "A forecast will be available once 30 {} have had to wait (so far, {} of the {} \
                 that {} had to wait).",
                words.jobs,
                learned.judged(),
                learned.runs,
                words.known
            ),
        })
    }

    fn range(&self, start: &Start, date: impl Fn(u64) -> String) -> String {
        let date = |time: Time| date(time.0 / TimeUnit::SECOND.ticks);
        let end = self.now.saturating_add(HORIZON);
        let at = |time: Option<Time>| time.map_or_else(|| format!("after {}", date(end)), date);
        format!(
            "It will probably start between {} and {}, with even odds of starting before {}. {} of \
             the last {} jobs that had to wait started within their forecast range.",
            at(start.earliest),
            at(start.latest),
            at(start.median),
            self.experience.promises.kept,
            self.experience.judged(),
        )
    }
}

impl Obstacle {
    /// Returns a sentence that explains why the job does not start.
    pub fn words(&self, grid: &Grid) -> String {
        match self {
            Obstacle::Horizon => "It is not expected to start within 60 days.".to_string(),
            Obstacle::Unavailable(None) => {
                "It cannot start until an unavailable node is back.".to_string()
            }
            Obstacle::Unavailable(Some((at, missing))) => format!(
                "It cannot start until an unavailable node is back; {} has the fewest \
                 unavailable nodes ({missing}).",
                explain::words(grid, at)
            ),
        }
    }
}
