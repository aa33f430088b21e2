//! The cubes of TPU chips that a cluster has, by the labels of its nodes.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::Arc;

use pavior_kernel::shown;
use pavior_mesh::{NodeId, Sides, read_sides, volume};

use crate::objects::{Known as _, MachineSpec, Node};
use crate::plan::places::Places;
use crate::plan::site::is_written;

const ID: &str = "cloud.google.com/gke-tpu-partition-4x4x4-id";
const STATE: &str = "cloud.google.com/gke-tpu-partition-4x4x4-state";
const BLOCK: &str = "cloud.google.com/gce-topology-block";
const RESERVATION: &str = "cloud.google.com/reservation-name";

/// Chips of a side of a cube.
const EDGE: u16 = 4;
/// Chips of a cube.
pub(super) const CUBE: u64 = 64;
/// The most chips of a Slice.
const CHIPS: u64 = 9216;

/// Whether a cube can be in a new Slice; the better first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Health {
    Healthy,
    Degraded,
    Unusable,
}

#[derive(Clone, Debug)]
pub(super) struct Cube {
    pub(super) id: String,
    /// Reservation and block: a Slice has cubes of one.
    block: (String, String),
    pub(super) health: Health,
}

/// All cubes, those of a block side by side.
#[derive(Clone, Debug)]
pub(super) struct Yard {
    pub(super) cubes: Vec<Cube>,
    pub(super) contradictory: Vec<String>,
    /// Chips of a node.
    host: u64,
}

/// A topology that can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Topology(Sides);

impl Topology {
    /// Reads a shape in chips, in any order of its sides.
    ///
    /// # Errors
    /// Why it is none, in words that repeat nothing of it.
    pub(super) fn read(text: &str) -> Result<Topology, String> {
        let sides = read_sides(text).filter(|_| is_written(text) && text.split('x').count() == 3);
        let mut sides = sides.ok_or("its shape is none; write three sides such as 4x4x8")?;
        sides.sort_unstable();
        if sides.iter().any(|side| side % EDGE != 0) {
            return Err("its shape is not made of cubes of 4x4x4 chips".to_string());
        }
        if volume(sides) > CHIPS {
            return Err(format!("its shape has more than {CHIPS} chips"));
        }
        Ok(Topology(sides))
    }

    pub(super) fn sides(self) -> Sides {
        self.0
    }

    pub(super) fn chips(self) -> u64 {
        volume(self.0)
    }

    pub(super) fn cubes(self) -> usize {
        (self.chips() / CUBE) as usize
    }

    /// As a Slice has it.
    pub(super) fn words(self) -> String {
        self.0.map(|side| side.to_string()).join("x")
    }
}

impl Yard {
    /// Reads which cubes there are.
    ///
    /// # Errors
    /// A sentence that names the field of the machine at fault.
    pub(super) fn of<'a>(
        spec: &MachineSpec,
        nodes: impl Iterator<Item = &'a Node>,
    ) -> Result<Yard, String> {
        let text = spec.host.as_deref().unwrap_or("2x2x1");
        let host = read_sides(text).filter(|host| host.iter().all(|side| EDGE % side == 0));
        let host = host.map(volume).ok_or("host: sides that divide 4, such as 2x2x1")?;
        let mut found: BTreeMap<&str, Vec<&Node>> = BTreeMap::new();
        for node in nodes {
            if let Some(id) = node.label(ID) {
                found.entry(id).or_default().push(node);
            }
        }
        let mut yard = Yard { cubes: Vec::new(), contradictory: Vec::new(), host };
        for (id, nodes) in found {
            let block = |node: &Node| {
                let [reservation, block] =
                    [RESERVATION, BLOCK].map(|name| node.label(name).unwrap_or_default());
                (reservation.to_string(), block.to_string())
            };
            let first = block(nodes[0]);
            if first.1.is_empty() || nodes.iter().any(|node| block(node) != first) {
                yard.contradictory.push(format!("cube {}: not in one block", shown(id)));
                continue;
            }
            let whole = nodes.len() as u64 == CUBE / host;
            let worst = nodes.iter().map(|node| health(node)).max();
            let health = worst.filter(|_| whole).unwrap_or(Health::Unusable);
            yard.cubes.push(Cube { id: id.to_string(), block: first, health });
        }
        yard.cubes.sort_by(|one, other| (&one.block, &one.id).cmp(&(&other.block, &other.id)));
        Ok(yard)
    }

    /// The cubes of each block.
    pub(super) fn blocks(&self) -> impl Iterator<Item = Range<usize>> {
        let mut start = 0;
        self.cubes.chunk_by(|one, other| one.block == other.block).map(move |block| {
            let range = start..start + block.len();
            start = range.end;
            range
        })
    }

    /// The cubes as places in a row, so that a record has cubes where others have nodes.
    pub(super) fn places(&self) -> Arc<Places> {
        let ids = self.cubes.iter().enumerate();
        let ids: HashMap<String, NodeId> =
            ids.map(|(at, cube)| (cube.id.clone(), NodeId(at as u32))).collect();
        let mut names: Vec<Option<String>> =
            self.cubes.iter().map(|cube| Some(cube.id.clone())).collect();
        names.resize(names.len().max(1), None);
        let contradictory = self.contradictory.clone();
        Arc::new(Places { names, ids, contradictory, ..Places::default() })
    }

    /// How many nodes a topology has.
    pub(super) fn nodes(&self, topology: Topology) -> u64 {
        topology.chips() / self.host
    }
}

fn health(node: &Node) -> Health {
    match node.label(STATE) {
        Some("HEALTHY") if node.is_ready() => Health::Healthy,
        Some("DEGRADED") if node.is_ready() => Health::Degraded,
        _ => Health::Unusable,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn node(name: &str, id: &str, block: &str, state: &str, ready: bool) -> Node {
        let condition = json!({ "type": "Ready", "status": if ready { "True" } else { "False" } });
        let labels = json!({ ID: id, BLOCK: block, STATE: state });
        let node = json!({
            "metadata": { "name": name, "labels": labels }, "status": { "conditions": [condition] },
        });
        serde_json::from_value(node).unwrap()
    }

    #[test]
    fn a_cube_is_usable_when_all_its_nodes_are_there_and_well() {
        let spec = MachineSpec { host: Some("4x4x2".into()), ..MachineSpec::default() };
        let nodes = [
            node("a0", "a", "b1", "HEALTHY", true),
            node("a1", "a", "b1", "HEALTHY", true),
            node("c0", "c", "b0", "HEALTHY", true),
            node("c1", "c", "b0", "DEGRADED", true),
            node("d0", "d", "b0", "HEALTHY", true),
            node("e0", "e", "b0", "HEALTHY", true),
            node("e1", "e", "b0", "HEALTHY", false),
            node("f0", "f", "b0", "UNHEALTHY", true),
            node("f1", "f", "b0", "HEALTHY", true),
            node("g0", "g", "b0", "HEALTHY", true),
            node("g1", "g", "b1", "HEALTHY", true),
            node("h0", "\u{1b}[2J", "", "HEALTHY", true),
        ];
        let yard = Yard::of(&spec, nodes.iter()).unwrap();
        let found: Vec<(&str, Health)> =
            yard.cubes.iter().map(|cube| (cube.id.as_str(), cube.health)).collect();
        let all = [
            ("c", Health::Degraded),
            ("d", Health::Unusable),
            ("e", Health::Unusable),
            ("f", Health::Unusable),
        ];
        assert_eq!(found[..4], all);
        assert_eq!(found[4..], [("a", Health::Healthy)]);
        assert_eq!(yard.blocks().collect::<Vec<_>>(), [0..4, 4..5]);
        assert_eq!(yard.contradictory.len(), 2);
        assert!(!yard.contradictory.concat().contains('\u{1b}'));
    }

    #[test]
    fn a_topology_has_three_sides_of_cubes_and_no_more_chips_than_a_slice() {
        let read = |text: &str| Topology::read(text).map(Topology::words);
        assert_eq!(read("8x4x4").unwrap(), "4x4x8");
        assert_eq!(read("16x24x24").unwrap(), "16x24x24");
        for wrong in ["", "4x4", "4x4x4x4", "4x4x6", "2x2x1", "04x4x4", "+4x4x4", "24x24x24"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
        assert!(!read("4x4x\u{1b}[2J").unwrap_err().contains('\u{1b}'));
    }
}
