//! When one job will start: its times, or why it has none.

use pavior_kernel::Time;
use pavior_mesh::{Cuboid, Grid};

use super::{Experience, Forecast};

/// When a job will start. A time is none where the job starts no sooner than
/// [`HORIZON`](super::HORIZON) from now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start {
    /// Earlier than this in about 5 of 100 cases.
    pub earliest: Option<Time>,
    /// Earlier and later equally often.
    pub median: Option<Time>,
    /// Later than this in about 5 of 100 cases.
    pub latest: Option<Time>,
    /// The start if each job runs as long as its user says, and no more jobs arrive.
    pub plan: Option<Time>,
    /// Why there is no time; none where there is one.
    pub obstacle: Option<Obstacle>,
}

/// The reason why a job has no start time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// Nodes that are not available: the job would not start even if every other job were gone.
    /// With the place of its box that has the fewest of them, and how many that are; none where
    /// nodes are granted by their number, or the strategy does not use such a place.
    Unavailable(Option<(Cuboid, u32)>),
    /// The time that is looked ahead: it does not start within [`HORIZON`](super::HORIZON).
    Horizon,
}

impl Obstacle {
    /// Returns its name in JSON.
    pub fn name(&self) -> &'static str {
        match self {
            Obstacle::Unavailable(_) => "unavailable",
            Obstacle::Horizon => "horizon",
        }
    }

    /// Returns the place that lacks the fewest nodes, if there is one.
    pub fn place(&self) -> Option<Cuboid> {
        let Obstacle::Unavailable(Some((at, _))) = self else { return None };
        Some(*at)
    }
}

impl Start {
    /// Makes the start of a job that starts now.
    pub(super) fn at(now: Time) -> Start {
        let now = Some(now);
        Start { earliest: now, median: now, latest: now, plan: now, obstacle: None }
    }

    /// Takes the times of a forecast that are before `end`.
    pub(super) fn of(forecast: &Forecast, end: Time) -> Start {
        let Forecast { low, median, high, plan, .. } = *forecast;
        let [earliest, median, latest, plan] =
            [low, median, high, plan].map(|at| (at < end).then_some(at));
        Start { earliest, median, latest, plan, obstacle: None }
    }

    /// Returns the earliest, the median, the latest and the planned start.
    pub fn times(&self) -> [Option<Time>; 4] {
        [self.earliest, self.median, self.latest, self.plan]
    }

    /// Keeps what is known without a past to draw from: the plan, and that a job starts now.
    #[must_use]
    pub fn plan_alone(self, now: Time) -> Start {
        let at = self.plan.filter(|&plan| plan == now);
        let no_plan = self.plan.is_none().then_some(Obstacle::Horizon);
        let obstacle = self.obstacle.or(no_plan);
        Start { earliest: at, median: at, latest: at, obstacle, ..self }
    }

    /// True if no time is known.
    pub(super) fn is_unknown(&self) -> bool {
        self.times() == [None; 4]
    }

    /// Writes the start with dates of an interface, and what has been learned.
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

/// When a request will start, as far as that is known, and how good such answers have been. Times
/// are in RFC 3339.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct StartJson {
    /// Earlier than this in about 5 of 100 cases. A time is null where the request starts no sooner
    /// than 60 days from now.
    pub earliest: Option<String>,
    /// Earlier and later equally often.
    pub median: Option<String>,
    /// Later than this in about 5 of 100 cases.
    pub latest: Option<String>,
    /// The start if each job runs as long as is said, and no more requests come.
    pub plan: Option<String>,
    /// Why no time is known: `unavailable` if it cannot start until an unavailable node is back,
    /// `horizon` if it does not start within 60 days; else null.
    pub obstacle: Option<&'static str>,
    /// The place for the request with the fewest unavailable nodes, if it needs one of them.
    pub place: Option<Place>,
    /// True if enough has been learned: 30 promises on this machine. Before, the margin is wide and
    /// nothing supports it.
    pub calibrated: bool,
    /// Requests that waited on this machine and started in the interval that was promised first.
    pub kept: u64,
    /// Those that did not, or wait too long already.
    pub broken: u64,
    /// Known run times of this machine.
    pub runs: u64,
}

/// A box of nodes, with as many coordinates as the machine has axes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Place {
    /// The corner with the smallest coordinates.
    pub base: Vec<u16>,
    /// The sides.
    pub sides: Vec<u16>,
}

impl Place {
    /// Writes a box of a grid.
    pub fn of(grid: &Grid, at: &Cuboid) -> Place {
        let axes = grid.axes();
        Place { base: at.base[..axes].to_vec(), sides: at.sides[..axes].to_vec() }
    }
}
