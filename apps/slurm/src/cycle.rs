//! One cycle: from what Slurm says to what is changed. Nothing here talks to Slurm.

use std::collections::HashMap;

use pavior_allocation::Placement;
use pavior_kernel::Time;
use pavior_mesh::{NodeId, Request};
use pavior_scheduling::Started;
use pavior_workload::Shaper;

use crate::command::Change;
use crate::ledger::{Ledger, SlurmJob};
use crate::names::{JobName, Note};
use crate::state::{Role, State, told};
use crate::{Config, SlurmError, reason};

/// How many waiting jobs, from the first, are told why, and how many of them in one cycle.
const TOLD: usize = 32;
const TOLD_AT_ONCE: usize = 4;
/// Between two texts for the same job, in seconds.
const TELL_EVERY: u64 = 10;
/// A job that started longer ago than this is not held against its shape any more.
const FRESH: u64 = 60;

/// A job's identity: numbers may be used again.
type Key = (JobName, u64);

/// What the daemon remembers between cycles. All of it can be lost: patience then begins anew, and
/// texts are told again.
#[derive(Default)]
pub(crate) struct Memory {
    /// Since when a gate is open.
    opened: HashMap<Key, u64>,
    /// Until when a job stays away whose gate was closed.
    closed: HashMap<Key, u64>,
    /// The priority before the gate was opened.
    priorities: HashMap<Key, u64>,
    told: HashMap<Key, (u64, Note)>,
    requeued: HashMap<Key, u64>,
}

impl Memory {
    fn forget_all_but(&mut self, ledger: &Ledger) {
        let keys: std::collections::HashSet<Key> = ledger.jobs.iter().map(key).collect();
        self.opened.retain(|key, _| keys.contains(key));
        self.closed.retain(|key, _| keys.contains(key));
        self.priorities.retain(|key, _| keys.contains(key));
        self.told.retain(|key, _| keys.contains(key));
        self.requeued.retain(|key, _| keys.contains(key));
    }
}

fn key(job: &SlurmJob) -> Key {
    (job.name, job.submitted)
}

/// What a cycle decided, and what it saw.
pub(crate) struct Decision {
    pub(crate) changes: Vec<Change>,
    pub(crate) waiting: usize,
    pub(crate) opened: usize,
    pub(crate) running: usize,
    pub(crate) free: u32,
    pub(crate) failed: u32,
    pub(crate) overlaps: Vec<NodeId>,
    /// Jobs that can never be placed or run on no box, each with why.
    pub(crate) boxless: Vec<(JobName, Note)>,
}

/// Decides. `basic` says that Slurm's priorities are first come, first served, so that a job whose
/// gate is closed must be given its old priority back.
pub(crate) fn decide(
    config: &Config,
    ledger: &Ledger,
    shaper: &mut Shaper,
    memory: &mut Memory,
    (now, basic): (u64, bool),
) -> Result<Decision, SlurmError> {
    memory.forget_all_but(ledger);
    let mut state = State::of(config, ledger, shaper, now)?;
    let mut changes = Vec::new();
    let mut boxless = Vec::new();
    for &index in &state.misplaced {
        let job = &ledger.jobs[index];
        let fresh = job.start.is_some_and(|start| start + FRESH >= now);
        if fresh && memory.requeued.insert(key(job), now).is_none() {
            changes.push(Change::Requeue { job: job.name });
        } else if !fresh {
            boxless.push((index, reason::elsewhere()));
        }
    }
    let never = state.unplaceable.iter();
    boxless.extend(never.map(|(index, fault)| (*index, reason::unplaced(fault))));
    close(config, ledger, &mut state, memory, (now, basic), &mut changes);
    let waits = waiting(ledger, &state, memory, now);
    for (place, &(index, request)) in waits.iter().enumerate() {
        let arrival = Time((now + place as u64).min(u64::MAX / 2));
        state.dispatcher.submit(told(index, &ledger.jobs[index], arrival, request));
    }
    open(config, ledger, &mut state, memory, now, &mut changes)?;
    tell(config, ledger, &state, &waits, &boxless, (memory, now), &mut changes);
    let count = |role: &Role| state.roles.iter().filter(|other| *other == role).count();
    Ok(Decision {
        waiting: waits.len(),
        opened: count(&Role::Opened),
        running: count(&Role::Holds),
        free: state.machine().free().count(),
        failed: state.machine().failed_nodes(),
        overlaps: state.overlaps,
        boxless: boxless.into_iter().map(|(index, why)| (ledger.jobs[index].name, why)).collect(),
        changes,
    })
}

/// Closes the gates that are open in vain, and gates what has none.
fn close(
    config: &Config,
    ledger: &Ledger,
    state: &mut State,
    memory: &mut Memory,
    (now, basic): (u64, bool),
    changes: &mut Vec<Change>,
) {
    for (index, job) in ledger.jobs.iter().enumerate() {
        let since = match state.roles[index] {
            Role::Opened => *memory.opened.entry(key(job)).or_insert(now),
            _ => now,
        };
        let wait_s = match state.roles[index] {
            Role::Opened if since + config.patience_s > now => continue,
            Role::Ungated => None,
            Role::Obstructed(_) => Some(1),
            Role::Opened | Role::Requeued => Some(config.cooldown_s),
            _ => continue,
        };
        let old = memory.priorities.get(&key(job)).copied();
        changes.push(Change::Close {
            job: job.name,
            licences: job.licences.with_gate(&config.licence),
            wait_s,
            priority: match state.roles[index] {
                Role::Ungated => Some(job.priority),
                _ => old.filter(|_| basic),
            },
        });
        // Its nodes stay held in this cycle: whether Slurm takes it back is seen in the next.
        memory.opened.remove(&key(job));
        memory.closed.insert(key(job), now + wait_s.unwrap_or(0));
        state.roles[index] = Role::Apart;
    }
}

/// The waiting jobs in Slurm's order: their places in the ledger, and what they ask for.
fn waiting(ledger: &Ledger, state: &State, memory: &Memory, now: u64) -> Vec<(usize, Request)> {
    let away = |job: &SlurmJob| memory.closed.get(&key(job)).is_some_and(|&until| until > now);
    let waits = |(index, role): (usize, &Role)| match role {
        Role::Waits(request) if !away(&ledger.jobs[index]) => Some((index, *request)),
        _ => None,
    };
    let mut order: Vec<_> = state.roles.iter().enumerate().filter_map(waits).collect();
    order.sort_by_key(|&(index, _)| (std::cmp::Reverse(ledger.jobs[index].priority), index));
    order
}

/// Starts what the scheduler chooses, and opens its gates.
fn open(
    config: &Config,
    ledger: &Ledger,
    state: &mut State,
    memory: &mut Memory,
    now: u64,
    changes: &mut Vec<Change>,
) -> Result<(), SlurmError> {
    while let Some(started) = state.dispatcher.start_next(Time(now), &mut ())? {
        let Started { job, placement: Placement::Whole(cuboid), .. } = started else { continue };
        let (index, slurm) = (job.id.0 as usize, &ledger.jobs[job.id.0 as usize]);
        changes.push(Change::Open {
            job: slurm.name,
            nodes: reason::ranks(config, cuboid),
            licences: slurm.licences.others(&config.licence),
            comment: reason::placed(config, cuboid),
        });
        memory.priorities.insert(key(slurm), slurm.priority);
        state.roles[index] = Role::Opened;
    }
    Ok(())
}

/// Tells the first waiting jobs why they wait, and those without a box why, where that is new.
fn tell(
    config: &Config,
    ledger: &Ledger,
    state: &State,
    waits: &[(usize, Request)],
    boxless: &[(usize, Note)],
    (memory, now): (&mut Memory, u64),
    changes: &mut Vec<Change>,
) {
    let still = waits.iter().filter(|(index, _)| matches!(state.roles[*index], Role::Waits(_)));
    let waits = still.take(TOLD).map(|(index, request)| (*index, Err(request)));
    let boxless = boxless.iter().take(TOLD).map(|(index, why)| (*index, Ok(why)));
    let mut told = 0;
    for (index, why) in waits.chain(boxless) {
        let slurm = &ledger.jobs[index];
        let last = memory.told.get(&key(slurm));
        if last.is_some_and(|(at, _)| at + TELL_EVERY > now) {
            continue;
        }
        let comment = match why {
            Err(request) => reason::waiting(config, ledger, &state.snapshot(request), request, now),
            Ok(why) => why.clone(),
        };
        let new = last.is_none_or(|(_, text)| *text != comment);
        memory.told.insert(key(slurm), (now, comment.clone()));
        if new {
            changes.push(Change::Tell { job: slurm.name, comment });
            told += 1;
        }
        if told == TOLD_AT_ONCE {
            return;
        }
    }
}

#[cfg(test)]
mod tests;
