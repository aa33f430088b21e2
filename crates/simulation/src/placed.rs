//! Replays jobs at their original times on their original nodes, without a scheduler.
//!
//! Several jobs may hold the same node at the same time; the node becomes free when the last of
//! them ends. Cost: O(jobs log jobs), plus the total number of nodes held by all jobs.

use pavior_allocation::{Placement, Refusal};
use pavior_kernel::Time;
use pavior_mesh::{Coordinates, Cuboid, Occupancy};
use pavior_workload::{Job, Service};

use crate::observers::Observers;
use crate::{Fact, Observer, Outcome, Setup};

/// A job's start time and nodes. A job whose start time and nodes are unknown (`None`) counts as
/// rejected.
pub type Place = Option<(Time, Placement)>;

/// The order of simultaneous events. A zero-length job ends after it has started.
const ENDS: u8 = 0;
const ARRIVES: u8 = 1;
const STARTS: u8 = 2;
const ENDS_AT_ONCE: u8 = 3;

/// Replays jobs at the given times on the given nodes. Jobs must be in order of arrival.
pub(crate) fn replay(
    setup: &Setup,
    jobs: &[(Job, Place)],
    observers: &mut [&mut dyn Observer],
) -> Outcome {
    let mut observers = Observers::new(setup.begin, observers, None);
    observers.tell(&Fact::CountingStarts);
    let mut held = Held::new(setup);
    let mut rejected = Vec::new();
    let mut now = setup.begin;
    for (at, kind, index) in events(jobs) {
        (now, observers.now) = (at, at);
        let (job, place) = &jobs[index];
        let Some((start, placement)) = place else {
            rejected.push(job.id);
            observers.tell(&Fact::Rejected(job, Refusal::UnsupportedShape));
            continue;
        };
        if kind == ARRIVES {
            observers.tell(&Fact::Arrived(job));
            continue;
        }
        held.change(placement, kind == STARTS);
        let (start, free) = (*start, &held.free);
        observers.tell(&match kind {
            STARTS => Fact::Started { job, placement, free },
            _ => Fact::Departed { job, start, placement, free },
        });
    }
    observers.tell(&Fact::Ended);
    let arrived = jobs.len() as u64;
    Outcome { end: now, arrived, waiting: 0, rejected, unfollowed: 0, allocation_ns: None }
}

/// Returns the arrivals, starts and ends of jobs, in order of time.
fn events(jobs: &[(Job, Place)]) -> Vec<(Time, u8, usize)> {
    let mut events = Vec::with_capacity(3 * jobs.len());
    for (index, (job, place)) in jobs.iter().enumerate() {
        events.push((job.arrival, ARRIVES, index));
        let Some((start, _)) = place else { continue };
        let run = if let Service::Run(run) = job.service { run } else { Time::ZERO };
        let kind = if run > Time::ZERO { ENDS } else { ENDS_AT_ONCE };
        events.push((*start, STARTS, index));
        events.push((start.saturating_add(run), kind, index));
    }
    events.sort_unstable();
    events
}

/// The number of jobs on each node, and the set of nodes without jobs.
struct Held {
    free: Occupancy,
    jobs: Vec<u32>,
}

impl Held {
    fn new(setup: &Setup) -> Held {
        let jobs = vec![0; setup.grid.nodes() as usize];
        Held { free: Occupancy::all_free(setup.grid), jobs }
    }

    /// Adds a job to the nodes in a placement, or removes it from them.
    fn change(&mut self, placement: &Placement, starts: bool) {
        let grid = *self.free.grid();
        for node in placement.parts().iter().flat_map(|part| part.nodes(&grid)) {
            let jobs = &mut self.jobs[node.index()];
            *jobs = if starts { *jobs + 1 } else { jobs.saturating_sub(1) };
            let point: Coordinates = grid.point(node);
            match (starts, *jobs) {
                (true, 1) => drop(self.free.take_node(node)),
                // This was the last job on the node.
                (false, 0) => drop(self.free.give(&Cuboid::new(point, [1, 1, 1]))),
                _ => {}
            }
        }
    }
}
