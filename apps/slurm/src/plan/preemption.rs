//! Chooses boxes that Slurm can free through preemption, following its rules (`preempt/qos` and
//! `preempt/partition_prio`). The daemon opens a job's gate on a box whose running jobs Slurm may
//! preempt in favor of that job. Slurm then decides whether to preempt them; the daemon itself
//! never ends a job. Jobs that may not be preempted, or that would keep their nodes, are obstacles,
//! just like failed nodes.

use std::cell::LazyCell;

use pavior::answers::{Shape, Snapshot, Weights, blockers, earliest};
use pavior::{Cuboid, JobId};

use crate::config::Order;
use crate::ledger::site::{Mode, Preemption, Site};
use crate::ledger::{Phase, SlurmJob};
use crate::plan::Waiting;
use crate::plan::machine::{MachineState, Role};
use crate::plan::world::World;

/// The maximum number of waiting jobs to examine.
const MAX_EXAMINED: usize = 16;

/// A box for a job, and the jobs in that box that Slurm would preempt.
pub(crate) struct Choice {
    pub(crate) index: usize,
    pub(crate) at: Cuboid,
    pub(crate) victims: Vec<usize>,
    /// The longest grace time of the victims, in seconds.
    pub(crate) grace_s: u64,
}

/// A waiting job's index in the ledger and the job's shape.
#[derive(Clone, Copy)]
struct Candidate {
    index: usize,
    shape: Shape,
}

/// Returns true if Slurm may preempt `victim` for `job` and `victim` would release its nodes.
pub(crate) fn may_preempt(site: &Site, job: &SlurmJob, victim: &SlurmJob, now: u64) -> bool {
    let qos = site.qos.get(&victim.qos);
    let partition = site.partitions.get(&victim.partition);
    let (allowed, mode) = match site.preemption {
        Preemption::Off => return false,
        Preemption::ByQos => {
            let own = site.qos.get(&job.qos);
            let allowed = own.is_some_and(|own| own.preempts.contains(&victim.qos));
            let mode = qos.and_then(|qos| qos.mode).filter(|mode| *mode != Mode::Off);
            (allowed && job.qos != victim.qos, mode.unwrap_or(site.mode))
        }
        Preemption::ByPartition => {
            let is_higher = site.tier(&job.partition) > site.tier(&victim.partition);
            (is_higher, partition.map_or(site.mode, |partition| partition.mode))
        }
    };
    let of_partition = site.qos_of(&victim.partition).and_then(|name| site.qos.get(name));
    let mut order = [of_partition, qos];
    if qos.is_some_and(|qos| qos.over_partition) {
        order.reverse();
    }
    let exempt_s = order.into_iter().flatten().find_map(|qos| qos.exempt_s);
    let exempt_s = exempt_s.unwrap_or(site.exempt_s);
    let since = victim.start.unwrap_or(now);
    victim.phase == Phase::Running && allowed && mode.releases_nodes() && since + exempt_s <= now
}

/// Returns a preempted job's grace time, in seconds.
fn grace_s(site: &Site, victim: &SlurmJob) -> u64 {
    match site.preemption {
        Preemption::ByQos => site.qos.get(&victim.qos).map_or(0, |qos| qos.grace_s),
        _ => site.partitions.get(&victim.partition).map_or(0, |partition| partition.grace_s),
    }
}

/// Returns true if this job may be able to preempt other jobs.
fn can_preempt(site: &Site, job: &SlurmJob) -> bool {
    match site.preemption {
        Preemption::Off => false,
        Preemption::ByQos => site.qos.get(&job.qos).is_some_and(|qos| !qos.preempts.is_empty()),
        Preemption::ByPartition => {
            let tier = site.tier(&job.partition);
            site.partitions.values().any(|other| other.tier < tier)
        }
    }
}

/// Finds, for each of up to [`MAX_EXAMINED`] waiting jobs, the box in which preemption loses the
/// least work (in node-seconds), and returns the first box that is harmless. Returns `None` while
/// an earlier preemption is in progress.
pub(crate) fn choose(
    world: World<'_>,
    state: &MachineState,
    site: &Site,
    waiting: &[Waiting],
    is_excluded: impl Fn(usize) -> bool,
) -> Option<Choice> {
    let World { config, ledger, now } = world;
    if site.preemption == Preemption::Off || state.roles.contains(&Role::Preempting) {
        return None;
    }
    // The first job's earliest start, and its box then. Other jobs must not delay this start.
    let first = LazyCell::new(|| {
        let request = &waiting.first()?.request;
        let shape = request.shape.map(Shape::new)?;
        earliest(&state.planner.snapshot(request), shape, |job| world.end(job))
    });
    let mut examined = 0;
    for (position, &Waiting { index, request }) in waiting.iter().enumerate() {
        let job = &ledger.jobs[index];
        let Some(shape) = request.shape.map(Shape::new) else { continue };
        if can_preempt(site, job) && !is_excluded(index) {
            examined += 1;
            if examined > MAX_EXAMINED {
                return None;
            }
            let snapshot = state.planner.snapshot(&request);
            let choice = cheapest(world, &snapshot, site, Candidate { index, shape });
            let limit_s = job.limit.unwrap_or(u64::MAX);
            let is_harmless = |choice: &Choice| {
                position == 0
                    || config.order == Order::Fit
                    || first.as_ref().is_some_and(|first| {
                        let end = now.saturating_add(choice.grace_s).saturating_add(limit_s);
                        end <= first.at.0 || !first.place.intersects(&config.grid, &choice.at)
                    })
            };
            if let Some(choice) = choice.filter(is_harmless) {
                return Some(choice);
            }
        }
        if config.order == Order::Strict {
            return None;
        }
    }
    None
}

/// Finds the box in which preempting other jobs for this job loses the least work.
fn cheapest(
    world: World<'_>,
    snapshot: &Snapshot,
    site: &Site,
    candidate: Candidate,
) -> Option<Choice> {
    let Candidate { index, shape } = candidate;
    let (job, now) = (&world.ledger.jobs[index], world.now);
    let is_preemptible =
        |id: JobId| world.job(id).is_some_and(|victim| may_preempt(site, job, victim, now));
    let others = snapshot.clone().keeping(|id, _| !is_preemptible(id));
    let work = |id: JobId| {
        // Count at least one second, so that ending a job that has just started is not free.
        let lost_s = |victim: &SlurmJob| 1 + now.saturating_sub(victim.start.unwrap_or(now));
        world.job(id).map_or(0, |victim| u64::from(victim.nodes) * lost_s(victim))
    };
    let weights = Weights::new(&others, work).ok()?;
    // Preemption does not help if the box contains nodes that are unavailable.
    let found = blockers(&others, shape, &weights).filter(|found| found.unavailable.is_empty())?;
    let victims: Vec<usize> = found.jobs.iter().map(|id| id.0 as usize).collect();
    let grace_s = victims.iter().map(|&victim| grace_s(site, &world.ledger.jobs[victim])).max();
    // If there are no victims, the box is free but reserved for another job.
    Some(Choice { index, at: found.at, victims, grace_s: grace_s? })
}

#[cfg(test)]
mod tests;
