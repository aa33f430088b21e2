//! What holds at every moment of a cluster with Slices, whatever fails.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::super::model::Model;
use crate::objects::{Job, Known as _, OF_SLICE, Pod, Slice, Uid};
use crate::plan::{Draft, Seen};

/// How many rounds a copy may take to see a change, and to write what it made of it.
const LAG: usize = 25;

/// Collects what does not hold.
#[derive(Default)]
pub(super) struct Judge {
    pub(super) faults: Vec<String>,
    /// The records that had a Slice.
    formed: HashSet<Uid>,
    /// Since which round a cube cannot be used.
    pub(super) broken: BTreeMap<String, usize>,
}

impl Judge {
    /// Notes a fault.
    pub(super) fn says(&mut self, fault: String) {
        self.faults.push(fault);
    }

    /// No cube is in two confirmed records, and none is in two Slices.
    pub(super) fn cubes(&mut self, model: &Model) {
        let mut by: HashMap<&str, &str> = HashMap::new();
        for record in model.world.placements.values().filter(|one| one.status.confirmed) {
            for cube in &record.spec.nodes {
                if let Some(other) = by.insert(cube, record.name()) {
                    let own = record.name();
                    self.faults.push(format!("{cube} is confirmed for {other} and {own}"));
                }
            }
        }
        by.clear();
        for (_, slice) in model.world.slices.iter().flatten() {
            for cube in &slice.spec.partition_ids {
                if let Some(other) = by.insert(cube, slice.name()) {
                    let own = slice.name();
                    self.faults.push(format!("{cube} is in the Slices {other} and {own}"));
                }
            }
        }
    }

    /// A Slice was made: it is as its Job asks for it, and of cubes of which no copy has known for
    /// long that they cannot be used. Its record's second one is made anew of the same cubes.
    pub(super) fn formed(&mut self, model: &Model, record: &Seen, slice: &Draft, round: usize) {
        self.cubes(model);
        let first = self.formed.insert(record.uid.clone());
        for cube in &slice.cubes {
            let since = self.broken.get(cube).copied().unwrap_or(usize::MAX);
            if first && since.saturating_add(LAG) < round {
                self.says(format!("{} is made of {cube}, broken since {since}", slice.name));
            }
        }
        let job = model.world.placements.get(&record.uid).map(|one| &one.spec.job_uid);
        let shape = job.and_then(|job| model.world.jobs.get(job)).and_then(Job::shape);
        if shape.is_some_and(|shape| sides(shape) != sides(&slice.topology)) {
            self.says(format!("{} is {} for {shape:?}", slice.name, slice.topology));
        }
    }

    /// No node has two living pods, and who runs in a Slice of ours is of the Job of its record.
    pub(super) fn pods(&mut self, model: &Model) {
        let slices = model.world.slices.iter().flatten();
        let slices: HashMap<&str, &Slice> = slices.map(|(_, one)| (one.name(), one)).collect();
        let mut on: HashMap<&str, &Pod> = HashMap::new();
        for pod in model.world.pods.values().filter(|pod| pod.lives()) {
            let Some(node) = pod.node() else { continue };
            if let Some(other) = on.insert(node, pod) {
                self.says(format!("{node} has {} and {}", other.name(), pod.name()));
            }
            let selected = pod.spec.node_selector.get(OF_SLICE);
            let slice = selected.and_then(|name| slices.get(name.as_str()));
            let record = slice.and_then(|slice| slice.record("m"));
            let record = record.and_then(|(.., uid)| model.world.placements.get(&uid));
            let owner = pod.owner().unwrap_or_default();
            if record.is_some_and(|record| !record.spec.jobs().contains(&owner)) {
                self.says(format!("{} is in {selected:?}, which is another's", pod.name()));
            }
        }
    }

    /// Nothing is left when no Job asks for anything any more.
    pub(super) fn nothing_is_left(&mut self, model: &Model) {
        let records = model.world.placements.len();
        let slices = model.world.slices.iter().flatten().count();
        if records + slices > 0 {
            self.says(format!("{records} records and {slices} Slices are left"));
        }
    }
}

/// The sides of a shape in order.
fn sides(shape: &str) -> Vec<u32> {
    let mut sides: Vec<u32> = shape.split('x').map(|side| side.parse().unwrap_or(0)).collect();
    sides.sort_unstable();
    sides
}
