//! Publishes events with the reasons why Jobs are waiting.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use serde_json::json;

use super::write_reporter::WriteReporter;
use super::{IDLE_PAUSE, RETRY_DELAY};
use crate::objects::Uid;
use crate::plan::Waiting;
use crate::world::World;
use crate::write::{WriteError, Writer};

/// The minimum time between two events on the same Job, and between a rejected event and the next
/// event in the same namespace.
const EVENT_INTERVAL: Duration = Duration::from_secs(30);
/// The time after which an unchanged reason is published again. By default, the API server deletes
/// events after an hour.
const REPEAT_INTERVAL: Duration = Duration::from_mins(50);
/// The maximum number of events per machine and reconciliation.
const MAX_EVENTS: usize = 16;

/// A Job's latest event.
struct LastEvent {
    at: Instant,
    /// The reason that was published, or `None` if publishing it failed.
    why: Option<String>,
}

/// The latest events and rejections.
#[derive(Default)]
pub(super) struct EventPublisher {
    latest: HashMap<Uid, LastEvent>,
    /// The time of the latest rejection in each namespace.
    rejected_at: HashMap<String, Instant>,
}

impl EventPublisher {
    /// Forgets Jobs that no longer exist and rejections that are no longer recent.
    pub(super) fn retain(&mut self, world: &World) {
        self.latest.retain(|uid, _| world.jobs.contains_key(uid));
        self.rejected_at.retain(|_, at| at.elapsed() < EVENT_INTERVAL);
    }

    /// Publishes events until the deadline, one for each Job whose reason for waiting has changed
    /// or was published long ago. Returns the maximum delay before the next call.
    pub(super) async fn publish(
        &mut self,
        writer: &Writer,
        reporter: &WriteReporter,
        all: &[Waiting],
        now: i64,
        deadline: Instant,
    ) -> Duration {
        let (mut delay, mut sent) = (IDLE_PAUSE, 0);
        for waiting in self.changed(all) {
            let remaining = self.remaining(waiting);
            if !remaining.is_zero() {
                delay = delay.min(remaining);
                continue;
            }
            if sent == MAX_EVENTS || Instant::now() >= deadline {
                return RETRY_DELAY;
            }
            sent += 1;
            let (job, at) = (&waiting.job, Instant::now());
            let fields = json!({ "namespace": job.namespace, "name": job.name });
            let result = writer.publish_event(waiting, now).await;
            let why = match result.map_err(|error| reporter.report("event", fields, error)) {
                Ok(()) => Some(waiting.why.clone()),
                Err(WriteError::Unavailable) => return RETRY_DELAY,
                Err(WriteError::Conflict) => None,
                Err(WriteError::Rejected(_)) => {
                    self.rejected_at.insert(job.namespace.clone(), at);
                    None
                }
            };
            if why.is_none() {
                delay = delay.min(EVENT_INTERVAL);
            }
            self.latest.insert(job.uid.clone(), LastEvent { at, why });
        }
        delay
    }

    /// Returns the Jobs whose latest event is old or does not contain the current reason. Jobs
    /// without an event come first, then those whose reason has changed. Otherwise, the oldest
    /// events come first, so that each Job gets its turn.
    fn changed<'a>(&self, all: &'a [Waiting]) -> Vec<&'a Waiting> {
        let order = |waiting: &Waiting| {
            let event = self.latest.get(&waiting.job.uid)?;
            Some((event.why.as_ref() == Some(&waiting.why), event.at))
        };
        let is_due = |waiting: &&Waiting| {
            order(waiting).is_none_or(|(is_same, at)| !is_same || at.elapsed() >= REPEAT_INTERVAL)
        };
        let mut changed: Vec<&Waiting> = all.iter().filter(is_due).collect();
        changed.sort_by_cached_key(|waiting| order(waiting));
        changed
    }

    /// Returns the time until another event may be published for the Job.
    fn remaining(&self, waiting: &Waiting) -> Duration {
        let job_event = self.latest.get(&waiting.job.uid).map(|event| event.at);
        let rejection = self.rejected_at.get(&waiting.job.namespace).copied();
        let latest = job_event.max(rejection);
        latest.map_or(Duration::ZERO, |at| EVENT_INTERVAL.saturating_sub(at.elapsed()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objects::Job;

    #[test]
    fn the_jobs_that_waited_longest_for_an_event_come_first() {
        let waiting = |name: &str| {
            let job = json!({ "metadata": { "name": name, "uid": name }, "spec": {} });
            Waiting::new(&serde_json::from_value::<Job>(job).unwrap(), "new".to_string())
        };
        let all = ["recent", "old", "same", "rejected", "never", "deleted"].map(waiting);
        let mut publisher = EventPublisher::default();
        let now = Instant::now();
        let latest = [
            ("deleted", "new", 3000),
            ("same", "new", 9),
            ("rejected", "", 8),
            ("old", "x", 7),
            ("recent", "x", 6),
        ];
        for (name, why, age_s) in latest {
            let at = now.checked_sub(Duration::from_secs(age_s)).unwrap();
            let why = Some(why.to_string()).filter(|why| !why.is_empty());
            publisher.latest.insert(Uid(name.to_string()), LastEvent { at, why });
        }
        let changed = publisher.changed(&all);
        let names = changed.iter().map(|waiting| waiting.job.name.as_str());
        assert_eq!(names.collect::<Vec<_>>(), ["never", "rejected", "old", "recent", "deleted"]);
    }
}
