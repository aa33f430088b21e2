//! The controller of Slices, written from what GKE documents of it.
//!
//! ```text
//! SliceNotCreated -> ACTIVATING -> ACTIVE | ACTIVE_DEGRADED -> FAILED | DEACTIVATING
//!        |               +-> FAILED
//!        +-> SliceCreationFailed            deleted: DEACTIVATING -> INCOMPLETE -> gone
//! ```

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::{Value, json};

use super::super::model::Model;
use super::super::races::Draw;
use crate::objects::{Known as _, Machine, Node, OF_SLICE, Phase, Slice, Uid};

const STATE: &str = "cloud.google.com/gke-tpu-partition-4x4x4-state";

/// How many looks longer a slow activation takes.
const SLOW: usize = 30;

/// What becomes of a Slice.
pub(super) enum Stage {
    Activating { left: usize, end: &'static str },
    Formed,
    Leaving(usize),
}

#[derive(Default)]
pub(super) struct Control {
    pub(super) stages: HashMap<Uid, Stage>,
    /// Which Slice has a cube, from its activation until it is gone.
    pub(super) used: HashMap<String, Uid>,
    /// How often each state was reached.
    pub(super) counts: BTreeMap<&'static str, usize>,
    /// Of a hundred activations, how many fail, and how many never end.
    pub(super) failing: usize,
    pub(super) stuck: usize,
    /// And how many take about as long as patience lasts.
    pub(super) slow: usize,
}

/// A machine of blocks with so many cubes each, a node a cube.
pub(super) fn cubes(blocks: &[usize], spec: &Value) -> Model {
    let mut spec = spec.clone();
    spec["kind"] = json!("slices");
    spec["host"] = json!("4x4x4");
    let machine = json!({ "metadata": { "name": "m", "uid": "machine" }, "spec": spec });
    let machine: Machine = serde_json::from_value(machine).unwrap();
    let mut model = Model::empty(machine, 64);
    model.world.slices = Some(BTreeMap::new());
    for (block, &count) in blocks.iter().enumerate() {
        for cube in 0..count {
            add_cube(&mut model, block, cube);
        }
    }
    model
}

pub(super) fn name(block: usize, cube: usize) -> String {
    format!("b{block}-c{cube:02}")
}

/// A node that is a whole cube.
pub(super) fn add_cube(model: &mut Model, block: usize, cube: usize) {
    let (name, uid) = (name(block, cube), model.uid());
    let labels = json!({
        "cloud.google.com/gke-tpu-partition-4x4x4-id": name, STATE: "HEALTHY",
        "cloud.google.com/gce-topology-block": format!("block{block}"),
    });
    let ready = json!({ "type": "Ready", "status": "True" });
    let node = json!({
        "metadata": { "name": name, "uid": uid, "labels": labels },
        "status": { "conditions": [ready] },
    });
    model.put_node(serde_json::from_value(node).unwrap());
}

pub(super) fn label(model: &mut Model, cube: &str, name: &str, value: Option<&str>) {
    let Some(mut node) = model.world.nodes.get(cube).cloned() else { return };
    let labels = node.metadata.labels.get_or_insert_default();
    match value {
        Some(value) => drop(labels.insert(name.into(), value.into())),
        None => drop(labels.remove(name)),
    }
    model.put_node(node);
}

/// The state of a cube changes.
pub(super) fn set_health(model: &mut Model, cube: &str, state: &str) {
    label(model, cube, STATE, Some(state));
}

/// A node is ready, or it is not.
pub(super) fn set_ready(model: &mut Model, cube: &str, ready: bool) {
    let Some(mut node) = model.world.nodes.get(cube).cloned() else { return };
    for one in &mut node.status.conditions {
        one.status = if ready { "True" } else { "False" }.into();
    }
    model.put_node(node);
}

/// What the webhook refuses.
fn refusal(slice: &Slice) -> Option<String> {
    let name = slice.name();
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if name.len() > 49 || !name.starts_with(|first: char| first.is_ascii_lowercase()) {
        return Some("name".into());
    }
    if !name.bytes().all(plain) || name.ends_with('-') {
        return Some("name".into());
    }
    let sides: Vec<u32> =
        slice.spec.topology.split('x').map(|side| side.parse().unwrap_or(0)).collect();
    let right = sides.len() == 3
        && sides.is_sorted()
        && sides.iter().all(|&side| side > 0 && side % 4 == 0)
        && sides.iter().product::<u32>() <= 9216;
    if slice.spec.kind != "tpu7x" || !right {
        return Some("type or topology".into());
    }
    let ids: HashSet<&String> = slice.spec.partition_ids.iter().collect();
    let count = sides.iter().product::<u32>() / 64;
    (ids.len() != slice.spec.partition_ids.len() || ids.len() as u32 != count)
        .then(|| "number of partitions".into())
}

impl Control {
    fn say(&mut self, model: &mut Model, slice: &Slice, reason: &'static str) {
        if slice.reason() == reason {
            return;
        }
        *self.counts.entry(reason).or_default() += 1;
        let status = if matches!(reason, "ACTIVE" | "ACTIVE_DEGRADED") { "True" } else { "False" };
        let ready = json!({ "type": "Ready", "status": status, "reason": reason, "message": "" });
        let mut slice = slice.clone();
        slice.status.conditions = vec![serde_json::from_value(ready).unwrap()];
        model.put_slice(slice);
    }

    /// Looks at every Slice once.
    pub(super) fn step(&mut self, model: &mut Model, draw: &mut Draw) {
        let all: Vec<Slice> =
            model.world.slices.iter().flatten().map(|(_, one)| one.clone()).collect();
        for slice in all {
            assert_eq!(refusal(&slice), None, "{:?}", slice.spec);
            if slice.is_going() {
                self.leave(model, &slice, draw);
                continue;
            }
            match self.stages.get_mut(&slice.uid()) {
                None if slice.phase() == Phase::Lost => {}
                None => self.begin(model, &slice, draw),
                Some(Stage::Activating { left: 0, end: "never" } | Stage::Leaving(_)) => {}
                Some(Stage::Activating { left: 0, end }) => {
                    let end = *end;
                    self.form(model, &slice, end);
                }
                Some(Stage::Activating { left, .. }) => *left -= 1,
                Some(Stage::Formed) => self.watch(model, &slice, draw),
            }
        }
    }

    fn begin(&mut self, model: &mut Model, slice: &Slice, draw: &mut Draw) {
        let cubes = &slice.spec.partition_ids;
        let nodes: Vec<Option<&Node>> = cubes.iter().map(|id| model.world.nodes.get(id)).collect();
        let missing = nodes.iter().any(|node| node.is_none_or(|node| !node.is_ready()));
        let used = cubes.iter().any(|id| self.used.contains_key(id));
        if missing || used {
            let why = if used { "cubes in use" } else { "nodes missing" };
            *self.counts.entry(why).or_default() += 1;
            return self.say(model, slice, "SliceCreationFailed");
        }
        let blocks: HashSet<&str> = cubes.iter().map(|id| &id[..2]).collect();
        assert_eq!(blocks.len(), 1, "cubes of several blocks: {cubes:?}");
        let usable = |node: &Node| matches!(node.label(STATE), Some("HEALTHY" | "DEGRADED"));
        if !nodes.into_iter().flatten().all(usable) {
            return self.say(model, slice, "FAILED");
        }
        for id in cubes {
            self.used.insert(id.clone(), slice.uid());
        }
        let drawn = draw.below(100);
        let end = match drawn {
            drawn if drawn < self.failing => "FAILED",
            drawn if drawn < self.failing + self.stuck => "never",
            _ => "ACTIVE",
        };
        let slow = if drawn + self.slow >= 100 { SLOW } else { 0 };
        self.stages.insert(slice.uid(), Stage::Activating { left: slow + draw.below(6), end });
        self.say(model, slice, "ACTIVATING");
    }

    fn form(&mut self, model: &mut Model, slice: &Slice, end: &'static str) {
        self.stages.insert(slice.uid(), Stage::Formed);
        if end == "ACTIVE" {
            Self::mark_nodes(model, slice);
        }
        self.say(model, slice, end);
    }

    fn watch(&mut self, model: &mut Model, slice: &Slice, draw: &mut Draw) {
        if slice.phase() != Phase::Usable {
            return;
        }
        let states = slice.spec.partition_ids.iter().map(|id| {
            let node = model.world.nodes.get(id).filter(|node| node.is_ready());
            node.and_then(|node| node.label(STATE)).unwrap_or("UNHEALTHY")
        });
        let states: Vec<&str> = states.collect();
        let well = states.iter().all(|state| matches!(*state, "HEALTHY" | "DEGRADED"));
        let reason = match well {
            true if states.contains(&"DEGRADED") => "ACTIVE_DEGRADED",
            true => "ACTIVE",
            false if draw.below(2) == 0 => "FAILED",
            false => "DEACTIVATING",
        };
        if well {
            Self::mark_nodes(model, slice);
        } else {
            Self::free_nodes(model, slice);
        }
        self.say(model, slice, reason);
    }

    fn leave(&mut self, model: &mut Model, slice: &Slice, draw: &mut Draw) {
        match self.stages.get_mut(&slice.uid()) {
            Some(Stage::Leaving(0)) => {
                let uid = slice.uid();
                self.used.retain(|_, by| *by != uid);
                self.stages.remove(&uid);
                model.end_slice(&uid);
            }
            Some(Stage::Leaving(left)) => {
                *left -= 1;
                self.say(model, slice, "INCOMPLETE");
            }
            _ => {
                self.stages.insert(slice.uid(), Stage::Leaving(draw.below(4)));
                Self::free_nodes(model, slice);
                self.say(model, slice, "DEACTIVATING");
            }
        }
    }

    /// The nodes of a Slice that is usable have its name, a node that came anew, too.
    fn mark_nodes(model: &mut Model, slice: &Slice) {
        for id in &slice.spec.partition_ids {
            let node = model.world.nodes.get(id);
            if node.is_some_and(|node| node.label(OF_SLICE) != Some(slice.name())) {
                label(model, id, OF_SLICE, Some(slice.name()));
            }
        }
    }

    fn free_nodes(model: &mut Model, slice: &Slice) {
        for id in &slice.spec.partition_ids {
            let node = model.world.nodes.get(id);
            if node.is_some_and(|node| node.label(OF_SLICE) == Some(slice.name())) {
                label(model, id, OF_SLICE, None);
            }
        }
    }
}
