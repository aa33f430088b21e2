//! Machines of cubes that GKE joins to Slices.
//!
//! ```text
//! record --confirmed--> Slice --usable--> pods are opened for the nodes of the Slice
//!    ^                    | fails
//!    +--- other cubes <---+ noted on the Job, record withdrawn, Slice deleted
//! ```
//!
//! A record has cubes where that of a box has nodes. Its Slice is named by its uid, so that a Slice
//! is one record's for ever. A cube is free when no record and no Slice has it, of whomever.

mod failures;
mod queue;
mod stock;
mod yard;

use std::collections::HashMap;

use pavior_kernel::shown;
use pavior_mesh::{NodeId, Occupancy, Request};

use super::act::{Act, Draft, Seen, Unless};
use super::queue::Waiting;
use super::records::{self, Record};
use super::site::Site;
use super::{Depth, Memory, Picture, Plan, Plot, checks, patch};
use crate::objects::{
    Job, Known as _, Machine, MachineStatus, OF_SLICE, Phase, Placement, Slice, SlotCount, Uid,
};
use crate::unit::Unit;
use crate::world::Index;
use failures::Failures;
pub(crate) use stock::Stock;
use yard::{Health, Topology, Yard};

/// How many Slices of a Job fail in a row before no more is made, where the operator says nothing.
const ATTEMPTS: u32 = 12;

/// Who has a cube.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    Free,
    /// A Slice without a record: it is being deleted.
    Going,
    /// A Slice of somebody else; how long it stays is not known.
    Others,
    Held,
}

/// The cubes of a machine, and who has them.
struct Lot<'a> {
    index: &'a Index<'a>,
    plot: Plot<'a>,
    yard: Yard,
    slices: HashMap<&'a str, &'a Slice>,
    uses: Vec<Use>,
    spares: usize,
    attempts: u32,
}

/// What became of the Slice of a record.
enum State<'a> {
    /// There is none yet.
    Missing,
    /// There is none, and it could not be made.
    Unfit(String),
    Forming(&'a Slice),
    Usable(&'a Slice),
    Lost(String),
}

impl<'a> Lot<'a> {
    fn of(index: &'a Index<'a>, machine: &'a Machine) -> Result<Lot<'a>, String> {
        let Some(slices) = &index.world.slices else {
            return Err("the Slices of the cluster were not read yet".to_string());
        };
        let others = index.world.machines.values().filter(|one| one.spec.is_of_slices());
        if others.count() > 1 {
            return Err("kind: the cluster has another machine of slices".to_string());
        }
        let yard = Yard::of(&machine.spec, index.world.nodes.values())?;
        let site = Site::of_cubes(&machine.spec, yard.cubes.len())?;
        let plot =
            Plot { name: machine.name(), site, places: yard.places(), nodes: &index.world.nodes };
        let mut uses = vec![Use::Free; yard.cubes.len()];
        for slice in slices.values() {
            let ours = slice.record(plot.name);
            let to = match ours {
                None => Use::Others,
                Some((.., uid)) if index.world.placements.contains_key(&uid) => Use::Held,
                Some(_) => Use::Going,
            };
            for place in slice.spec.partition_ids.iter().filter_map(|id| plot.places.ids.get(id)) {
                uses[place.index()] = to;
            }
        }
        let records = index.world.placements.values();
        let records = records.filter(|record| record.spec.machine == plot.name);
        for place in records.flat_map(|one| &one.spec.nodes) {
            if let Some(place) = plot.places.ids.get(place) {
                uses[place.index()] = Use::Held;
            }
        }
        let slices = slices.values().map(|slice| (slice.name(), slice)).collect();
        let spares = machine.spec.spares.unwrap_or(0) as usize;
        let attempts = machine.spec.attempts.unwrap_or(ATTEMPTS);
        Ok(Lot { index, plot, yard, slices, uses, spares, attempts })
    }

    fn is_free(&self, at: usize) -> bool {
        self.uses[at] == Use::Free && self.yard.cubes[at].health != Health::Unusable
    }

    fn state(&self, record: &Placement, memory: &mut Memory, now: i64) -> State<'a> {
        let Some(&slice) = self.slices.get(Slice::name_for(record).as_str()) else {
            return self.unfit(record).map_or(State::Missing, State::Unfit);
        };
        let word = shown(slice.reason());
        match slice.phase() {
            Phase::Usable => State::Usable(slice),
            Phase::Lost if slice.is_going() => State::Lost("its Slice was deleted".to_string()),
            Phase::Lost => {
                let said: String = slice.message().chars().take(200).collect();
                let colon = if said.is_empty() { "" } else { ": " };
                State::Lost(format!("its Slice is {word}{colon}{}", shown(&said)))
            }
            Phase::Forming => {
                let since = *memory.forming.entry(slice.uid()).or_insert(now);
                if now < since + self.plot.site.patience_s {
                    return State::Forming(slice);
                }
                State::Lost(format!("its Slice was {word} for too long"))
            }
        }
    }

    /// Why no Slice can be made of the cubes of a record.
    fn unfit(&self, record: &Placement) -> Option<String> {
        let unit = self.index.unit_of(record)?;
        // Then its Slice was there, and is made anew, unless somebody took a cube of it since. One
        // with a cube of it may be from before: then its own Slice was only not read yet.
        let opened = unit.pods(self.index).any(|(_, pod)| pod.gate().is_none());
        let taken = |slice: &Slice| {
            let foreign = slice.record(self.plot.name).is_none();
            foreign && slice.phase() == Phase::Usable && slice.created() >= record.created()
        };
        let elsewhere = |id: &String| {
            let others = self.slices.values().filter(|slice| !opened || taken(slice));
            others.into_iter().any(|slice| slice.spec.partition_ids.contains(id))
        };
        record.spec.nodes.iter().find_map(|id| {
            let place = self.plot.places.ids.get(id)?;
            if !opened && self.yard.cubes[place.index()].health == Health::Unusable {
                return Some(format!("cube {} is not available", shown(id)));
            }
            elsewhere(id).then(|| format!("cube {} is in another Slice", shown(id)))
        })
    }
}

/// Makes a plan for a machine of slices.
///
/// # Errors
/// A sentence, if the machine's description cannot be used.
pub(super) fn plan(
    index: &Index<'_>,
    machine: &Machine,
    memory: &mut Memory,
    now: i64,
    depth: Depth,
) -> Result<Plan, String> {
    let lot = Lot::of(index, machine)?;
    let (mut acts, mut unfit) = (Vec::new(), HashMap::new());
    let records = records::judge(&lot.plot, index, &mut acts, &mut |record| {
        let counted = || {
            let job = index.world.jobs.get(&record.placement.spec.job_uid);
            let failures = job.and_then(Failures::of);
            failures.is_some_and(|failures| failures.count(&record.placement.uid()))
        };
        match lot.state(record.placement, memory, now) {
            State::Unfit(why) => {
                let slice = Slice::name_for(record.placement);
                unfit.insert(record.placement.uid(), slice);
                Some(why)
            }
            State::Lost(why) if counted() => Some(why),
            _ => None,
        }
    });
    for act in &mut acts {
        if let Act::Withdraw { placement, unless, .. } = act {
            let slice = unfit.remove(&placement.uid).map(Unless::Slice);
            *unless = slice.or(unless.take());
        }
    }
    let mut told = Vec::new();
    for record in records.iter().filter(|record| record.stands) {
        follow(&lot, record, memory, now, &mut acts, &mut told);
    }
    dissolve(&lot, &mut acts);
    let units = index.units_on(lot.plot.name);
    for unit in &units {
        remove(&lot, unit, &mut acts);
    }
    let mut placed = queue::place(&lot, &records, units, memory, now)?;
    let status = status(&lot, machine, &placed);
    let stock = depth.pictured.then(|| Stock::of(&lot, &placed, now)).transpose()?;
    acts.append(&mut placed.proposals);
    let mut waiting = placed.waiting;
    acts.extend(checks::tell(&lot.plot, index, &records, &waiting, memory, now));
    waiting.append(&mut told);
    for one in &mut waiting {
        one.request = request(index, &one.job.uid);
    }
    let mut free = Occupancy::all_free(lot.plot.site.grid);
    for at in 0..lot.plot.site.grid.nodes() {
        let place = at as usize;
        let is_free = place < lot.uses.len() && lot.is_free(place);
        if !is_free || placed.given.contains(&place) {
            free.take_node(NodeId(at));
        }
    }
    Ok(Plan {
        acts,
        status,
        waiting,
        overlaps: Vec::new(),
        free,
        picture: stock.map(Picture::Cubes),
        question: None,
        quiet: Vec::new(),
    })
}

/// What a Job asks for, in chips.
fn request(index: &Index<'_>, job: &Uid) -> Option<Request> {
    let shape = index.world.jobs.get(job).and_then(Job::shape)?;
    Topology::read(shape).ok().map(|topology| Request::shape(topology.sides()))
}

/// What is to be done for a record that is confirmed.
fn follow(
    lot: &Lot<'_>,
    record: &Record<'_>,
    memory: &mut Memory,
    now: i64,
    acts: &mut Vec<Act>,
    told: &mut Vec<Waiting>,
) {
    let Some(unit) = lot.index.unit_of(record.placement) else { return };
    let (job, seen) = (unit.first(), Seen::of(record.placement));
    match lot.state(record.placement, memory, now) {
        State::Unfit(_) => {}
        State::Missing => {
            acts.push(Act::Form { slice: draft(lot, record.placement), record: seen });
        }
        State::Forming(slice) => {
            let word = shown(slice.reason());
            let why = format!("its Slice {} is {word}", shown(slice.name()));
            told.extend(unit.jobs().iter().map(|job| Waiting::new(job, why.clone())));
        }
        State::Lost(why) => {
            for cube in &record.placement.spec.nodes {
                memory.failed.insert(cube.clone(), now);
            }
            let text = Failures::and(job, &seen.uid, now);
            acts.push(Act::Note { job: Seen::of(job), text });
            told.extend(unit.jobs().iter().map(|job| Waiting::new(job, why.clone())));
        }
        State::Usable(slice) => {
            for cube in &record.placement.spec.nodes {
                memory.failed.remove(cube);
            }
            if Failures::of(job).is_some_and(|failures| failures.row > 0) {
                let text = Failures::over(&seen.uid, now);
                acts.push(Act::Note { job: Seen::of(job), text });
            }
            open(lot, &unit, slice, acts);
        }
    }
}

/// Opens the pods of a Job for the nodes of its Slice, when all wait.
fn open(lot: &Lot<'_>, unit: &Unit<'_>, slice: &Slice, acts: &mut Vec<Act>) {
    let pods: Vec<_> = unit.pods(lot.index).collect();
    let begun = pods.iter().any(|(_, pod)| pod.gate().is_none());
    if !begun && (pods.len() as u64) < unit.left() {
        return;
    }
    for (_, pod) in pods.into_iter().filter(|(rank, _)| rank.is_some()) {
        let patch = patch::select(pod, OF_SLICE, slice.name());
        acts.extend(patch.map(|patch| Act::Open { pod: Seen::of(pod), patch }));
    }
}

/// Deletes pods that are open for another Slice than that of their Job's record. While that Slice
/// is usable they are let run: the record may only not have been read yet.
fn remove(lot: &Lot<'_>, unit: &Unit<'_>, acts: &mut Vec<Act>) {
    let record = lot.index.placement_of(unit.first());
    let own = record.map(Slice::name_for);
    for (_, pod) in unit.pods(lot.index) {
        let selected = pod.spec.node_selector.get(OF_SLICE);
        let usable = selected.and_then(|name| lot.slices.get(name.as_str()));
        let usable = usable.is_some_and(|slice| slice.phase() == Phase::Usable);
        if pod.gate().is_none() && !usable && (own.is_none() || selected != own.as_ref()) {
            let why = "it is open for a Slice that its Job does not have".to_string();
            acts.push(Act::Remove {
                pod: Seen::of(pod),
                why,
                unless: selected.cloned().map(Unless::Slice),
            });
        }
    }
}

/// Deletes the Slices of records that are gone.
fn dissolve(lot: &Lot<'_>, acts: &mut Vec<Act>) {
    let mut left: Vec<&Slice> =
        lot.slices.values().copied().filter(|slice| !slice.is_going()).collect();
    left.sort_unstable_by_key(|slice| slice.name());
    for slice in left {
        let Some((namespace, name, uid)) = slice.record(lot.plot.name) else { continue };
        if !lot.index.world.placements.contains_key(&uid) {
            let [namespace, name] = [namespace, name].map(str::to_string);
            let record = Seen { namespace, name, uid, version: String::new() };
            acts.push(Act::Dissolve { slice: Seen::of(slice), record });
        }
    }
}

/// The Slice of a record.
fn draft(lot: &Lot<'_>, record: &Placement) -> Draft {
    Draft {
        name: Slice::name_for(record),
        machine: lot.plot.name.to_string(),
        topology: record.spec.at.clone(),
        cubes: record.spec.nodes.clone(),
    }
}

/// The machine in cubes.
fn status(lot: &Lot<'_>, machine: &Machine, placed: &queue::Placed) -> MachineStatus {
    let all = lot.yard.cubes.len();
    let free: Vec<usize> =
        (0..all).filter(|&at| lot.is_free(at) && !placed.given.contains(&at)).collect();
    let idle = (0..all).filter(|&at| lot.uses[at] == Use::Free).count();
    let slots = |text: &String| {
        let topology = Topology::read(text).ok()?;
        let in_block = |block: &queue::Block| block.slots(topology, lot.spares);
        let count = placed.blocks.iter().map(in_block).sum::<usize>() as u32;
        Some(SlotCount { shape: text.clone(), free: count, bound: count })
    };
    MachineStatus {
        fault: None,
        known: all as u32,
        missing: 0,
        contradictory: lot.yard.contradictory.iter().take(16).cloned().collect(),
        free: free.len() as u32,
        busy: (all - idle + placed.given.len()) as u32,
        unavailable: (idle - free.len() - placed.given.len()) as u32,
        waiting: placed.waiting.len() as u32,
        slots: machine.spec.slots.iter().take(16).filter_map(slots).collect(),
    }
}
