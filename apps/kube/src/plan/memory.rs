//! State kept between plans.

use std::collections::{HashMap, HashSet};

use pavior::Occupancy;

use super::forecast::History;
use crate::objects::{Object, SlotCount, Uid};
use crate::world::World;

/// The time, in seconds, for which a Job avoids a node where the scheduler refused to put its pod.
const AVOIDANCE_S: i64 = 600;

/// The delay, in seconds, before a placement that the API server rejected is proposed again.
const REPROPOSAL_DELAY_S: i64 = 60;

/// State that is kept between plans. Losing this state is harmless: timeouts start over, and
/// namespaces' turns are derived from existing placements.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    /// The time at which the scheduler first refused each open pod.
    pub(super) refused_since: HashMap<Uid, i64>,
    /// The nodes that each Job avoids, with the time at which each entry expires.
    pub(super) avoided: HashMap<Uid, HashMap<String, i64>>,
    /// Jobs whose placements the API server rejected, each with the reason and the retry time.
    rejected: HashMap<Uid, (String, i64)>,
    /// The time of the latest placement in each namespace.
    pub(super) placed_at: HashMap<String, i64>,
    /// Completed Jobs, on which forecasts are based.
    pub(super) past: History,
    /// The time at which each Workload began to hold quota without a box.
    pub(super) quota_since: HashMap<Uid, i64>,
    /// The latest slot counts, and the free nodes on which they are based.
    pub(super) slots: Option<(Occupancy, Vec<SlotCount>)>,
}

impl Memory {
    pub(super) fn avoid(&mut self, job: &Uid, node: &str, now: i64) {
        let nodes = self.avoided.entry(job.clone()).or_default();
        nodes.insert(node.to_string(), now + AVOIDANCE_S);
    }

    /// Records that the API server rejected a Job's placement.
    pub(crate) fn reject(&mut self, job: &Uid, why: &str, now: i64) {
        let why = why.chars().take(300).collect();
        self.rejected.insert(job.clone(), (why, now + REPROPOSAL_DELAY_S));
    }

    /// Returns the reason why a Job's placement was rejected, if it may not be proposed again yet.
    pub(super) fn rejection(&self, job: &str) -> Option<&str> {
        self.rejected.get(job).map(|(why, _)| why.as_str())
    }

    /// Returns true if any timeout is running.
    pub(super) fn has_timeouts(&self) -> bool {
        !self.quota_since.is_empty()
            || !self.refused_since.is_empty()
            || !self.avoided.is_empty()
            || !self.rejected.is_empty()
    }

    /// Records new placements, and removes deleted objects and expired entries.
    pub(super) fn update(&mut self, world: &World, now: i64) {
        let waits = |pod: &Uid| world.pods.get(pod).is_some_and(|pod| pod.node().is_none());
        self.refused_since.retain(|pod, _| waits(pod));
        for placement in world.placements.values() {
            let (namespace, created) = (placement.namespace(), placement.created());
            // Most namespaces are already in the map, so their names rarely need to be copied.
            if let Some(placed_at) = self.placed_at.get_mut(namespace) {
                *placed_at = (*placed_at).max(created);
            } else {
                self.placed_at.insert(namespace.to_string(), created);
            }
        }
        let with_jobs: HashSet<&str> = world.jobs.values().map(Object::namespace).collect();
        self.placed_at.retain(|namespace, _| with_jobs.contains(namespace.as_str()));
        self.rejected.retain(|job, (_, next)| *next > now && world.jobs.contains_key(job));
        self.avoided.retain(|job, nodes| {
            nodes.retain(|_, until| *until > now);
            !nodes.is_empty() && world.jobs.contains_key(job)
        });
    }
}
