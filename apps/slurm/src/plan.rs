//! Computes changes from the ledger and the current time, without calling Slurm.

use std::cmp::Reverse;
use std::collections::HashSet;

use pavior::workload::Shaper;
use pavior::{Cuboid, JobId, NodeId, Occupancy, Request};

use crate::SlurmError;
use crate::calls::is_recent;
use crate::ledger::site::Site;
use crate::ledger::{Phase, SlurmJob};
use crate::names::{JobName, Note};

mod builder;
mod candidates;
pub(crate) mod change;
mod closing;
pub(crate) mod explanation;
mod limit_reasons;
pub(crate) mod limits;
pub(crate) mod machine;
mod memory;
pub(crate) mod notes;
mod preemption;
pub(crate) mod request;
pub(crate) mod shape;
pub(crate) mod world;

use change::Change;
use limit_reasons::is_limit;
use limits::Limits;
use machine::{MachineState, Obstacle, Role};
use memory::Eviction;
pub(crate) use memory::Memory;
use world::{Rules, World};

/// The maximum number of notes to explain in a cycle, and of other notes to consider.
const MAX_NOTED_JOBS: usize = 32;
/// The maximum number of notes written in a cycle.
const MAX_NOTES: usize = 4;
/// The minimum time between two notes for the same job, in seconds.
const NOTE_INTERVAL_S: u64 = 10;
/// The time after its start, in seconds, during which a job on the wrong nodes may be requeued.
const REQUEUE_TIME_S: u64 = 60;

/// The changes planned in a cycle, and a summary of the state after the gates open.
#[derive(Debug)]
pub(crate) struct Decision {
    pub(crate) changes: Vec<Change>,
    pub(crate) waiting: usize,
    pub(crate) opened: usize,
    pub(crate) running: usize,
    pub(crate) free: Occupancy,
    pub(crate) failed: u32,
    pub(crate) overlaps: Vec<NodeId>,
    /// Jobs that can never be placed or are running outside a box, with the reasons.
    pub(crate) boxless: Vec<(JobName, Note)>,
}

/// A waiting job's index in the ledger and the job's request.
#[derive(Clone, Copy)]
struct Waiting {
    index: usize,
    request: Request,
}

/// A note for a waiting job, either as finished text or as a request that is yet to be explained.
enum PendingNote {
    Ready(Note),
    Explanation(Request),
}

/// A job's index in the ledger and its note.
type IndexedNote = (usize, Note);

/// Decides which gates to open and close and which notes to write.
///
/// # Errors
/// Returns an error if the scheduler or strategy fails.
pub(crate) fn decide(
    world: World<'_>,
    rules: Rules<'_>,
    shaper: &mut Shaper,
    memory: &mut Memory,
) -> Result<Decision, SlurmError> {
    let World { ledger, now, .. } = world;
    memory.prune(ledger, now);
    let state = MachineState::of(world, rules.site, &memory.evicting(), shaper)?;
    let mut cycle = Cycle { world, site: rules.site, state, memory, changes: Vec::new() };
    let mut boxless = cycle.requeue();
    let mut notes = Vec::new();
    for (index, obstacle) in &cycle.state.unplaceable {
        match obstacle {
            Obstacle::Never(fault) => boxless.push((*index, notes::unplaced_note(fault))),
            Obstacle::Reserved => notes.push((*index, notes::reserved_note(world))),
        }
    }
    let mut limits = Limits::new(rules, ledger);
    for (index, role) in cycle.state.roles.iter().enumerate() {
        // An opened job may start just before the daemon closes its gate.
        if matches!(role, Role::Opened | Role::Preempting | Role::Obstructed(_)) {
            limits.reserve(&ledger.jobs[index]);
        }
    }
    cycle.close();
    let is_cooling_down =
        |job: &SlurmJob| cycle.memory.get(job).is_some_and(|known| known.closed_until > now);
    let waiting = waiting(world, rules.site, &cycle.state, is_cooling_down);
    let limited = cycle.open(&waiting, &mut limits)?;
    cycle.preempt(&cycle.blocked_on_box(&waiting, &limited));
    let notes = [boxless.clone(), notes, limited, cycle.slurm_limited(&mut limits)].concat();
    cycle.write_notes(&waiting, notes);
    let Cycle { state, changes, .. } = cycle;
    let count = |has: fn(&Role) -> bool| state.roles.iter().filter(|role| has(role)).count();
    Ok(Decision {
        waiting: count(|role| matches!(role, Role::Waits(_))),
        opened: count(|role| matches!(role, Role::Opened | Role::Preempting)),
        running: count(|role| *role == Role::Holds),
        free: state.planner.machine().free().clone(),
        failed: state.planner.machine().failed_nodes(),
        overlaps: state.overlaps,
        boxless: boxless.into_iter().map(|(index, why)| (ledger.jobs[index].name, why)).collect(),
        changes,
    })
}

/// Returns the waiting jobs in Slurm's order. Among jobs with the same priority, the oldest comes
/// first, although `squeue` prints the newest first.
fn waiting(
    world: World<'_>,
    site: &Site,
    state: &MachineState,
    is_cooling_down: impl Fn(&SlurmJob) -> bool,
) -> Vec<Waiting> {
    let jobs = &world.ledger.jobs;
    let waiting = |(index, role): (usize, &Role)| match *role {
        Role::Waits(request) if !is_cooling_down(&jobs[index]) => Some(Waiting { index, request }),
        _ => None,
    };
    let mut order: Vec<Waiting> = state.roles.iter().enumerate().filter_map(waiting).collect();
    order.sort_by_cached_key(|waiting| {
        let job = &jobs[waiting.index];
        (Reverse((site.tier(&job.partition), job.priority)), job.submitted, job.name)
    });
    order
}

/// Queues the waiting jobs that no limit holds back, in Slurm's order.
pub(crate) fn queue(
    world: World<'_>,
    site: &Site,
    state: &mut MachineState,
    limits: &mut Limits<'_>,
) {
    let waiting = waiting(world, site, state, |_| false);
    for (position, Waiting { index, request }) in waiting.into_iter().enumerate() {
        let job = &world.ledger.jobs[index];
        if limits.exceeded_by(job).is_none() {
            state.planner.submit(index as u64, position, request, job.limit);
        }
    }
}

/// A cycle in progress.
struct Cycle<'a> {
    world: World<'a>,
    site: &'a Site,
    state: MachineState,
    memory: &'a mut Memory,
    changes: Vec<Change>,
}

impl Cycle<'_> {
    /// Requeues jobs that have just started on nodes that do not form the requested box. Returns
    /// notes for the jobs on such nodes that started too long ago to be requeued.
    fn requeue(&mut self) -> Vec<IndexedNote> {
        let World { ledger, now, .. } = self.world;
        let mut notes = Vec::new();
        for &index in &self.state.misplaced {
            let job = &ledger.jobs[index];
            if job.start.is_none_or(|start| start + REQUEUE_TIME_S < now) {
                notes.push((index, notes::misplaced_note()));
            } else if !std::mem::replace(&mut self.memory.job(job).is_requeued, true) {
                self.changes.push(Change::Requeue { job: job.name });
            }
        }
        notes
    }

    /// Starts the jobs that the scheduler selects and opens their gates. Jobs that would exceed a
    /// limit are hidden from the scheduler, so that no other job waits for them. Returns notes for
    /// the hidden jobs.
    fn open(
        &mut self,
        waiting: &[Waiting],
        limits: &mut Limits<'_>,
    ) -> Result<Vec<IndexedNote>, SlurmError> {
        let ledger = self.world.ledger;
        let mut limited = Vec::new();
        // Queued jobs to which a limit applies, with their queue positions.
        let mut queued = Vec::new();
        for (position, &Waiting { index, request }) in waiting.iter().enumerate() {
            let job = &ledger.jobs[index];
            if let Some(reason) = self.memory.limit_of(job) {
                limited.push((index, notes::limited_note(reason)));
            } else if let Some(limit) = limits.exceeded_by(job) {
                limited.push((index, notes::limited_note(&limit)));
            } else {
                self.state.planner.submit(index as u64, position, request, job.limit);
                if limits.apply_to(job) {
                    queued.push((index, position));
                }
            }
        }
        while let Some((id, cuboid)) = self.state.planner.start_next()? {
            // The configuration accepts only strategies that grant boxes.
            let no_box = || SlurmError::Planner("the strategy did not choose a box".into());
            let cuboid = cuboid.ok_or_else(no_box)?;
            let index = id.0 as usize;
            let started = &ledger.jobs[index];
            self.open_gate(started, &cuboid);
            self.state.roles[index] = Role::Opened;
            limits.reserve(started);
            queued.retain(|&(other, position)| {
                let job = &ledger.jobs[other];
                if other == index {
                    return false;
                }
                if !limits.share_meter(started, job) {
                    return true;
                }
                let Some(limit) = limits.exceeded_by(job) else { return true };
                self.state.planner.withdraw(other as u64, position);
                limited.push((other, notes::limited_note(&limit)));
                false
            });
        }
        Ok(limited)
    }

    fn open_gate(&mut self, job: &SlurmJob, cuboid: &Cuboid) {
        let config = self.world.config;
        self.changes.push(Change::Open {
            job: job.name,
            nodes: notes::ranks(config, cuboid),
            licenses: job.licenses.without_gate(&config.license),
            comment: notes::placed_note(config, cuboid),
        });
        self.memory.job(job).priority = Some(job.priority);
    }

    /// Returns the jobs that are waiting only for a box.
    fn blocked_on_box(&self, waiting: &[Waiting], limited: &[IndexedNote]) -> Vec<Waiting> {
        let limited: HashSet<usize> = limited.iter().map(|(index, _)| *index).collect();
        let is_blocked = |job: &&Waiting| {
            matches!(self.state.roles[job.index], Role::Waits(_)) && !limited.contains(&job.index)
        };
        waiting.iter().filter(is_blocked).copied().collect()
    }

    /// Opens the gate of the first job for which Slurm can free a box through preemption.
    fn preempt(&mut self, waiting: &[Waiting]) {
        let World { ledger, now, .. } = self.world;
        let is_excluded = |index: usize| {
            let known = self.memory.get(&ledger.jobs[index]);
            known.is_some_and(|known| known.no_eviction_until > now)
        };
        let choice = preemption::choose(self.world, &self.state, self.site, waiting, is_excluded);
        let Some(choice) = choice else { return };
        let job = &ledger.jobs[choice.index];
        let victims = choice.victims.iter().map(|&victim| ledger.jobs[victim].key()).collect();
        self.open_gate(job, &choice.at);
        self.memory.job(job).eviction =
            Some(Eviction { since: now, grace_s: choice.grace_s, victims });
        self.state.roles[choice.index] = Role::Preempting;
    }

    /// Returns notes for jobs that Slurm itself holds back because of a limit.
    fn slurm_limited(&self, limits: &mut Limits<'_>) -> Vec<IndexedNote> {
        let limited = self.world.ledger.jobs.iter().enumerate().filter(|(index, job)| {
            let is_ineligible = self.state.roles[*index] == Role::Ineligible;
            job.phase == Phase::Pending && is_ineligible && is_limit(&job.reason)
        });
        let note = |(index, job): (usize, &SlurmJob)| {
            let limit = limits.exceeded_by(job).unwrap_or_else(|| job.reason.clone());
            (index, notes::limited_note(&limit))
        };
        let mut limited: Vec<(usize, &SlurmJob)> = limited.collect();
        // Only the oldest are written, so the others need no text.
        limited.sort_by_cached_key(|(_, job)| self.memory.noted_at(job));
        limited.into_iter().take(MAX_NOTED_JOBS).map(note).collect()
    }

    /// Writes notes that have changed: the given notes and those for the first jobs that are
    /// waiting for a box.
    fn write_notes(&mut self, waiting: &[Waiting], mut notes: Vec<IndexedNote>) {
        let (world, now) = (self.world, self.world.now);
        let blocked = self.blocked_on_box(waiting, &notes);
        let explanations = blocked.iter().take(MAX_NOTED_JOBS);
        let explanations =
            explanations.map(|job| (job.index, PendingNote::Explanation(job.request)));
        // Neither many notes nor notes that change in every cycle may keep other jobs from getting
        // theirs, so the oldest come first.
        let noted_at = |index: usize| self.memory.noted_at(&world.ledger.jobs[index]);
        notes.sort_by_cached_key(|(index, _)| noted_at(*index));
        let notes = notes.into_iter().take(MAX_NOTED_JOBS);
        let notes = notes.map(|(index, note)| (index, PendingNote::Ready(note)));
        let mut all: Vec<(usize, PendingNote)> = explanations.chain(notes).collect();
        all.sort_by_key(|(index, _)| noted_at(*index));
        let standing = self.state.planner.standing();
        let mut written = 0;
        for (index, note) in all {
            let job = &world.ledger.jobs[index];
            if is_recent(self.memory.noted_at(job), now, NOTE_INTERVAL_S) {
                continue;
            }
            let comment = match note {
                PendingNote::Ready(note) => note,
                PendingNote::Explanation(request) => {
                    let planned =
                        self.state.planner.planned(standing.as_ref(), JobId(index as u64));
                    let snapshot = self.state.planner.snapshot(&request);
                    notes::waiting_note(world, &snapshot, &request, planned)
                }
            };
            let known = self.memory.job(job);
            let is_new = known.note.as_ref().is_none_or(|(_, text)| *text != comment);
            known.note = Some((now, comment.clone()));
            if is_new {
                self.changes.push(Change::Comment { job: job.name, comment });
                written += 1;
            }
            if written == MAX_NOTES {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests;
