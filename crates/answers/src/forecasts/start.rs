//! The forecast for one job: its start times, or the reason that there are none.

use pavior_kernel::Time;
use pavior_mesh::{Cuboid, Grid};

use super::{Experience, Forecast};
use crate::json::Place;

/// A job's predicted start. A time is `None` if the job does not start within
/// [`HORIZON`](super::HORIZON).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start {
    /// The 5% quantile: about 5% of jobs start earlier.
    pub earliest: Option<Time>,
    /// The median: half of the jobs start earlier.
    pub median: Option<Time>,
    /// The 95% quantile: about 5% of jobs start later.
    pub latest: Option<Time>,
    /// The start time if every job runs for its estimate and no more jobs arrive.
    pub plan: Option<Time>,
    /// The reason that there is no start time, or `None` if there is one.
    pub obstacle: Option<Obstacle>,
}

/// The reason that a job has no start time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// The job needs unavailable nodes, so it would not start even if all other jobs were gone.
    /// Contains the box position with the fewest unavailable nodes, and the number of these nodes.
    /// Contains `None` if nodes are granted by count or the strategy does not use that position.
    Unavailable(Option<(Cuboid, u32)>),
    /// The job does not start within [`HORIZON`](super::HORIZON), the length of the forecast.
    Horizon,
}

impl Obstacle {
    /// Returns the obstacle's name in JSON.
    pub fn name(&self) -> &'static str {
        match self {
            Obstacle::Unavailable(_) => "unavailable",
            Obstacle::Horizon => "horizon",
        }
    }

    /// Returns the box with the fewest unavailable nodes, if known.
    pub fn place(&self) -> Option<Cuboid> {
        let Obstacle::Unavailable(Some((at, _))) = self else { return None };
        Some(*at)
    }
}

impl Start {
    /// Creates the forecast for a job that starts now.
    pub(super) fn at(now: Time) -> Start {
        let now = Some(now);
        Start { earliest: now, median: now, latest: now, plan: now, obstacle: None }
    }

    /// Creates a start from a forecast, omitting times at or after `end`.
    pub(super) fn of(forecast: &Forecast, end: Time) -> Start {
        let Forecast { low, median, high, plan, .. } = *forecast;
        let [earliest, median, latest, plan] =
            [low, median, high, plan].map(|at| (at < end).then_some(at));
        Start { earliest, median, latest, plan, obstacle: None }
    }

    /// Returns the earliest, median, latest and planned start times.
    pub fn times(&self) -> [Option<Time>; 4] {
        [self.earliest, self.median, self.latest, self.plan]
    }

    /// Removes everything that depends on the past, but keeps the plan and any start at `now`.
    #[must_use]
    pub fn plan_alone(self, now: Time) -> Start {
        let at = self.plan.filter(|&plan| plan == now);
        let no_plan = self.plan.is_none().then_some(Obstacle::Horizon);
        let obstacle = self.obstacle.or(no_plan);
        Start { earliest: at, median: at, latest: at, obstacle, ..self }
    }

    /// Converts the start and the evidence to JSON, with times in the interface's own format.
    pub(super) fn json(
        &self,
        learned: &Experience,
        grid: &Grid,
        date: impl Fn(Time) -> String,
    ) -> StartJson {
        let [earliest, median, latest, plan] = self.times().map(|time| time.map(&date));
        StartJson {
            earliest,
            median,
            latest,
            plan,
            obstacle: self.obstacle.map(|obstacle| obstacle.name()),
            place: self
                .obstacle
                .and_then(|obstacle| obstacle.place())
                .map(|at| Place::of(grid, &at)),
            calibrated: learned.calibrated,
            kept: learned.promises.kept,
            broken: learned.promises.broken,
            runs: learned.runs,
        }
    }
}

/// A request's predicted start, if known, and the record of earlier forecasts. Times are in RFC
/// 3339 format.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct StartJson {
    /// The 5% quantile: about 5% of requests like this start earlier. Like the other times, this is
    /// null if it is not within 60 days.
    pub earliest: Option<String>,
    /// The median: half of all requests like this start earlier.
    pub median: Option<String>,
    /// The 95% quantile: about 5% of requests like this start later.
    pub latest: Option<String>,
    /// The start time if every job runs for its estimate and no more requests arrive.
    pub plan: Option<String>,
    /// The reason that no time is known, or null. `unavailable`: the request cannot start until an
    /// unavailable node recovers. `horizon`: the request does not start within 60 days.
    pub obstacle: Option<&'static str>,
    /// The box with the fewest unavailable nodes, if the request cannot avoid such nodes.
    pub place: Option<Place>,
    /// True if at least 30 forecasts on this machine have known outcomes. Until then, the margin is
    /// wide and not based on data.
    pub calibrated: bool,
    /// The number of requests that had to wait on this machine and started within their first
    /// predicted interval.
    pub kept: u64,
    /// The number of requests that started outside their first predicted interval, or have already
    /// waited longer than predicted.
    pub broken: u64,
    /// The number of known run times on this machine.
    pub runs: u64,
}
