//! Computes changes from the ledger and the current time, without communicating with Slurm.

use std::cmp::Reverse;
use std::collections::HashSet;

use pavior::workload::Shaper;
use pavior::{Cuboid, JobId, NodeId, Occupancy, Request};

use crate::SlurmError;
use crate::ledger::site::Site;
use crate::ledger::{Phase, SlurmJob};
use crate::names::{JobName, Licences, Note};

mod candidates;
pub(crate) mod change;
pub(crate) mod explanation;
pub(crate) mod limits;
pub(crate) mod machine;
mod memory;
pub(crate) mod notes;
mod preemption;
pub(crate) mod request;
pub(crate) mod shape;
pub(crate) mod world;

use change::{Change, Priority};
use limits::{Limits, is_limit};
use machine::{MachineState, Obstacle, Role};
pub(crate) use memory::Memory;
use memory::{Eviction, JobMemory};
use world::{Rules, World};

/// The number of jobs at the head of the queue that get notes.
const MAX_NOTED_JOBS: usize = 32;
/// The maximum number of notes written per cycle.
const MAX_NOTES: usize = 4;
/// The minimum time between notes for the same job, in seconds.
const NOTE_INTERVAL_S: u64 = 10;
/// The maximum time after its start to requeue a job that runs on the wrong nodes, in seconds.
const REQUEUE_TIME_S: u64 = 60;
/// The maximum time for preempted jobs to end after their grace time, in seconds. Includes Slurm's
/// `KillWait` and an epilogue.
const ENDING_S: u64 = 120;
/// The time before the next attempt to preempt jobs for a job, after Slurm preempted none, in
/// seconds.
const NO_EVICTION_S: u64 = 600;

/// A cycle's changes, and the state before them.
#[derive(Debug)]
pub(crate) struct Decision {
    pub(crate) changes: Vec<Change>,
    pub(crate) waiting: usize,
    pub(crate) opened: usize,
    pub(crate) running: usize,
    pub(crate) free: Occupancy,
    pub(crate) failed: u32,
    pub(crate) overlaps: Vec<NodeId>,
    /// Jobs that can never be placed or do not run on a box, with the reasons.
    pub(crate) boxless: Vec<(JobName, Note)>,
}

/// A waiting job's index in the ledger, and its request.
type Waiting = (usize, Request);
/// A job's index in the ledger, and the note for it.
type IndexedNote = (usize, Note);

/// Decides which gates to open and close, and which notes to write.
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
    memory.forget(ledger, now);
    let state = MachineState::of(world, rules.site, &memory.evicting(), shaper)?;
    let mut cycle = Cycle { world, site: rules.site, state, memory, changes: Vec::new() };
    let mut boxless = cycle.requeue();
    let mut notes = Vec::new();
    for (index, obstacle) in &cycle.state.unplaceable {
        match obstacle {
            Obstacle::Never(fault) => boxless.push((*index, notes::unplaced(fault))),
            Obstacle::Reserved => notes.push((*index, notes::reserved(world))),
        }
    }
    let mut limits = Limits::new(rules, ledger);
    for (index, role) in cycle.state.roles.iter().enumerate() {
        // A job may start just before its gate is closed.
        if matches!(role, Role::Opened | Role::Preempting | Role::Obstructed(_)) {
            limits.take(&ledger.jobs[index]);
        }
    }
    cycle.close();
    let is_away = |job: &SlurmJob| memory_of(cycle.memory, job, |known| known.closed_until > now);
    let waits = waiting(world, rules.site, &cycle.state, is_away);
    let limited = cycle.open(&waits, &mut limits)?;
    cycle.preempt(&cycle.still_waiting(&waits, &limited));
    let notes = [boxless.clone(), notes, limited, cycle.limited_by_slurm(&mut limits)].concat();
    cycle.comment(&waits, &notes);
    let Cycle { state, changes, .. } = cycle;
    let count = |role: &Role| state.roles.iter().filter(|other| *other == role).count();
    Ok(Decision {
        waiting: waits.len(),
        opened: count(&Role::Opened) + count(&Role::Preempting),
        running: count(&Role::Holds),
        free: state.planner.machine().free().clone(),
        failed: state.planner.machine().failed_nodes(),
        overlaps: state.overlaps,
        boxless: boxless.into_iter().map(|(index, why)| (ledger.jobs[index].name, why)).collect(),
        changes,
    })
}

/// Returns true if a predicate holds for the remembered state of a job.
fn memory_of(memory: &Memory, job: &SlurmJob, holds: impl Fn(&JobMemory) -> bool) -> bool {
    memory.known(job).is_some_and(holds)
}

/// Returns the waiting jobs in Slurm's order. Among equal priorities, the oldest job is first,
/// although `squeue` prints the newest first.
fn waiting(
    world: World<'_>,
    site: &Site,
    state: &MachineState,
    is_away: impl Fn(&SlurmJob) -> bool,
) -> Vec<Waiting> {
    let jobs = &world.ledger.jobs;
    let waits = |(index, role): (usize, &Role)| match role {
        Role::Waits(request) if !is_away(&jobs[index]) => Some((index, *request)),
        _ => None,
    };
    let mut order: Vec<Waiting> = state.roles.iter().enumerate().filter_map(waits).collect();
    order.sort_by_cached_key(|&(index, _)| {
        let job = &jobs[index];
        (Reverse((site.tier(&job.partition), job.priority)), job.submitted, job.name)
    });
    order
}

/// Queues the waiting jobs that no limit prevents from starting, in Slurm's order.
pub(crate) fn queue(
    world: World<'_>,
    site: &Site,
    state: &mut MachineState,
    limits: &mut Limits<'_>,
) {
    for (place, (index, request)) in waiting(world, site, state, |_| false).into_iter().enumerate()
    {
        let job = &world.ledger.jobs[index];
        if limits.over(job).is_none() {
            state.planner.submit(index as u64, place, request, job.limit);
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
    /// Requeues jobs that have just started on nodes that do not form a box of their shape. Returns
    /// notes for jobs that started there earlier.
    fn requeue(&mut self) -> Vec<IndexedNote> {
        let World { ledger, now, .. } = self.world;
        let mut notes = Vec::new();
        for &index in &self.state.misplaced {
            let job = &ledger.jobs[index];
            if job.start.is_none_or(|start| start + REQUEUE_TIME_S < now) {
                notes.push((index, notes::elsewhere()));
            } else if !std::mem::replace(&mut self.memory.job(job).is_requeued, true) {
                self.changes.push(Change::Requeue { job: job.name });
            }
        }
        notes
    }

    /// Closes the gates of jobs that cannot start, and adds missing gates.
    fn close(&mut self) {
        let World { config, ledger, now } = self.world;
        for (index, job) in ledger.jobs.iter().enumerate() {
            let role = self.state.roles[index].clone();
            let is_open = matches!(role, Role::Opened | Role::Preempting);
            let wait_s = match role {
                _ if is_open && is_limit(&job.reason) => {
                    self.memory.reach(ledger, job, now);
                    None
                }
                Role::Opened => {
                    let since = *self.memory.job(job).opened.get_or_insert(now);
                    if since + self.patience(job) > now {
                        continue;
                    }
                    Some(config.cooldown_s)
                }
                Role::Preempting if self.goes_on(job) => continue,
                Role::Ungated | Role::Held => None,
                Role::Obstructed(_) => Some(1),
                Role::Preempting | Role::Requeued => Some(config.cooldown_s),
                _ => continue,
            };
            let known = self.memory.job(job);
            let old = known.priority.filter(|_| self.site.basic);
            self.changes.push(Change::Close {
                job: job.name,
                licences: job.licences.with_gate(&config.licence),
                wait_s,
                priority: match (role, old) {
                    (Role::Held, _) => Priority::Held,
                    (Role::Ungated, _) => Priority::Is(job.priority),
                    (_, Some(old)) => Priority::Is(old),
                    (_, None) => Priority::Slurms,
                },
            });
            // The job keeps its nodes in this cycle. The next cycle checks whether Slurm has taken
            // them back. The update that closes the gate also overwrites the job's last note.
            (known.opened, known.note, known.eviction) = (None, None, None);
            known.closed_until = now + wait_s.unwrap_or(0);
            self.state.roles[index] = Role::Apart;
        }
    }

    /// Returns the maximum time for a job to start after its gate opens, in seconds. It is longer
    /// while the job's reason shows that Slurm has not examined the job since then. If there is a
    /// magnetic reservation, Slurm's main scheduler may try the job only there and give a special
    /// reason, until the backfill scheduler starts the job.
    fn patience(&self, job: &SlurmJob) -> u64 {
        let World { config, ledger, .. } = self.world;
        let is_magnetic = || ledger.reservations.iter().any(|one| one.is_magnetic);
        let is_unseen = match job.reason.as_str() {
            "None" | "Priority" => true,
            // Otherwise, the job may be waiting for one of the site's own licenses.
            "Licenses" => job.licences == Licences::default(),
            reason => reason.starts_with("ReqNodeNotAvail") && is_magnetic(),
        };
        if is_unseen { config.patience_s.max(self.site.looks_s) } else { config.patience_s }
    }

    /// Returns true if Slurm is preempting jobs for this job or still has time to begin. Otherwise,
    /// no jobs are preempted for it for a while.
    fn goes_on(&mut self, job: &SlurmJob) -> bool {
        let World { ledger, now, .. } = self.world;
        let patience_s = self.patience(job);
        let known = self.memory.job(job);
        let unknown = || Eviction { since: now, grace_s: 0, victims: HashSet::new() };
        let eviction = known.eviction.get_or_insert_with(unknown);
        let running = ledger.jobs.iter().filter(|job| job.phase == Phase::Running);
        let running: HashSet<_> = running.map(SlurmJob::key).collect();
        let has_begun = !eviction.victims.is_subset(&running);
        let patience_s = patience_s + if has_begun { ENDING_S } else { 0 };
        let is_in_time = now < eviction.since + patience_s + eviction.grace_s;
        if !is_in_time {
            known.no_eviction_until = now + NO_EVICTION_S;
        }
        is_in_time
    }

    /// Starts the jobs that the scheduler chooses, and opens their gates. Jobs that would exceed a
    /// limit are hidden from the scheduler, so that no other job waits for them, and returned with
    /// notes.
    fn open(
        &mut self,
        waits: &[Waiting],
        limits: &mut Limits<'_>,
    ) -> Result<Vec<IndexedNote>, SlurmError> {
        let ledger = self.world.ledger;
        let mut limited = Vec::new();
        let mut queued = Vec::new();
        for (place, &(index, request)) in waits.iter().enumerate() {
            let job = &ledger.jobs[index];
            if let Some(reason) = self.memory.limit_of(job) {
                limited.push((index, notes::limited(reason)));
            } else if let Some(limit) = limits.over(job) {
                limited.push((index, notes::limited(&limit)));
            } else {
                self.state.planner.submit(index as u64, place, request, job.limit);
                if limits.concern(job) {
                    queued.push((index, place));
                }
            }
        }
        while let Some((id, cuboid)) = self.state.planner.start_next()? {
            let Some(cuboid) = cuboid else { continue };
            let index = id.0 as usize;
            let started = &ledger.jobs[index];
            self.open_gate(started, &cuboid);
            self.state.roles[index] = Role::Opened;
            limits.take(started);
            queued.retain(|&(other, place)| {
                let job = &ledger.jobs[other];
                if other == index || !limits.touches(started, job) {
                    return other != index;
                }
                let Some(limit) = limits.over(job) else { return true };
                self.state.planner.withdraw(other as u64, place);
                limited.push((other, notes::limited(&limit)));
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
            licences: job.licences.others(&config.licence),
            comment: notes::placed(config, cuboid),
        });
        self.memory.job(job).priority = Some(job.priority);
    }

    /// Returns the jobs that are still waiting only for a box.
    fn still_waiting(&self, waits: &[Waiting], limited: &[IndexedNote]) -> Vec<Waiting> {
        let limited: HashSet<usize> = limited.iter().map(|(index, _)| *index).collect();
        let waits = waits.iter().copied();
        let is_waiting = |index: usize| matches!(self.state.roles[index], Role::Waits(_));
        waits.filter(|(index, _)| is_waiting(*index) && !limited.contains(index)).collect()
    }

    /// Opens the gate of the first job for which Slurm can free a box by preemption.
    fn preempt(&mut self, waits: &[Waiting]) {
        let World { ledger, now, .. } = self.world;
        let is_excluded = |index: usize| {
            memory_of(self.memory, &ledger.jobs[index], |known| known.no_eviction_until > now)
        };
        let choice = preemption::choose(self.world, &self.state, self.site, waits, is_excluded);
        let Some(choice) = choice else { return };
        let job = &ledger.jobs[choice.index];
        let victims = || choice.victims.iter().map(|&victim| &ledger.jobs[victim]);
        let grace_s = victims().map(|victim| preemption::grace(self.site, victim)).max();
        let (grace_s, victims) = (grace_s.unwrap_or(0), victims().map(SlurmJob::key).collect());
        self.open_gate(job, &choice.at);
        self.memory.job(job).eviction = Some(Eviction { since: now, grace_s, victims });
        self.state.roles[choice.index] = Role::Preempting;
    }

    /// Returns notes for jobs that Slurm itself holds back because of a limit.
    fn limited_by_slurm(&self, limits: &mut Limits<'_>) -> Vec<IndexedNote> {
        let apart = self.world.ledger.jobs.iter().enumerate().filter(|(index, job)| {
            let is_apart = self.state.roles[*index] == Role::Apart;
            job.phase == Phase::Pending && is_apart && is_limit(&job.reason)
        });
        let note = |(index, job): (usize, &SlurmJob)| {
            let limit = limits.over(job).unwrap_or_else(|| job.reason.clone());
            (index, notes::limited(&limit))
        };
        apart.take(MAX_NOTED_JOBS).map(note).collect()
    }

    /// Writes changed notes: the given ones, and those of the first jobs waiting for a box.
    fn comment(&mut self, waits: &[Waiting], notes: &[IndexedNote]) {
        let (world, now) = (self.world, self.world.now);
        let still = self.still_waiting(waits, notes);
        let waits =
            still.iter().take(MAX_NOTED_JOBS).map(|(index, request)| (*index, Err(request)));
        let notes = notes.iter().take(MAX_NOTED_JOBS).map(|(index, note)| (*index, Ok(note)));
        let standing = self.state.planner.standing();
        let mut written = 0;
        for (index, note) in waits.chain(notes) {
            let job = &world.ledger.jobs[index];
            let known = self.memory.job(job);
            if known.note.as_ref().is_some_and(|(at, _)| at + NOTE_INTERVAL_S > now) {
                continue;
            }
            let comment = match note {
                Err(request) => {
                    let planned =
                        self.state.planner.planned(standing.as_ref(), JobId(index as u64));
                    let snapshot = self.state.planner.snapshot(request);
                    notes::waiting(world, &snapshot, request, planned)
                }
                Ok(note) => note.clone(),
            };
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
