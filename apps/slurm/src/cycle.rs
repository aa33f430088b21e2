//! One cycle: from what Slurm says to what is changed. Nothing here talks to Slurm.

use std::collections::HashMap;

use pavior_allocation::Placement;
use pavior_kernel::Time;
use pavior_mesh::{JobId, NodeId};
use pavior_planning::Snapshot;
use pavior_scheduling::{Attempt, AttemptObserver, MachineView, Queue, Running};
use pavior_workload::{Job, Service, Shaper};

use crate::command::Change;
use crate::ledger::{Ledger, Phase, SlurmJob};
use crate::names::{JobName, Note};
use crate::state::{Role, State};
use crate::{Config, SlurmError, reason};

/// An estimate for jobs without a time limit: a year.
const ENDLESS: u64 = 365 * 86_400;
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
    for &index in &state.misplaced {
        let job = &ledger.jobs[index];
        let fresh = job.start.is_some_and(|start| start + FRESH >= now);
        if fresh && memory.requeued.insert(key(job), now).is_none() {
            changes.push(Change::Requeue { job: job.name });
        }
    }
    close(config, ledger, &mut state, memory, (now, basic), &mut changes);
    let queue = waiting(ledger, &state, memory, now);
    let waits = queue.len();
    let started = open(config, ledger, &mut state, queue, now, &mut changes);
    for index in started {
        let job = &ledger.jobs[index];
        memory.priorities.insert(key(job), job.priority);
        state.roles[index] = Role::Opened;
    }
    tell(config, ledger, &state, memory, now, &mut changes);
    let count = |role: &Role| state.roles.iter().filter(|other| *other == role).count();
    Ok(Decision {
        waiting: waits,
        opened: count(&Role::Opened),
        running: count(&Role::Holds),
        free: state.machine.free().count(),
        failed: state.machine.failed_nodes(),
        overlaps: state.overlaps,
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
            licences: job.licences.others(),
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

/// The waiting jobs in Slurm's order.
fn waiting(ledger: &Ledger, state: &State, memory: &Memory, now: u64) -> Queue {
    let away = |job: &SlurmJob| memory.closed.get(&key(job)).is_some_and(|&until| until > now);
    let waits =
        |&index: &usize| matches!(state.roles[index], Role::Waits(_)) && !away(&ledger.jobs[index]);
    let mut order: Vec<usize> = (0..ledger.jobs.len()).filter(waits).collect();
    order.sort_by_key(|&index| (std::cmp::Reverse(ledger.jobs[index].priority), index));
    let mut queue = Queue::new();
    for (place, index) in order.into_iter().enumerate() {
        let Role::Waits(request) = state.roles[index] else { continue };
        let length = Time(ledger.jobs[index].limit.unwrap_or(ENDLESS));
        queue.push(Job {
            id: JobId(index as u64),
            number: index as u64,
            arrival: Time((now + place as u64).min(u64::MAX / 2)),
            request,
            service: Service::Run(length),
            estimate: length,
        });
    }
    queue
}

/// Starts what the scheduler chooses; returns the jobs' places in the ledger.
fn open(
    config: &Config,
    ledger: &Ledger,
    state: &mut State,
    mut queue: Queue,
    now: u64,
    changes: &mut Vec<Change>,
) -> Vec<usize> {
    let mut scheduler =
        config.scheduler.build(()).expect("only closures fail, and built-in entries have none");
    let mut running = running(ledger, state, now);
    let mut started = Vec::new();
    loop {
        let start = {
            let mut observer = Unobserved;
            let mut view = MachineView::new(&mut state.machine, &mut observer);
            scheduler.next(Time(now), &queue, &running, &mut view)
        };
        let Some(start) = start else { return started };
        let Some(job) = queue.take(start.index) else { return started };
        let granted = match start.placement {
            Some(placement) => state.machine.allocate_at(job.id, placement).ok().cloned(),
            None => state.machine.allocate(job.id, &job.request).ok().cloned(),
        };
        let Some(Placement::Whole(cuboid)) = granted else { continue };
        let (index, slurm) = (job.id.0 as usize, &ledger.jobs[job.id.0 as usize]);
        changes.push(Change::Open {
            job: slurm.name,
            nodes: reason::ranks(config, &cuboid),
            licences: slurm.licences.others(),
            comment: reason::placed(config, &cuboid),
        });
        running.start(job, Time(now));
        started.push(index);
    }
}

/// The holders as the scheduler sees them, ends by their time limits.
fn running(ledger: &Ledger, state: &State, now: u64) -> Running {
    let mut running = Running::new();
    for (job, placement) in state.machine.held() {
        let slurm = &ledger.jobs[job.0 as usize];
        let length = match slurm.phase {
            Phase::Completing => Time(1),
            _ => Time(slurm.limit.unwrap_or(ENDLESS)),
        };
        let start = match slurm.phase {
            Phase::Running => slurm.start.unwrap_or(now).min(now),
            Phase::Pending | Phase::Completing => now,
        };
        let sides = placement.parts()[0].sides;
        let request = pavior_mesh::Request::hinted(placement.nodes(), sides);
        let (service, number, arrival) = (Service::Run(length), job.0, Time(start));
        let told = Job { id: job, number, arrival, request, service, estimate: length };
        running.start(told, Time(start));
    }
    running
}

/// Tells the first waiting jobs why they wait, and those that cannot be placed why, where that is
/// new.
fn tell(
    config: &Config,
    ledger: &Ledger,
    state: &State,
    memory: &mut Memory,
    now: u64,
    changes: &mut Vec<Change>,
) {
    let snapshot = Snapshot::of(&state.machine);
    let queue = waiting(ledger, state, memory, now);
    let waits = queue.iter().take(TOLD).map(|job| (job.id.0 as usize, Some(job.request)));
    let never = (0..ledger.jobs.len()).filter(|&index| {
        ledger.jobs[index].bad_comment && matches!(state.roles[index], Role::Apart)
    });
    let mut told = 0;
    for (index, request) in waits.chain(never.take(TOLD).map(|index| (index, None))) {
        let slurm = &ledger.jobs[index];
        let last = memory.told.get(&key(slurm));
        if last.is_some_and(|(at, _)| at + TELL_EVERY > now) {
            continue;
        }
        let comment = match request {
            Some(request) => reason::waiting(config, ledger, &snapshot, &request, now),
            None => reason::unplaced(),
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

/// Attempts are not counted here.
struct Unobserved;

impl AttemptObserver for Unobserved {
    fn ended(&mut self, _attempt: Attempt) {}
}

#[cfg(test)]
mod tests;
