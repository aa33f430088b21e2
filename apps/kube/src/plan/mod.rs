//! Plans: the actions to take, given the cluster's state when it was last read. This module does
//! not communicate with the API server. Losing the [`Memory`] of earlier plans is harmless.

mod action;
mod admission;
mod candidates;
mod config;
mod context;
mod detail;
mod eligibility;
mod forecast;
mod holder;
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

#[cfg(test)]
pub(crate) use action::CheckAnswer;
pub(crate) use action::{Absence, Action, CheckUpdate};
use config::Downtime;
pub(crate) use config::{MachineConfig, RESOURCE, has_shape_syntax};
use context::{Layout, PlanContext};
pub(crate) use detail::{Audience, Detail};
pub(crate) use forecast::{Forecast, Question};
pub(crate) use memory::Memory;
use node_map::{NodeMap, coordinates};
pub(crate) use patch::remove_gate;
pub(crate) use waiting::{Prospect, Waiting, unassigned};

use crate::objects::{Machine, MachineStatus, Node, Object as _, ObjectRef, SlotCount};
use crate::time::unsigned;
use crate::world::{Index, JobGroup};

/// The search budget for counting slots, in bit-set words.
const SLOT_BUDGET: u64 = 1 << 20;

/// The maximum number of unusable nodes that a status lists.
const MAX_UNUSABLE: usize = 16;

/// The actions planned for a machine, and the machine's resulting state.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) config: MachineConfig,
    pub(crate) actions: Vec<Action>,
    pub(crate) status: MachineStatus,
    /// The waiting Jobs in queue order.
    pub(crate) waiting: Vec<Waiting>,
    /// Nodes that are in two confirmed placements, which must never happen.
    pub(crate) overlaps: Vec<NodeId>,
    /// The nodes that are free after the actions.
    pub(crate) free: Occupancy,
    pub(crate) picture: Option<Picture>,
    /// The forecast to compute, if requested. Computing it takes some time.
    pub(crate) question: Option<Question>,
    /// True if the next plan may differ even without updates.
    pub(crate) depends_on_time: bool,
}

/// The machine's state after the actions, as shown on the page.
#[derive(Debug)]
pub(crate) struct Picture {
    pub(crate) held: Vec<Holding>,
    pub(crate) failed: Vec<NodeId>,
}

/// Creates a plan for a machine. `now` is in seconds since 1970.
///
/// # Errors
/// Returns the reason, in a sentence, if the machine's description is invalid.
pub(crate) fn plan(
    index: &Index<'_>,
    name: &str,
    memory: &mut Memory,
    now: i64,
    detail: Detail,
) -> Result<Plan, String> {
    let Some(machine) = index.world.machines.get(name) else {
        return Err("no such machine".to_string());
    };
    let needs_kueue =
        machine.spec.admission_check.is_some() && detail.audience != Audience::Observer;
    if let Some(fault) = index.world.kueue.fault.as_ref().filter(|_| needs_kueue) {
        return Err(format!("admissionCheck: {fault}"));
    }
    memory.update(index.world, now);
    let layout = layout(machine, index)?;
    if detail.picture || detail.forecast {
        memory.past.learn(&layout, index);
    }
    let groups = index.unplaced_on(name);
    // Messages to Kueue include the planned start.
    let starts = detail.starts || groups.iter().any(JobGroup::awaits_admission);
    let detail = Detail { starts, ..detail };
    let context = PlanContext { layout: &layout, index, now, detail };
    let mut actions = offers(&layout);
    let records = records::judge(context, memory, &mut actions);
    for record in records.iter().filter(|record| record.is_valid) {
        pods::open(context, record, &mut actions);
    }
    for group in &groups {
        pods::remove_unplaced(group, index, &mut actions);
    }
    let queue = queue::place(context, &records, groups, memory)?;
    actions.extend(queue.proposals);
    actions.extend(admission::answer(context, &records, &queue.waiting, memory));
    let missing = layout.map.missing();
    let status = MachineStatus {
        fault: None,
        known: layout.config.grid.nodes() - missing,
        missing,
        contradictory: layout.map.contradictory.iter().take(MAX_UNUSABLE).cloned().collect(),
        free: queue.free.count(),
        busy: queue.busy,
        unavailable: queue.unavailable.saturating_sub(missing),
        waiting: queue.waiting.len() as u32,
        slots: count_slots(&layout.config, memory, &queue.free),
    };
    // The end of a maintenance period does not trigger an update.
    let is_now = |period: &Downtime| (period.from..period.to).contains(&unsigned(now));
    let has_maintenance = layout.config.maintenance.iter().any(is_now);
    Ok(Plan {
        config: layout.config,
        actions,
        status,
        waiting: queue.waiting,
        overlaps: queue.overlaps,
        free: queue.free,
        picture: queue.picture,
        question: queue.question,
        depends_on_time: queue.has_growing_set || has_maintenance || memory.has_timeouts(),
    })
}

/// Validates a machine and maps its nodes.
///
/// # Errors
/// Returns an error if the description is invalid or a node belongs to an older machine.
fn layout<'a>(machine: &'a Machine, index: &Index<'a>) -> Result<Layout<'a>, String> {
    let config = MachineConfig::of(&machine.spec)?;
    let map = NodeMap::of(&config.grid, &machine.spec.nodes, index.world.nodes.values());
    match shared_node(&map, machine, index) {
        Some(fault) => Err(fault),
        None => Ok(Layout { name: machine.name(), config, map }),
    }
}

/// Returns a fault if the machine shares a node with an older machine.
fn shared_node(map: &NodeMap<'_>, machine: &Machine, index: &Index<'_>) -> Option<String> {
    let age = |machine: &Machine| (machine.created(), machine.name().to_string());
    let mut older = index.world.machines.values().filter(|other| age(other) < age(machine));
    older.find_map(|other| {
        let grid = MachineConfig::of(&other.spec).ok()?.grid;
        let is_shared =
            |node: &&&Node| matches!(coordinates(&other.spec.nodes, &grid, node), Some(Ok(_)));
        let node = map.nodes.iter().flatten().filter(is_shared).map(|node| node.name()).min()?;
        Some(format!("nodes: {} belongs to the older Machine {}", shown(node), shown(other.name())))
    })
}

/// Counts how many boxes of each listed shape fit at once.
fn count_slots(config: &MachineConfig, memory: &mut Memory, free: &Occupancy) -> Vec<SlotCount> {
    let shapes = || config.slots.iter().map(|(text, _)| text);
    if let Some((before, slots)) = &memory.slots
        && before == free
        && slots.iter().map(|slot| &slot.shape).eq(shapes())
    {
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

/// Returns actions that add our resource to the nodes that lack it.
fn offers(layout: &Layout<'_>) -> Vec<Action> {
    if layout.config.resource != RESOURCE {
        return Vec::new();
    }
    let lacking = layout.map.nodes.iter().flatten().filter(|node| !node.offers(RESOURCE));
    lacking.map(|&node| Action::Offer { node: ObjectRef::of(node) }).collect()
}
