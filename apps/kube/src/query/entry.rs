//! Jobs with a shape, as shown to users.

use pavior::Time;
use pavior::workload::TimeUnit;
use pavior_cluster::date;
use serde::{Serialize, Serializer};

use crate::objects::{Job, Object as _, PlacementSpec, Pod, Uid};
use crate::plan::{Forecast, Waiting};
use crate::world::Index;

/// The state of a Job that has a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobState {
    /// All of the Job's pods are bound.
    Runs,
    /// The Job has its nodes, but some of its pods are not bound yet.
    Placed,
    /// Nodes are free for the Job, and the daemon's next plan will assign them to it.
    Fits,
    /// The Job is waiting for nodes.
    Waits,
    /// The Job cannot start unless the Job or the cluster changes.
    Never,
    /// The Job is suspended.
    Suspended,
    /// The pods do not exist yet.
    New,
    /// The Job has ended.
    Over,
}

/// The decision about a Job without a placement.
#[derive(Clone, Copy)]
pub(super) enum Decision<'a> {
    /// The Job gets this placement.
    Propose(&'a PlacementSpec),
    Wait {
        waiting: &'a Waiting,
        /// The forecast for the Job's machine, or the reason why it failed.
        forecast: Option<&'a Result<Forecast, String>>,
    },
}

impl JobState {
    pub(super) fn of(index: &Index<'_>, job: &Job, decision: Option<Decision<'_>>) -> JobState {
        let is_bound = |pod: &&Pod| pod.node().is_some() && !pod.is_terminating();
        let bound = index.pods_of(job).filter(is_bound).count();
        match (index.placement_of(job), decision) {
            _ if job.is_finished() => JobState::Over,
            (Some(_), _) if bound as u32 >= job.remaining() => JobState::Runs,
            (Some(_), _) => JobState::Placed,
            (None, Some(Decision::Propose(_))) => JobState::Fits,
            (None, Some(Decision::Wait { waiting, .. })) if waiting.is_blocked() => JobState::Never,
            (None, Some(Decision::Wait { .. })) => JobState::Waits,
            _ if job.is_suspended() => JobState::Suspended,
            _ => JobState::New,
        }
    }

    /// Returns the position of this state in the order in which Jobs are listed.
    pub(super) fn rank(self) -> usize {
        match self {
            JobState::Runs | JobState::Placed => 0,
            JobState::Fits => 1,
            JobState::Waits | JobState::Never | JobState::Suspended | JobState::New => 2,
            JobState::Over => 3,
        }
    }

    /// Returns the name of the state.
    pub fn word(self) -> &'static str {
        match self {
            JobState::Runs => "runs",
            JobState::Placed => "placed",
            JobState::Fits => "fits",
            JobState::Waits => "waits",
            JobState::Never => "never",
            JobState::Suspended => "suspended",
            JobState::New => "new",
            JobState::Over => "over",
        }
    }
}

impl Serialize for JobState {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.word())
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
    /// The reason why the Job is waiting, or the box that it is about to get, as text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The Job's Kueue state, as text, or `None` if the Job is not in a Kueue queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kueue: Option<String>,
    /// The start time if every job runs to its time limit, in seconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub starts: Option<u64>,
    /// The earliest, median and latest start in the forecast, in seconds since 1970. A start more
    /// than 60 days away is null. The range is `None` if too little is known or the Job does not
    /// start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<[Option<u64>; 3]>,
    /// The obstacle, if the Job does not start: `unavailable` if the Job cannot start until an
    /// unavailable node returns, or `horizon` if it does not start within 60 days.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub obstacle: Option<&'static str>,
    /// The forecast as text, or the reason why there is no forecast.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probably: Option<String>,
}

impl Entry {
    /// Describes a Job. `kueue` is its state in Kueue.
    pub(super) fn of(
        index: &Index<'_>,
        job: &Job,
        decision: Option<Decision<'_>>,
        kueue: Option<String>,
    ) -> Entry {
        let state = JobState::of(index, job, decision);
        let entry = Entry {
            namespace: job.namespace().to_string(),
            name: job.name().to_string(),
            shape: job.shape().unwrap_or_default().to_string(),
            state,
            at: index.placement_of(job).map(|placement| placement.spec.at.clone()),
            why: None,
            kueue: kueue.filter(|_| state != JobState::Over),
            starts: None,
            range: None,
            obstacle: None,
            probably: None,
        };
        match decision {
            Some(Decision::Propose(placement)) if state == JobState::Fits => {
                let at = placement.at.replacen('@', " at ", 1);
                let why = format!("Its box {at} is free, and the daemon will place it next.");
                Entry { why: Some(why), ..entry }
            }
            Some(Decision::Wait { waiting, forecast })
                if matches!(state, JobState::Waits | JobState::Never) =>
            {
                let (why, starts) = (Some(waiting.why.clone()), waiting.starts_at);
                let entry = Entry { why, starts, ..entry };
                match forecast {
                    Some(Ok(forecast)) => entry.with_forecast(forecast, &job.uid()),
                    Some(Err(why)) if state == JobState::Waits => {
                        Entry { probably: Some(format!("The forecast failed: {why}.")), ..entry }
                    }
                    _ => entry,
                }
            }
            _ => entry,
        }
    }

    /// Adds a Job's predicted start.
    fn with_forecast(self, forecast: &Forecast, uid: &Uid) -> Entry {
        let Some(start) = forecast.of(uid) else { return self };
        let is_calibrated = forecast.queue.experience.calibrated && start.obstacle.is_none();
        let seconds = |time: Time| time.0 / TimeUnit::SECOND.ticks;
        let times = [start.earliest, start.median, start.latest];
        Entry {
            range: is_calibrated.then(|| times.map(|time| time.map(seconds))),
            obstacle: start.obstacle.map(|obstacle| obstacle.name()),
            probably: forecast.words(uid, date),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::world::World;

    #[test]
    fn a_failed_forecast_does_not_hide_the_reason_for_waiting() {
        let job = json!({ "metadata": { "name": "a", "uid": "a" }, "spec": {} });
        let job: Job = serde_json::from_value(job).unwrap();
        let (world, failure) = (World::default(), Err("no time".to_string()));
        let waiting = &Waiting::new(&job, "full".to_string());
        let decision = Decision::Wait { waiting, forecast: Some(&failure) };
        let entry = Entry::of(&Index::of(&world), &job, Some(decision), None);
        let (why, probably) = (entry.why.unwrap(), entry.probably.unwrap());
        assert_eq!((why.as_str(), probably.as_str()), ("full", "The forecast failed: no time."));
    }
}
