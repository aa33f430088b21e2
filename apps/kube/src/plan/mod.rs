//! Plans: the actions to take, given the cluster's state when last read. This module does not
//! communicate with the API server. Losing the [`Memory`] of earlier plans is harmless.

mod action;
mod admission;
mod candidates;
mod config;
mod forecast;
mod holder;
mod layout;
mod memory;
mod node_map;
mod order;
mod patch;
mod pods;
mod queue;
mod records;
mod requirements;
mod state;
#[cfg(test)]
mod tests;
mod waiting;

use pavior::answers::{Shape, slots};
use pavior::text::shown;
use pavior::{NodeId, Occupancy};
use pavior_cluster::Holding;

pub(crate) use action::{Absence, Action};
use config::Downtime;
pub(crate) use config::{MachineConfig, RESOURCE};
pub(crate) use forecast::{Forecast, Question};
use layout::Layout;
pub(crate) use layout::{Audience, Detail};
pub(crate) use memory::Memory;
use node_map::NodeMap;
pub(crate) use patch::remove_gate;
pub(crate) use waiting::{Waiting, unassigned};

use crate::client::unsigned;
use crate::objects::{Machine, MachineStatus, Node, Object as _, ObjectRef, SlotCount};
use crate::world::{Index, JobGroup};

/// The work limit of each search for slots, in bit-set words.
const SLOT_BUDGET: u64 = 1 << 20;

/// A machine's actions, and its state after them.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) actions: Vec<Action>,
    pub(crate) status: MachineStatus,
    /// The waiting Jobs in queue order.
    pub(crate) waiting: Vec<Waiting>,
    /// Nodes in two confirmed placements, which must never happen.
    pub(crate) overlaps: Vec<NodeId>,
    /// The free nodes after the actions.
    pub(crate) free: Occupancy,
    pub(crate) picture: Option<Picture>,
    /// The forecast to compute, if requested. The computation takes a while.
    pub(crate) question: Option<Question>,
}

/// A machine as shown on the page, after the actions.
#[derive(Debug)]
pub(crate) struct Picture {
    pub(crate) config: MachineConfig,
    pub(crate) held: Vec<Holding>,
    pub(crate) failed: Vec<NodeId>,
}

/// Plans for a machine. `now` is in seconds since 1970.
///
/// # Errors
/// Returns the reason in a sentence if the machine's description is invalid.
pub(crate) fn plan(
    index: &Index<'_>,
    name: &str,
    memory: &mut Memory,
    now: i64,
    detail: Detail,
) -> Result<Plan, String> {
    let Some(machine) = index.world.machines.get(name) else {
        return Err("there is no such machine".to_string());
    };
    let is_observer = detail.audience == Audience::Observer;
    let needs_kueue = machine.spec.admission_check.is_some() && !is_observer;
    if let Some(fault) = index.world.kueue.fault.as_ref().filter(|_| needs_kueue) {
        return Err(format!("admissionCheck: {fault}"));
    }
    memory.update(index.world, now);
    let mut config = MachineConfig::of(&machine.spec)?;
    config.is_observed = is_observer;
    let map = NodeMap::of(&config.grid, &machine.spec.nodes, index.world.nodes.values());
    if let Some(fault) = shared_node(&map, machine, index) {
        return Err(fault);
    }
    let is_now = |one: &Downtime| (one.from..one.to).contains(&unsigned(now));
    memory.has_maintenance = config.maintenance.iter().any(is_now);
    let layout = Layout { name, config, map };
    let mut actions = offers(&layout);
    let records = records::judge(&layout, index, memory, now, &mut actions);
    for record in records.iter().filter(|record| record.is_valid) {
        pods::open(&layout, index, record, &mut actions);
    }
    if detail.picture || detail.forecast {
        memory.past.learn(&layout, index);
    }
    let groups = index.unplaced_on(name);
    for group in &groups {
        pods::remove_unplaced(group, index, &mut actions);
    }
    // Messages to Kueue include the start.
    let starts = detail.starts || groups.iter().any(JobGroup::awaits_admission);
    let detail = Detail { starts, ..detail };
    let mut queue = queue::place(&layout, index, &records, groups, memory, now, detail)?;
    actions.extend(std::mem::take(&mut queue.proposals));
    actions.extend(admission::answer(&layout, index, &records, &queue.waiting, memory, now));
    let missing = layout.map.missing();
    let status = MachineStatus {
        fault: None,
        known: layout.config.grid.nodes() - missing,
        missing,
        contradictory: layout.map.contradictory.iter().take(16).cloned().collect(),
        free: queue.free.count(),
        busy: queue.busy,
        unavailable: queue.unavailable.saturating_sub(missing),
        waiting: queue.waiting.len() as u32,
        slots: count_slots(&layout.config, memory, &queue.free),
    };
    let queue::QueueOutcome { waiting, overlaps, free, picture, question, .. } = queue;
    Ok(Plan { actions, status, waiting, overlaps, free, picture, question })
}

/// Returns a fault if a machine shares a node with an older machine.
fn shared_node(map: &NodeMap<'_>, machine: &Machine, index: &Index<'_>) -> Option<String> {
    let age = |one: &Machine| (one.created(), one.name().to_string());
    let mut older = index.world.machines.values().filter(|one| age(one) < age(machine));
    let fault = |one: &Machine| {
        let grid = MachineConfig::of(&one.spec).ok()?.grid;
        let other = NodeMap::of(&grid, &one.spec.nodes, index.world.nodes.values());
        let node = map.ids.keys().filter(|name| other.ids.contains_key(*name)).min()?;
        Some(format!("nodes: {} belongs to the older Machine {}", shown(node), shown(one.name())))
    };
    older.find_map(fault)
}

/// Counts the boxes of each of the operator's shapes that fit at the same time.
fn count_slots(config: &MachineConfig, memory: &mut Memory, free: &Occupancy) -> Vec<SlotCount> {
    if let Some((_, slots)) = memory.slots.as_ref().filter(|(before, _)| before == free) {
        return slots.clone();
    }
    let count = |(text, shape): &(String, Shape)| {
        let found = slots(free, std::slice::from_ref(shape), SLOT_BUDGET);
        SlotCount { shape: text.clone(), free: found.boxes.len() as u32, bound: found.bound }
    };
    let counts: Vec<SlotCount> = config.slots.iter().map(count).collect();
    memory.slots = Some((free.clone(), counts.clone()));
    counts
}

/// Returns the actions that add our resource to nodes that lack it.
fn offers(layout: &Layout<'_>) -> Vec<Action> {
    if layout.config.resource != RESOURCE {
        return Vec::new();
    }
    let lacking = layout.map.nodes.iter().flatten().filter(|node| !node.offers(RESOURCE));
    let offer =
        |node: &&Node| Action::Offer { node: ObjectRef::of(*node), resource: RESOURCE.to_string() };
    lacking.map(offer).collect()
}
