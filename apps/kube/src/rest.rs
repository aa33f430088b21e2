//! What need not be looked at again: a record whose pods run on its nodes, what hangs on it, and
//! what is no business of ours. It sleeps until news touch it.
//!
//! ```text
//! news --touch--> awake --plan--> acts, and what may sleep --> asleep --touch--> awake
//! ```
//!
//! Invariant: what is asleep has no part in a plan, but that a record holds its nodes. It depends
//! on nothing but objects that wake it when they change, and on no time.
//!
//! A touched object wakes all that hangs together with it: Job, record, pods, the other Jobs of its
//! set, and the record of a node that another record names. A machine that is described otherwise,
//! a node with another name or label, a kind that is read anew, and a clock that was set back wake
//! everything.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::mem::take;
use std::sync::Arc;

use crate::nodes::Layout;
use crate::objects::{Job, Known, MachineSpec, Pod, Uid};
use crate::plan::{Memory, Places, occupies};
use crate::tracked::Changes;
use crate::world::{Index, World};

/// The objects that are looked at.
#[derive(Debug, Default)]
pub(crate) struct Awake {
    pub(crate) jobs: BTreeSet<Uid>,
    pub(crate) pods: BTreeSet<Uid>,
    pub(crate) placements: BTreeSet<Uid>,
}

/// A record that a plan found quiet: it sleeps when the plans of all machines are made.
#[derive(Clone, Debug)]
pub(crate) struct Quiet {
    pub(crate) placement: Uid,
    pub(crate) machine: String,
    pub(crate) namespace: String,
    /// When it was made, in seconds since 1970.
    pub(crate) created: i64,
    /// The Jobs that have its nodes.
    pub(crate) jobs: Vec<Uid>,
    /// Their names, by rank.
    pub(crate) nodes: Vec<String>,
}

/// A Job that sleeps.
#[derive(Debug)]
struct Sleeper {
    namespace: String,
    /// What controls it, if it is of a set.
    set: Option<Uid>,
    record: Option<Uid>,
    /// Whether it has a shape: one that has none is no business of ours.
    shaped: bool,
}

/// What sleeps, and what does not.
#[derive(Debug, Default)]
pub(crate) struct Rest {
    of: Option<(Layout, BTreeMap<String, MachineSpec>)>,
    pub(crate) awake: Awake,
    records: HashMap<Uid, Quiet>,
    /// When the newest of them was made: a clock that stands before that was set back.
    newest: i64,
    /// The record that sleeps on each node, by the node's name.
    on: HashMap<String, Uid>,
    jobs: HashMap<Uid, Sleeper>,
    /// The Jobs that sleep: by what controls the set, and how many of each namespace.
    sets: HashMap<Uid, Vec<Uid>>,
    namespaces: HashMap<String, usize>,
    /// The nodes of the records that sleep: by machine, of each namespace.
    held: HashMap<String, HashMap<String, u32>>,
    /// The pods that sleep, each with what owns it, and the other way round.
    pods: HashMap<Uid, Option<Uid>>,
    owned: HashMap<Uid, BTreeSet<Uid>>,
    /// Records that went to sleep in this turn.
    fallen: Vec<Uid>,
    /// Which turn it is, and what it brought.
    pub(crate) turn: Turn,
}

/// What a turn brought for the machines, for who has followed all turns before it.
#[derive(Debug, Default)]
pub(crate) struct Turn {
    pub(crate) number: u64,
    /// Records that went to sleep at the end of the turn before.
    pub(crate) slept: Vec<Uid>,
    /// Those that woke after that.
    pub(crate) woken: Vec<Uid>,
    /// Nodes that take pods otherwise.
    pub(crate) nodes: Vec<String>,
    /// Whether everything woke.
    pub(crate) anew: bool,
}

impl Rest {
    /// A turn begins at `now`, in seconds since 1970: what the news have touched wakes.
    pub(crate) fn wake(&mut self, world: &mut World, now: i64) {
        let (jobs, pods) = (world.jobs.changes(), world.pods.changes());
        let (placements, nodes) = (world.placements.changes(), world.nodes.changes());
        let (number, slept) = (self.turn.number + 1, take(&mut self.fallen));
        self.turn = Turn { number, slept, ..Turn::default() };
        let specs = world.machines.iter().map(|(name, one)| (name, &one.spec));
        let same = self.of.as_ref().is_some_and(|(layout, known)| {
            *layout == world.nodes.layout() && known.iter().eq(specs)
        });
        let same = same && now >= self.newest;
        match (jobs, pods, placements, nodes) {
            (
                Changes::Some(jobs),
                Changes::Some(pods),
                Changes::Some(placements),
                Changes::Some(nodes),
            ) if same => {
                for uid in &jobs {
                    self.touch_job(world, uid);
                }
                for uid in &pods {
                    self.touch_pod(world, uid);
                }
                for uid in &placements {
                    self.touch_placement(world, uid);
                }
                self.turn.nodes = nodes;
            }
            _ => self.wake_all(world),
        }
    }

    /// The record that sleeps on a node, by the node's name.
    pub(crate) fn record_on(&self, node: &str) -> Option<&Quiet> {
        self.records.get(self.on.get(node)?)
    }

    /// The records of a machine that sleep, in no order.
    pub(crate) fn records_on(&self, machine: &str) -> impl Iterator<Item = &Quiet> {
        self.records.values().filter(move |record| record.machine == machine)
    }

    /// The nodes of a machine that the records that sleep have, of each namespace.
    pub(crate) fn held_on(&self, machine: &str) -> impl Iterator<Item = (&str, u32)> {
        let all = self.held.get(machine).into_iter().flatten();
        all.map(|(namespace, nodes)| (namespace.as_str(), *nodes))
    }

    /// Whether a Job of a namespace sleeps.
    pub(crate) fn has_jobs_in(&self, namespace: &str) -> bool {
        self.namespaces.contains_key(namespace)
    }

    fn wake_all(&mut self, world: &World) {
        let specs = world.machines.iter().map(|(name, one)| (name.clone(), one.spec.clone()));
        let number = self.turn.number;
        *self = Rest {
            of: Some((world.nodes.layout(), specs.collect())),
            awake: Awake {
                jobs: world.jobs.keys().cloned().collect(),
                pods: world.pods.keys().cloned().collect(),
                placements: world.placements.keys().cloned().collect(),
            },
            turn: Turn { number, anew: true, ..Turn::default() },
            ..Rest::default()
        };
    }

    fn touch_job(&mut self, world: &World, uid: &Uid) {
        let job = world.jobs.get(uid);
        let foreign = |job: &Job| job.shape().is_none();
        if self.jobs.get(uid).is_some_and(|known| !known.shaped) && job.is_some_and(foreign) {
            return;
        }
        self.wake_around(world, uid);
        match job {
            Some(job) => {
                self.awake.jobs.insert(uid.clone());
                if let Some(set) = job.set() {
                    self.wake_set(world, &set);
                }
            }
            None => drop(self.awake.jobs.remove(uid)),
        }
    }

    fn touch_pod(&mut self, world: &World, uid: &Uid) {
        let pod = world.pods.get(uid);
        let before = self.pods.remove(uid).flatten();
        if let Some(owner) = &before
            && let Some(owned) = self.owned.get_mut(owner)
        {
            owned.remove(uid);
            if owned.is_empty() {
                self.owned.remove(owner);
            }
        }
        match pod {
            Some(_) => drop(self.awake.pods.insert(uid.clone())),
            None => drop(self.awake.pods.remove(uid)),
        }
        for owner in before.into_iter().chain(pod.and_then(Known::owner)) {
            if self.jobs.get(&owner).is_some_and(|job| job.shaped) {
                self.wake_around(world, &owner);
            }
        }
    }

    fn touch_placement(&mut self, world: &World, uid: &Uid) {
        self.wake_record(world, uid);
        let Some(placement) = world.placements.get(uid) else {
            self.awake.placements.remove(uid);
            return;
        };
        self.awake.placements.insert(uid.clone());
        placement.spec.jobs().iter().for_each(|job| self.wake_around(world, job));
        for node in &placement.spec.nodes {
            if let Some(record) = self.on.get(node).cloned() {
                self.wake_record(world, &record);
            }
        }
    }

    /// Wakes what hangs on the uid of a Job.
    fn wake_around(&mut self, world: &World, uid: &Uid) {
        for pod in self.owned.remove(uid).unwrap_or_default() {
            if self.pods.remove(&pod).is_some() && world.pods.contains_key(&pod) {
                self.awake.pods.insert(pod);
            }
        }
        let Some(sleeper) = self.jobs.remove(uid) else { return };
        if world.jobs.contains_key(uid) {
            self.awake.jobs.insert(uid.clone());
        }
        if let Some(many) = self.namespaces.get_mut(&sleeper.namespace) {
            *many -= 1;
            if *many == 0 {
                self.namespaces.remove(&sleeper.namespace);
            }
        }
        if let Some(set) = sleeper.set {
            self.wake_set(world, &set);
        }
        if let Some(record) = sleeper.record {
            self.wake_record(world, &record);
        }
    }

    fn wake_set(&mut self, world: &World, set: &Uid) {
        for job in self.sets.remove(set).unwrap_or_default() {
            self.wake_around(world, &job);
        }
    }

    fn wake_record(&mut self, world: &World, uid: &Uid) {
        let Some(quiet) = self.records.remove(uid) else { return };
        for node in &quiet.nodes {
            self.on.remove(node);
        }
        if let Some(held) = self.held.get_mut(&quiet.machine)
            && let Some(nodes) = held.get_mut(&quiet.namespace)
        {
            *nodes -= quiet.nodes.len() as u32;
            if *nodes == 0 {
                held.remove(&quiet.namespace);
            }
        }
        if world.placements.contains_key(uid) {
            self.awake.placements.insert(uid.clone());
        }
        self.turn.woken.push(uid.clone());
        quiet.jobs.iter().for_each(|job| self.wake_around(world, job));
    }
}

#[cfg(test)]
impl Rest {
    /// Whether nothing is kept of what slept.
    pub(crate) fn is_empty(&self) -> bool {
        let jobs = self.jobs.is_empty() && self.sets.is_empty() && self.namespaces.is_empty();
        let pods = self.pods.is_empty() && self.owned.is_empty();
        let held = self.held.values().any(|of| !of.is_empty());
        jobs && pods && self.records.is_empty() && self.on.is_empty() && !held
    }
}

/// What may sleep once the plans of a turn are made.
pub(crate) struct Drowsy {
    records: Vec<Quiet>,
    /// Those that are no record's.
    jobs: Vec<Uid>,
    pods: Vec<Uid>,
}

impl Drowsy {
    /// What the plans found quiet, and what is no business of theirs. `memory` is that of the
    /// plans, by machine.
    pub(crate) fn of(
        index: &Index<'_>,
        quiet: Vec<Quiet>,
        memory: &HashMap<String, Memory>,
    ) -> Drowsy {
        let mut drowsy = Drowsy { records: Vec::new(), jobs: Vec::new(), pods: Vec::new() };
        let names = index.world.machines.keys();
        let places: Vec<&Arc<Places>> =
            names.filter_map(|name| memory.get(name)?.places()).collect();
        let machines = |node: &str| places.iter().filter(|one| one.ids.contains_key(node)).count();
        for record in quiet {
            // On a node of two machines its pods are in the way of the other one.
            if record.nodes.iter().all(|node| machines(node) == 1) {
                let jobs = record.jobs.iter().filter_map(|uid| index.job(uid));
                drowsy.pods.extend(jobs.flat_map(|job| index.pods_of(job)).map(Known::uid));
                drowsy.records.push(record);
            }
        }
        let idle = |job: &&Job| is_idle(index, job);
        drowsy.jobs.extend(index.jobs().filter(idle).map(Known::uid));
        let foreign = |pod: &&Pod| {
            let is_there = || pod.node().is_some_and(|node| machines(node) > 0) && occupies(pod);
            !pod.lives() || (!is_of_ours(index, pod) && !is_there())
        };
        drowsy.pods.extend(index.pods().filter(foreign).map(Known::uid));
        drowsy
    }
}

/// Whether a Job has no part in a plan, as long as neither record nor pod of it comes.
fn is_idle(index: &Index<'_>, job: &Job) -> bool {
    let ended = || {
        let alone = !job.is_of_a_set() && job.quota.is_none();
        job.is_over() && alone && index.pods_of(job).next().is_none()
    };
    index.placements_of(job) == 0 && (job.shape().is_none() || ended())
}

/// Whether a pod belongs to a Job that is looked at.
fn is_of_ours(index: &Index<'_>, pod: &Pod) -> bool {
    let job = pod.owner().and_then(|owner| index.job(&owner));
    job.is_some_and(|job| job.shape().is_some() || index.placements_of(job) > 0)
}

impl Rest {
    /// A turn ends: what may sleep does.
    pub(crate) fn sleep(&mut self, world: &World, drowsy: Drowsy) {
        for record in drowsy.records {
            self.newest = self.newest.max(record.created);
            self.fallen.push(record.placement.clone());
            self.awake.placements.remove(&record.placement);
            for job in &record.jobs {
                self.lay_job(world, job, Some(&record.placement));
            }
            let on = record.nodes.iter().map(|node| (node.clone(), record.placement.clone()));
            self.on.extend(on);
            let held = self.held.entry(record.machine.clone()).or_default();
            *held.entry(record.namespace.clone()).or_default() += record.nodes.len() as u32;
            self.records.insert(record.placement.clone(), record);
        }
        for job in drowsy.jobs {
            self.lay_job(world, &job, None);
        }
        for uid in drowsy.pods {
            if !self.awake.pods.remove(&uid) {
                continue;
            }
            let owner = world.pods.get(&uid).and_then(Known::owner);
            if let Some(owner) = &owner {
                self.owned.entry(owner.clone()).or_default().insert(uid.clone());
            }
            self.pods.insert(uid, owner);
        }
    }

    fn lay_job(&mut self, world: &World, uid: &Uid, record: Option<&Uid>) {
        let Some(job) = world.jobs.get(uid).filter(|_| self.awake.jobs.remove(uid)) else { return };
        let (namespace, set) = (job.namespace().to_string(), job.set());
        *self.namespaces.entry(namespace.clone()).or_default() += 1;
        if let Some(set) = &set {
            self.sets.entry(set.clone()).or_default().push(uid.clone());
        }
        let shaped = job.shape().is_some();
        self.jobs.insert(uid.clone(), Sleeper { namespace, set, record: record.cloned(), shaped });
    }
}
