//! One cycle: from what Slurm says to what is changed. Nothing here talks to Slurm.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use pavior::scheduling::Started;
use pavior::workload::Shaper;
use pavior::{Cuboid, JobId, NodeId, Placement, Request, Time};

use crate::command::{Change, Priority};
use crate::ledger::{Ledger, Phase, SlurmJob};
use crate::limits::{Kin, Limits, Said, is_limit};
use crate::metrics::slots_of;
use crate::names::{JobName, Note};
use crate::site::Site;
use crate::state::{Role, Seen, State, Unplaced, told};
use crate::{Config, SlurmError, preempt, reason};

/// How many waiting jobs, from the first, are told why, and how many of them in one cycle.
const TOLD: usize = 32;
const TOLD_AT_ONCE: usize = 4;
/// Between two texts for the same job, in seconds.
const TELL_EVERY: u64 = 10;
/// A job that started longer ago than this is not held against its shape any more.
const FRESH: u64 = 60;
/// How long a limit that Slurm has named is believed if nothing changes, in seconds.
const LIMIT_S: u64 = 60;
/// How long jobs may take to end that are being preempted, beside their grace, in seconds: Slurm's
/// `KillWait` and an epilogue.
const ENDING_S: u64 = 120;
/// How long no others are preempted for a job for which Slurm did not do so, in seconds.
const VAIN_S: u64 = 600;

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
    /// Limits that Slurm has named.
    reached: Vec<Reached>,
    preempting: HashMap<Key, Preempting>,
    /// Until when no others are preempted for a job, since Slurm did not do so.
    vain: HashMap<Key, u64>,
}

/// A limit that Slurm gave as the reason of a job whose gate was open.
struct Reached {
    /// The jobs that it keeps back.
    kin: Kin,
    job: Key,
    /// The class of the job. One that an operator has changed may be kept back no more.
    class: [String; 3],
    reason: String,
    /// Those of them that held nodes. When one has ended, the others are tried again.
    holders: HashSet<Key>,
    until: u64,
}

/// A job whose gate is open where others run.
struct Preempting {
    since: u64,
    /// How long the others may take to end once Slurm preempts them.
    grace_s: u64,
    victims: HashSet<Key>,
}

/// What is told beside the ledger.
pub(crate) struct View<'a> {
    pub(crate) now: u64,
    pub(crate) site: &'a Site,
    pub(crate) said: &'a Said,
}

impl Memory {
    fn forget_all_but(&mut self, ledger: &Ledger, now: u64) {
        let keys: HashSet<Key> = ledger.jobs.iter().map(key).collect();
        self.opened.retain(|key, _| keys.contains(key));
        self.closed.retain(|key, _| keys.contains(key));
        self.priorities.retain(|key, _| keys.contains(key));
        self.told.retain(|key, _| keys.contains(key));
        self.requeued.retain(|key, _| keys.contains(key));
        self.preempting.retain(|key, _| keys.contains(key));
        self.vain.retain(|key, until| keys.contains(key) && *until > now);
        let holds = |job: &&SlurmJob| job.phase != Phase::Pending;
        let holders: HashSet<Key> = ledger.jobs.iter().filter(holds).map(key).collect();
        self.reached.retain(|reached| {
            reached.until > now && reached.holders.iter().all(|holder| holders.contains(holder))
        });
    }

    /// Notes a limit that Slurm has named.
    fn reach(&mut self, ledger: &Ledger, job: &SlurmJob, now: u64) {
        let kin = Kin::of(job, &job.reason);
        let holds = |other: &&SlurmJob| other.phase != Phase::Pending && kin.has(other);
        let holders = ledger.jobs.iter().filter(holds).map(key).collect();
        let (reason, until) = (job.reason.clone(), now + LIMIT_S);
        let (job, class) = (key(job), class(job));
        self.reached.push(Reached { kin, job, class, reason, holders, until });
    }

    /// The limit that keeps a job back, by what Slurm has said.
    fn limit_of(&self, job: &SlurmJob) -> Option<&str> {
        let keeps = |reached: &&Reached| {
            reached.kin.has(job) || reached.job == key(job) && reached.class == class(job)
        };
        self.reached.iter().find(keeps).map(|reached| reached.reason.as_str())
    }
}

fn key(job: &SlurmJob) -> Key {
    (job.name, job.submitted)
}

/// The QOS, account and partition of a job, whose limits count for it.
fn class(job: &SlurmJob) -> [String; 3] {
    [&job.qos, &job.account, &job.partition].map(String::clone)
}

/// What a cycle decided, and what it saw.
#[derive(Debug)]
pub(crate) struct Decision {
    pub(crate) changes: Vec<Change>,
    pub(crate) waiting: usize,
    pub(crate) opened: usize,
    pub(crate) running: usize,
    pub(crate) free: u32,
    pub(crate) failed: u32,
    pub(crate) overlaps: Vec<NodeId>,
    /// By configured shape: how many boxes can be placed side by side, and no more than how many.
    pub(crate) slots: Vec<(String, [u32; 2])>,
    /// Jobs that can never be placed or run on no box, each with why.
    pub(crate) boxless: Vec<(JobName, Note)>,
}

/// Decides.
pub(crate) fn decide(
    config: &Config,
    ledger: &Ledger,
    shaper: &mut Shaper,
    memory: &mut Memory,
    view: &View<'_>,
) -> Result<Decision, SlurmError> {
    let &View { now, site, said } = view;
    memory.forget_all_but(ledger, now);
    let preempting = &memory.preempting.keys().copied().collect();
    let mut state = State::of(config, ledger, shaper, &Seen { now, site, preempting })?;
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
    let mut reserved = Vec::new();
    for (index, unplaced) in &state.unplaceable {
        match unplaced {
            Unplaced::Never(fault) => boxless.push((*index, reason::unplaced(fault))),
            Unplaced::Reserved => reserved.push((*index, reason::reserved(config, ledger))),
        }
    }
    let mut limits = Limits::new(site, said, ledger);
    for (index, role) in state.roles.iter().enumerate() {
        // Those whose gate is about to be closed may start before.
        if matches!(role, Role::Opened | Role::Preempting | Role::Obstructed(_)) {
            limits.take(&ledger.jobs[index]);
        }
    }
    close(config, ledger, &mut state, memory, view, &mut changes);
    let waits = waiting(ledger, &state, memory, view);
    let kept = open(config, ledger, &mut state, memory, (now, &waits, &mut limits), &mut changes)?;
    let standing = still(&state, &waits, &kept);
    preempt(config, ledger, &mut state, memory, (view, &standing), &mut changes);
    let mut notes = boxless.clone();
    notes.extend(reserved);
    notes.extend(kept);
    notes.extend(kept_by_slurm(ledger, &state, &mut limits));
    tell(config, ledger, &state, &waits, &notes, (memory, now), &mut changes);
    let count = |role: &Role| state.roles.iter().filter(|other| *other == role).count();
    Ok(Decision {
        waiting: waits.len(),
        opened: count(&Role::Opened) + count(&Role::Preempting),
        running: count(&Role::Holds),
        free: state.machine().free().count(),
        failed: state.machine().failed_nodes(),
        slots: slots_of(config, state.machine().free()),
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
    view: &View<'_>,
    changes: &mut Vec<Change>,
) {
    let now = view.now;
    for (index, job) in ledger.jobs.iter().enumerate() {
        let role = &state.roles[index];
        let limited = matches!(role, Role::Opened | Role::Preempting) && is_limit(&job.reason);
        let wait_s = match role {
            Role::Opened | Role::Preempting if limited => {
                memory.reach(ledger, job, now);
                None
            }
            Role::Opened => {
                let since = *memory.opened.entry(key(job)).or_insert(now);
                if since + view.site.patience(config, ledger, job) > now {
                    continue;
                }
                Some(config.cooldown_s)
            }
            Role::Preempting if goes_on(config, ledger, job, memory, view) => continue,
            Role::Ungated | Role::Held => None,
            Role::Obstructed(_) => Some(1),
            Role::Preempting | Role::Requeued => Some(config.cooldown_s),
            _ => continue,
        };
        let old = memory.priorities.get(&key(job)).copied().filter(|_| view.site.basic);
        changes.push(Change::Close {
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
        // Its nodes stay held in this cycle: whether Slurm takes it back is seen in the next.
        memory.opened.remove(&key(job));
        // The closing says something else than what was told last.
        memory.told.remove(&key(job));
        memory.preempting.remove(&key(job));
        memory.closed.insert(key(job), now + wait_s.unwrap_or(0));
        state.roles[index] = Role::Apart;
    }
}

/// Whether Slurm has begun to preempt jobs for this one, or has had no time yet. If it does not, it
/// is not asked again for a while.
fn goes_on(
    config: &Config,
    ledger: &Ledger,
    job: &SlurmJob,
    memory: &mut Memory,
    &View { now, site, .. }: &View<'_>,
) -> bool {
    let unknown = || Preempting { since: now, grace_s: 0, victims: HashSet::new() };
    let preempting = memory.preempting.entry(key(job)).or_insert_with(unknown);
    let runs = |victim: &Key| {
        let is = |job: &&SlurmJob| key(job) == *victim && job.phase == Phase::Running;
        ledger.jobs.iter().any(|job| is(&job))
    };
    let begun = preempting.victims.iter().any(|victim| !runs(victim));
    let patience_s = site.patience(config, ledger, job) + if begun { ENDING_S } else { 0 };
    let in_time = now < preempting.since + patience_s + preempting.grace_s;
    if !in_time {
        memory.vain.insert(key(job), now + VAIN_S);
    }
    in_time
}

/// The waiting jobs in Slurm's order: their places in the ledger, and what they ask for. Among
/// equal priorities the oldest is first; `squeue` prints the newest first.
fn waiting(
    ledger: &Ledger,
    state: &State,
    memory: &Memory,
    view: &View<'_>,
) -> Vec<(usize, Request)> {
    let away = |job: &SlurmJob| memory.closed.get(&key(job)).is_some_and(|&until| until > view.now);
    let waits = |(index, role): (usize, &Role)| match role {
        Role::Waits(request) if !away(&ledger.jobs[index]) => Some((index, *request)),
        _ => None,
    };
    let mut order: Vec<_> = state.roles.iter().enumerate().filter_map(waits).collect();
    order.sort_by_cached_key(|&(index, _)| {
        let job = &ledger.jobs[index];
        let tier = view.site.tier(&job.partition);
        (Reverse((tier, job.priority)), job.submitted, job.name)
    });
    order
}

/// Puts the waiting jobs that no limit keeps back into the queue, in Slurm's order.
pub(crate) fn queue(ledger: &Ledger, state: &mut State, limits: &mut Limits<'_>, view: &View<'_>) {
    let waits = waiting(ledger, state, &Memory::default(), view);
    for (place, (index, request)) in waits.into_iter().enumerate() {
        let job = &ledger.jobs[index];
        if limits.over(job).is_none() {
            let told = told(index, job, arrival(view.now, place), request);
            state.dispatcher.submit(told).expect("it waits once");
        }
    }
}

/// When a job is said to have come that stands at a place of the queue: the order counts.
fn arrival(now: u64, place: usize) -> Time {
    Time((now + place as u64).min(u64::MAX / 2))
}

/// Starts what the scheduler chooses, and opens its gates. Jobs that would pass a limit are kept
/// from the scheduler, so that none waits for them; they are returned, each with its limit.
fn open(
    config: &Config,
    ledger: &Ledger,
    state: &mut State,
    memory: &mut Memory,
    (now, waits, limits): (u64, &[(usize, Request)], &mut Limits<'_>),
    changes: &mut Vec<Change>,
) -> Result<Vec<(usize, Note)>, SlurmError> {
    let mut kept = Vec::new();
    let mut queued = Vec::new();
    for (place, &(index, request)) in waits.iter().enumerate() {
        let job = &ledger.jobs[index];
        if let Some(reason) = memory.limit_of(job) {
            kept.push((index, reason::limited(reason)));
        } else if let Some(limit) = limits.over(job) {
            kept.push((index, reason::limited(&limit)));
        } else {
            let arrival = arrival(now, place);
            let told = told(index, job, arrival, request);
            state.dispatcher.submit(told).expect("it waits once");
            if limits.concern(job) {
                queued.push((index, arrival));
            }
        }
    }
    while let Some(started) = state.dispatcher.start_next(Time(now), &mut ())? {
        let Started { job, placement: Placement::Whole(cuboid), .. } = started else { continue };
        let (index, slurm) = (job.id.0 as usize, &ledger.jobs[job.id.0 as usize]);
        changes.push(opening(config, slurm, cuboid));
        memory.priorities.insert(key(slurm), slurm.priority);
        state.roles[index] = Role::Opened;
        limits.take(slurm);
        queued.retain(|&(other, arrival)| {
            let job = &ledger.jobs[other];
            if other == index || !limits.touches(slurm, job) {
                return other != index;
            }
            let Some(limit) = limits.over(job) else { return true };
            let place = state.dispatcher.queue().place_of(arrival, JobId(other as u64));
            place.and_then(|place| state.dispatcher.withdraw(place));
            kept.push((other, reason::limited(&limit)));
            false
        });
    }
    Ok(kept)
}

/// The jobs that still wait for a box, and for nothing else.
fn still(
    state: &State,
    waits: &[(usize, Request)],
    kept: &[(usize, Note)],
) -> Vec<(usize, Request)> {
    let kept: HashSet<usize> = kept.iter().map(|(index, _)| *index).collect();
    let waits = waits.iter().copied();
    let waiting = |index: usize| matches!(state.roles[index], Role::Waits(_));
    waits.filter(|(index, _)| waiting(*index) && !kept.contains(index)).collect()
}

fn opening(config: &Config, job: &SlurmJob, cuboid: &Cuboid) -> Change {
    Change::Open {
        job: job.name,
        nodes: reason::ranks(config, cuboid),
        licences: job.licences.others(&config.licence),
        comment: reason::placed(config, cuboid),
    }
}

/// Opens the gate of the first job that Slurm can make a box for by preemption.
fn preempt(
    config: &Config,
    ledger: &Ledger,
    state: &mut State,
    memory: &mut Memory,
    (view, waits): (&View<'_>, &[(usize, Request)]),
    changes: &mut Vec<Change>,
) {
    let &View { now, site, .. } = view;
    let vain = |index: usize| memory.vain.contains_key(&key(&ledger.jobs[index]));
    let Some(choice) = preempt::choose(config, ledger, state, (site, now), waits, vain) else {
        return;
    };
    let job = &ledger.jobs[choice.index];
    let victims = || choice.victims.iter().map(|&victim| &ledger.jobs[victim]);
    changes.push(opening(config, job, &choice.at));
    memory.priorities.insert(key(job), job.priority);
    let grace_s = victims().map(|victim| preempt::grace(site, victim)).max().unwrap_or(0);
    let victims = victims().map(key).collect();
    memory.preempting.insert(key(job), Preempting { since: now, grace_s, victims });
    state.roles[choice.index] = Role::Preempting;
}

/// What jobs are told that Slurm itself keeps back by a limit.
fn kept_by_slurm(ledger: &Ledger, state: &State, limits: &mut Limits<'_>) -> Vec<(usize, Note)> {
    let apart = ledger.jobs.iter().enumerate().filter(|(index, job)| {
        job.phase == Phase::Pending && state.roles[*index] == Role::Apart && is_limit(&job.reason)
    });
    apart
        .take(TOLD)
        .map(|(index, job)| {
            let limit = limits.over(job).unwrap_or_else(|| job.reason.clone());
            (index, reason::limited(&limit))
        })
        .collect()
}

/// Tells the first waiting jobs why they wait, and those that do not for a box why, where that is
/// new.
fn tell(
    config: &Config,
    ledger: &Ledger,
    state: &State,
    waits: &[(usize, Request)],
    notes: &[(usize, Note)],
    (memory, now): (&mut Memory, u64),
    changes: &mut Vec<Change>,
) {
    let still = still(state, waits, notes);
    let waits = still.iter().take(TOLD).map(|(index, request)| (*index, Err(request)));
    let notes = notes.iter().take(TOLD).map(|(index, why)| (*index, Ok(why)));
    let standing = state.dispatcher.standing(Time(now));
    let mut told = 0;
    for (index, why) in waits.chain(notes) {
        let slurm = &ledger.jobs[index];
        let last = memory.told.get(&key(slurm));
        if last.is_some_and(|(at, _)| at + TELL_EVERY > now) {
            continue;
        }
        let comment = match why {
            Err(request) => {
                let planned = state.planned(ledger, standing.as_ref(), index, now);
                let snapshot = state.snapshot(request);
                reason::waiting(config, ledger, &snapshot, request, (now, planned))
            }
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
