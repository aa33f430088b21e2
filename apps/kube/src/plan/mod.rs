//! From what was read of the cluster to what is changed. Nothing here talks to the API server, and
//! nothing is remembered that a decision needs: a plan is made of the world as it is.

mod act;
mod checks;
mod demands;
mod forecast;
mod hold;
mod order;
mod patch;
mod places;
mod pods;
mod queue;
mod records;
mod site;
#[cfg(test)]
mod tests;
mod words;

use std::collections::{HashMap, HashSet};

use pavior::answers::{Shape, slots};
use pavior::{NodeId, Occupancy};

pub(crate) use act::{Act, Seen, Unless};
pub(crate) use forecast::{Forecast, Question};
pub(crate) use queue::{Holding, Waiting};
pub(crate) use site::{RESOURCE, Site};
pub(crate) use words::{lines, reason};

use crate::objects::{Job, Known, MACHINE, MachineStatus, Node, Pod, SlotCount, Uid};
use crate::unit::Unit;
use crate::world::{Index, World};
use places::Places;

/// How long a node is kept from a Job whose pod the scheduler of the cluster refused there, in
/// seconds.
const AVOID_S: i64 = 600;

/// What is remembered between plans. All of it can be lost: patience then begins anew, and turns of
/// namespaces are known by the records that are left.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    /// Since when the scheduler of the cluster refuses an open pod.
    refused: HashMap<Uid, i64>,
    /// Nodes that a Job is kept from, each until when.
    avoided: HashMap<Uid, HashMap<String, i64>>,
    /// When each namespace got its latest place.
    served: HashMap<String, i64>,
    /// Whether a set lacks Jobs that may still be being made.
    unfinished: bool,
    /// The Jobs that have run, if it is asked when others start.
    past: forecast::Past,
    /// Since when a Workload holds quota without a place.
    quota: HashMap<Uid, i64>,
    /// The slots of the shapes that the operator asks for, of this free machine.
    slots: Option<(Occupancy, Vec<SlotCount>)>,
}

/// Who has a plan made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asker {
    /// The copy that acts. Events name no Jobs of other namespaces.
    Daemon,
    /// An operator of a cluster with a daemon.
    Operator,
    /// Who only looks: no daemon need be there.
    Observer,
}

/// How much is found out beside what is done.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Depth {
    /// How many waiting Jobs, from the first, are told what is in their way.
    pub(crate) told: usize,
    /// How many other Jobs may move in the plans that they are told.
    pub(crate) moved: usize,
    /// Whether the queue is run forward, to say when each Job starts.
    pub(crate) starts: bool,
    pub(crate) asker: Asker,
    /// Whether the holders are listed with names and boxes, for the page.
    pub(crate) pictured: bool,
    /// Whether it is asked when the waiting Jobs will probably start.
    pub(crate) forecast: bool,
}

impl Depth {
    /// For acting: events are told for the first of the queue alone.
    pub(crate) const ACT: Depth = Depth {
        told: 32,
        moved: 0,
        starts: false,
        asker: Asker::Daemon,
        pictured: false,
        forecast: false,
    };
    /// For the page alone.
    pub(crate) const OBSERVE: Depth =
        Depth { starts: true, asker: Asker::Observer, pictured: true, ..Depth::ACT };
}

/// The words of bit sets looked at in the search for slots.
const SLOT_BUDGET: u64 = 1 << 20;

impl Memory {
    fn avoid(&mut self, job: &Uid, node: &str, now: i64) {
        let nodes = self.avoided.entry(job.clone()).or_default();
        nodes.insert(node.to_string(), now + AVOID_S);
    }

    /// Whether something changes with time alone.
    pub(crate) fn is_patient(&self) -> bool {
        self.unfinished
            || !self.quota.is_empty()
            || !self.refused.is_empty()
            || !self.avoided.is_empty()
    }

    fn forget(&mut self, world: &World, now: i64) {
        let waits = |pod: &Uid| world.pods.get(pod).is_some_and(|pod| pod.node().is_none());
        self.refused.retain(|pod, _| waits(pod));
        for placement in world.placements.values() {
            let (namespace, created) = (placement.namespace(), placement.created());
            if let Some(served) = self.served.get_mut(namespace) {
                *served = (*served).max(created);
            } else {
                self.served.insert(namespace.to_string(), created);
            }
        }
        let with_jobs: HashSet<&str> = world.jobs.values().map(Known::namespace).collect();
        self.served.retain(|namespace, _| with_jobs.contains(namespace.as_str()));
        self.avoided.retain(|job, nodes| {
            nodes.retain(|_, until| *until > now);
            !nodes.is_empty() && world.jobs.contains_key(job)
        });
    }
}

/// A machine, and which nodes of the cluster are its.
pub(crate) struct Plot<'a> {
    pub(crate) name: &'a str,
    pub(crate) site: Site,
    pub(crate) places: Places<'a>,
}

/// What is to be done for a machine, and what is told of it.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) acts: Vec<Act>,
    pub(crate) status: MachineStatus,
    /// The Jobs that wait, in the order of the queue.
    pub(crate) waiting: Vec<Waiting>,
    /// Nodes that two confirmed placements have: must never be.
    pub(crate) overlaps: Vec<NodeId>,
    /// The nodes that are free once this is done.
    pub(crate) free: Occupancy,
    /// If it is asked for.
    pub(crate) picture: Option<Picture>,
    /// The same: its answer takes a while.
    pub(crate) question: Option<Question>,
}

/// A machine as it is drawn, once this is done.
#[derive(Debug)]
pub(crate) struct Picture {
    pub(crate) site: Site,
    pub(crate) held: Vec<Holding>,
    pub(crate) failed: Vec<NodeId>,
}

/// Makes a plan for a machine. `now` is in seconds since 1970.
///
/// # Errors
/// A sentence, if the machine's description cannot be used.
pub(crate) fn plan(
    index: &Index<'_>,
    name: &str,
    memory: &mut Memory,
    now: i64,
    depth: Depth,
) -> Result<Plan, String> {
    let Some(machine) = index.world.machines.get(name) else {
        return Err("there is no such machine".to_string());
    };
    memory.forget(index.world, now);
    let mut site = Site::of(&machine.spec)?;
    site.observed = depth.asker == Asker::Observer;
    let places = Places::of(&site.grid, &machine.spec.nodes, index.world.nodes.values());
    let plot = Plot { name, site, places };
    let mut acts = offers(&plot);
    let records = records::judge(&plot, index, memory, now, &mut acts);
    for record in records.iter().filter(|record| record.stands) {
        pods::open(&plot, index, record, &mut acts);
    }
    if depth.pictured || depth.forecast {
        memory.past.learn(&plot, index);
    }
    let units = index.unplaced_on(name);
    for unit in &units {
        pods::remove(unit, index, &mut acts);
    }
    let promised = units.iter().any(Unit::is_promised);
    let depth = Depth { starts: depth.starts || promised, ..depth };
    let mut queue = queue::place(&plot, index, &records, units, memory, now, depth)?;
    acts.extend(std::mem::take(&mut queue.proposals));
    acts.extend(checks::tell(&plot, index, &records, &queue.waiting, memory, now));
    let missing = plot.places.missing();
    let status = MachineStatus {
        fault: None,
        known: plot.site.grid.nodes() - missing,
        missing,
        contradictory: plot.places.contradictory.iter().take(16).cloned().collect(),
        free: queue.free.count(),
        busy: queue.busy,
        unavailable: queue.unavailable.saturating_sub(missing),
        waiting: queue.waiting.len() as u32,
        slots: count_slots(&plot.site, memory, &queue.free),
    };
    let queue::Placed { waiting, overlaps, free, held, failed, question, .. } = queue;
    let picture = depth.pictured.then(|| Picture { site: plot.site, held, failed });
    Ok(Plan { acts, status, waiting, overlaps, free, picture, question })
}

/// Jobs with a shape that no machine is for, and why.
pub(crate) fn strays(index: &Index<'_>) -> Vec<Waiting> {
    let machines = &index.world.machines;
    let is_over = |job: &Job| job.is_over() || job.is_going();
    let jobs = index.world.jobs.values().filter(|job| job.shape().is_some() && !is_over(job));
    let stray = |job: &Job| {
        let why = match job.annotation(MACHINE) {
            Some(name) if machines.contains_key(name) => return None,
            Some(_) => "its annotation pavior.dev/machine names no machine of the cluster",
            None if machines.len() == 1 => return None,
            None if machines.is_empty() => "the cluster has no machine: no box can be placed",
            None => "the cluster has several machines: pavior.dev/machine must name one",
        };
        Some(Waiting { never: true, ..Waiting::new(job, why.to_string()) })
    };
    let mut strays: Vec<Waiting> = jobs.filter_map(stray).collect();
    strays.sort_unstable_by(|one, other| one.job.uid.cmp(&other.job.uid));
    strays
}

/// How many boxes of the shapes that the operator asks for fit side by side.
fn count_slots(site: &Site, memory: &mut Memory, free: &Occupancy) -> Vec<SlotCount> {
    if let Some((_, slots)) = memory.slots.as_ref().filter(|(before, _)| before == free) {
        return slots.clone();
    }
    let count = |(text, shape): &(String, Shape)| {
        let found = slots(free, std::slice::from_ref(shape), SLOT_BUDGET);
        SlotCount { shape: text.clone(), free: found.boxes.len() as u32, bound: found.bound }
    };
    let counts: Vec<SlotCount> = site.slots.iter().map(count).collect();
    memory.slots = Some((free.clone(), counts.clone()));
    counts
}

/// Adds the exclusive resource to nodes that lack it, if it is ours to add.
fn offers(plot: &Plot<'_>) -> Vec<Act> {
    if plot.site.resource != RESOURCE {
        return Vec::new();
    }
    let lacking = plot.places.nodes.iter().flatten().filter(|node| !node.offers(RESOURCE));
    let offer = |node: &&Node| Act::Offer { node: Seen::of(*node), resource: RESOURCE.to_string() };
    lacking.map(offer).collect()
}

/// Whether a pod has its node to itself. Those of daemons, and those that a node runs of itself,
/// are on every node.
fn occupies(pod: &Pod) -> bool {
    let owners = pod.metadata.owner_references.iter().flatten();
    !owners.into_iter().any(|owner| matches!(owner.kind.as_str(), "DaemonSet" | "Node"))
}
