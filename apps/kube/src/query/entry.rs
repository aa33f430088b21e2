//! Jobs with a shape, as shown to users.

use pavior::Time;
use pavior::workload::TimeUnit;
use pavior_cluster::date;
use serde::Serialize;

use crate::objects::{Job, Object as _, Pod};
use crate::plan::{Forecast, Waiting};
use crate::world::Index;

/// The state of a Job that has a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum JobState {
    /// All of the Job's pods are bound.
    Runs,
    /// The Job has its nodes, but some of its pods are not bound yet.
    Placed,
    /// The Job is waiting for nodes.
    Waits,
    /// The Job cannot start unless it or the cluster changes.
    Never,
    /// The Job is suspended.
    Suspended,
    /// The pods do not exist yet.
    New,
    /// The Job has ended.
    Over,
}

impl JobState {
    fn of(index: &Index<'_>, job: &Job, waiting: Option<&Waiting>) -> JobState {
        let is_bound = |pod: &&Pod| pod.node().is_some() && !pod.is_terminating();
        let bound = index.pods_of(job).filter(is_bound).count();
        match (index.placement_of(job), waiting) {
            _ if job.is_finished() => JobState::Over,
            (Some(_), _) if bound as u32 >= job.remaining() => JobState::Runs,
            (Some(_), _) => JobState::Placed,
            (None, Some(waiting)) if waiting.is_blocked() => JobState::Never,
            (None, Some(_)) => JobState::Waits,
            _ if job.is_suspended() => JobState::Suspended,
            _ => JobState::New,
        }
    }

    /// Returns the name of the state.
    pub fn word(self) -> &'static str {
        match self {
            JobState::Runs => "runs",
            JobState::Placed => "placed",
            JobState::Waits => "waits",
            JobState::Never => "never",
            JobState::Suspended => "suspended",
            JobState::New => "new",
            JobState::Over => "over",
        }
    }
}

/// A Job that has a shape.
#[derive(Clone, Debug, Serialize)]
pub struct Entry {
    /// The namespace.
    pub namespace: String,
    /// The name.
    pub name: String,
    /// The shape in chips, as written.
    pub shape: String,
    /// The current state.
    pub state: JobState,
    /// The box in nodes, such as `4x4x2@0,0,6`.
    #[serde(rename = "box", skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// The reason why the Job is waiting, in sentences.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The Job's Kueue state, in sentences, or `None` if the Job is not in a Kueue queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kueue: Option<String>,
    /// The start time according to the time limits, in seconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub starts: Option<u64>,
    /// The earliest, median and latest start in the forecast, in seconds since 1970; null if more
    /// than 60 days away. `None` until enough is known, and for a Job that does not start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<[Option<u64>; 3]>,
    /// The obstacle, for a Job that does not start: `unavailable` if it cannot start until an
    /// unavailable node returns, or `horizon` if it does not start within 60 days.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub obstacle: Option<&'static str>,
    /// The forecast in sentences, or the reason why there is no forecast.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probably: Option<String>,
}

impl Entry {
    /// Describes a Job. `waiting` contains the reason why the Job is waiting, if it is.
    pub(super) fn of(
        index: &Index<'_>,
        job: &Job,
        waiting: Option<&Waiting>,
        forecasts: &[Forecast],
    ) -> Entry {
        let state = JobState::of(index, job, waiting);
        let reason = waiting.filter(|_| matches!(state, JobState::Waits | JobState::Never));
        let uid = job.uid();
        let forecast = forecasts.iter().find(|all| reason.is_some() && all.of(&uid).is_some());
        let start = forecast.and_then(|forecast| forecast.of(&uid));
        let obstacle = start.and_then(|start| start.obstacle);
        let is_calibrated = forecast.is_some_and(|all| all.queue.experience.calibrated);
        let range = start.filter(|_| is_calibrated && obstacle.is_none()).map(|start| {
            let seconds = |time: Time| time.0 / TimeUnit::SECOND.ticks;
            [start.earliest, start.median, start.latest].map(|time| time.map(seconds))
        });
        Entry {
            namespace: job.namespace().to_string(),
            name: job.name().to_string(),
            shape: job.shape().unwrap_or_default().to_string(),
            state,
            at: index.placement_of(job).map(|placement| placement.spec.at.clone()),
            why: reason.map(|waiting| waiting.why.clone()),
            kueue: None,
            starts: reason.and_then(|waiting| waiting.starts_at),
            range,
            obstacle: obstacle.map(|obstacle| obstacle.name()),
            probably: forecast.and_then(|forecast| forecast.words(&uid, date)),
        }
    }
}
