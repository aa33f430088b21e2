//! The toruses of a topology.yaml, as Slurm makes them of it.

use std::collections::HashMap;

use pavior_kernel::shown;

use super::reach::Boxes;
use super::schema::{self, Fields};
use super::yaml::{Kind, Place, Value};
use super::{AXES, Effect, Finding, count, gcd, numbers, shape_text, volume};
use crate::hosts;
use crate::names::NodeName;

/// More cells than a cluster has nodes: such toruses are not looked into.
const MOST_CELLS: u64 = 1 << 17;
/// More placements than anybody means: those behind are not looked at.
const MOST_PLACEMENTS: usize = 1000;
/// The cells of all placements' toruses together, which bounds time and memory.
const MOST_WORK: u64 = 1 << 23;

/// A topology of `torus3d`.
#[derive(Debug)]
pub(super) struct Topology {
    pub(super) place: Place,
    pub(super) name: String,
    pub(super) toruses: Vec<Torus>,
    /// Whether all its toruses could be read.
    pub(super) is_whole: bool,
}

/// A torus.
#[derive(Debug)]
pub(super) struct Torus {
    pub(super) place: Place,
    pub(super) name: String,
    pub(super) sides: [u16; 3],
    /// The nodes of its cells, x fastest, or `None` if that is not known.
    pub(super) cells: Option<Vec<Option<NodeName>>>,
    pub(super) placements: Vec<Placement>,
    /// Whether the file gives it no placements.
    pub(super) is_plain: bool,
}

/// A placement.
#[derive(Debug)]
pub(super) struct Placement {
    pub(super) place: Place,
    pub(super) boxes: Boxes,
    /// Where its spacing is written, if it is.
    pub(super) spacing: Option<Place>,
}

/// Reads topologies out of a document.
pub(super) struct Reader<'f> {
    found: &'f mut Vec<Finding>,
    /// The placements that may still be read, and the cells of their toruses.
    placements_left: usize,
    work_left: u64,
    /// The cells that may still be read.
    cells_left: u64,
    /// Whether placements were left out.
    left_out: bool,
}

impl<'f> Reader<'f> {
    pub(super) fn new(found: &'f mut Vec<Finding>) -> Reader<'f> {
        Reader {
            found,
            placements_left: MOST_PLACEMENTS,
            work_left: MOST_WORK,
            cells_left: MOST_CELLS,
            left_out: false,
        }
    }

    fn find(&mut self, place: Place, effect: Effect, rule: &'static str, message: String) {
        self.found.push(Finding { place, effect, rule, message });
    }

    /// The topologies of torus3d among all.
    pub(super) fn topologies(&mut self, entries: &[Value]) -> Vec<Topology> {
        let mut all = Vec::new();
        let mut defaults = 0;
        let mut names: HashMap<String, usize> = HashMap::new();
        for entry in entries {
            let Some(fields) = schema::TOPOLOGY.fields(entry, self.found) else { continue };
            if fields.get("cluster_default").is_some_and(|value| self.truth(value)) {
                defaults += 1;
                if defaults == 2 {
                    let message =
                        "another topology is cluster_default, too: Slurm takes one of them";
                    let message = message.to_string();
                    self.find(entry.place, Effect::Ignored, "cluster-default", message);
                }
            }
            let name = match fields.get("topology") {
                Some(Value { kind: Kind::Text(name), .. }) => name.clone(),
                Some(Value { place, .. }) => {
                    let message = "the name of a topology is a word".to_string();
                    self.find(*place, Effect::Refused, "type", message);
                    String::new()
                }
                None => String::new(),
            };
            if let Some(line) = names.insert(name.clone(), entry.place.line) {
                let message =
                    format!("the topology on line {line} has this name, too: a partition gets one");
                self.find(entry.place, Effect::Ignored, "topology-name", message);
            }
            all.extend(self.topology(entry, &fields, name));
        }
        if let ([first, _, ..], 0) = (entries, defaults) {
            let message = "no topology is cluster_default: partitions without Topology= get this, \
                           the first"
                .to_string();
            self.find(first.place, Effect::Ignored, "cluster-default", message);
        }
        all
    }

    /// What Slurm makes of a truth value.
    fn truth(&mut self, value: &Value) -> bool {
        let Kind::Text(text) = &value.kind else {
            self.find(value.place, Effect::Refused, "type", "true or false".to_string());
            return false;
        };
        let (truth, is_word) = numbers::boolean(text);
        if !is_word {
            let message = format!("Slurm takes this for {truth}");
            self.find(value.place, Effect::Ignored, "boolean", message);
        }
        truth
    }

    /// A topology of torus3d; `None` if it is of another kind, or cannot be read.
    fn topology(&mut self, value: &Value, fields: &Fields<'_>, name: String) -> Option<Topology> {
        self.plugins(value, fields);
        let torus3d = fields.get("torus3d")?;
        if torus3d.kind == Kind::Map(Vec::new()) {
            return None;
        }
        let inner = schema::TORUS3D.fields(torus3d, self.found)?;
        let Some(list) = inner.get("toruses") else {
            let message = "torus3d without toruses".to_string();
            self.find(torus3d.place, Effect::Refused, "toruses", message);
            return None;
        };
        let entries = self.entries(list, "toruses");
        if entries.is_empty() && list.kind == Kind::List(Vec::new()) {
            let message = "toruses is empty".to_string();
            self.find(list.place, Effect::Refused, "toruses", message);
        }
        let toruses: Vec<Torus> = entries.iter().filter_map(|entry| self.torus(entry)).collect();
        self.apart(&toruses);
        let is_whole = !toruses.is_empty() && toruses.len() == entries.len() && !self.left_out;
        Some(Topology { place: value.place, name, toruses, is_whole })
    }

    /// Whether a topology has one plugin. Empty maps are none, but for flat.
    fn plugins(&mut self, value: &Value, fields: &Fields<'_>) {
        let mut first: Option<&str> = None;
        for key in ["block", "flat", "ring", "torus3d", "tree"] {
            let Some(given) = fields.get(key) else { continue };
            let is_one = match (&given.kind, key) {
                (Kind::Map(_), "flat") => true,
                (Kind::Map(map), _) => !map.is_empty(),
                (Kind::Text(_), "flat") => self.truth(given),
                (Kind::Text(_) | Kind::List(_), _) => {
                    let message = format!("{key} is a map");
                    self.find(given.place, Effect::Refused, "type", message);
                    true
                }
            };
            if let (Some(first), true) = (first, is_one) {
                let message = format!("{key} beside {first}: a topology has one of them");
                self.find(given.place, Effect::Refused, "plugins", message);
            }
            first = first.or(is_one.then_some(key));
        }
        if first.is_none() {
            let message = "a topology without block, flat, ring, torus3d or tree".to_string();
            self.find(value.place, Effect::Refused, "plugins", message);
        }
    }

    /// Whether toruses have names and nodes of their own.
    fn apart(&mut self, toruses: &[Torus]) {
        let mut names = HashMap::new();
        let mut nodes: HashMap<&NodeName, usize> = HashMap::new();
        for (at, torus) in toruses.iter().enumerate() {
            if let Some(first) = names.insert(&torus.name, torus.place.line) {
                let message = format!("the torus on line {first} has this name, too");
                self.find(torus.place, Effect::Refused, "name", message);
            }
            let mut own = torus.cells.iter().flatten().flatten();
            let taken = own.find_map(|name| Some((name, *nodes.get(name)?)));
            if let Some((name, other)) = taken {
                let line = toruses[other].place.line;
                let message = format!("{name} is in the torus on line {line}, too");
                self.find(torus.place, Effect::Refused, "shared-nodes", message);
            }
            nodes.extend(torus.cells.iter().flatten().flatten().map(|name| (name, at)));
        }
    }

    /// A torus; `None` if slurmctld refuses it.
    fn torus(&mut self, value: &Value) -> Option<Torus> {
        let fields = schema::TORUS.fields(value, self.found)?;
        let name = self.name(value, &fields);
        let sides = self.dims(value, &fields, "a torus")?;
        let cells = self.cells(value, &fields, sides);
        let list = fields.get("placements");
        let is_plain = list.is_none_or(|list| list.kind == Kind::List(Vec::new()));
        let placements = list.map_or(Vec::new(), |list| self.placements(list, sides));
        Some(Torus { place: value.place, name: name?, sides, cells, placements, is_plain })
    }

    fn name(&mut self, value: &Value, fields: &Fields<'_>) -> Option<String> {
        let given = fields.get("name");
        match given.map(|name| &name.kind) {
            Some(Kind::Text(name)) if !name.is_empty() => Some(name.clone()),
            _ => {
                let place = given.map_or(value.place, |name| name.place);
                let message = "a torus needs a name, a word".to_string();
                self.find(place, Effect::Refused, "name", message);
                None
            }
        }
    }

    /// Its dims, from 1 on.
    fn dims(&mut self, value: &Value, fields: &Fields<'_>, of: &str) -> Option<[u16; 3]> {
        let dims = fields.get("dims");
        let sides = dims.map_or(Some([0; 3]), |dims| self.triple(dims))?;
        if let Some(axis) = sides.iter().position(|&side| side == 0) {
            let message = format!("dims of {of}: {} is missing or 0", AXES[axis]);
            self.find(dims.unwrap_or(value).place, Effect::Refused, "dims", message);
            return None;
        }
        Some(sides)
    }

    /// Three numbers, 0 where none is given.
    fn triple(&mut self, value: &Value) -> Option<[u16; 3]> {
        self.given(value).map(|triple| triple.map(Option::unwrap_or_default))
    }

    /// Three numbers, as far as they are given.
    fn given(&mut self, value: &Value) -> Option<[Option<u16>; 3]> {
        let fields = schema::SIDES.fields(value, self.found)?;
        let mut triple = [None; 3];
        let mut right = true;
        for (number, axis) in triple.iter_mut().zip(AXES) {
            let Some(given) = fields.get(axis) else { continue };
            let read = match &given.kind {
                Kind::Text(text) => numbers::read(text),
                Kind::List(_) | Kind::Map(_) => None,
            };
            let Some(read) = read else {
                let message = format!("{axis} is no number that Slurm reads");
                self.find(given.place, Effect::Refused, "number", message);
                right = false;
                continue;
            };
            if let Some(whole) = read.cut {
                let message = format!("Slurm makes {} of {whole}, without a word", read.kept);
                self.find(given.place, Effect::Ignored, "number", message);
            }
            *number = Some(read.kept);
        }
        right.then_some(triple)
    }

    /// The entries of a list; Slurm takes a map for a list of one.
    fn entries<'v>(&mut self, value: &'v Value, what: &str) -> &'v [Value] {
        match &value.kind {
            Kind::List(list) => list,
            Kind::Map(_) => std::slice::from_ref(value),
            Kind::Text(_) => {
                self.find(value.place, Effect::Refused, "type", format!("{what} is a list"));
                &[]
            }
        }
    }

    fn placements(&mut self, value: &Value, torus: [u16; 3]) -> Vec<Placement> {
        let mut all = Vec::new();
        for entry in self.entries(value, "placements") {
            let work = volume(torus).min(MOST_CELLS);
            if self.placements_left == 0 || self.work_left < work {
                let message = "too many placements: those from here on were not looked at";
                self.find(entry.place, Effect::Note, "not-examined", message.to_string());
                self.left_out = true;
                break;
            }
            self.placements_left -= 1;
            self.work_left -= work;
            all.extend(self.placement(entry, torus));
        }
        all
    }

    fn placement(&mut self, value: &Value, torus: [u16; 3]) -> Option<Placement> {
        let fields = schema::PLACEMENT.fields(value, self.found)?;
        let sides = self.dims(value, &fields, "a placement")?;
        let seed_value = fields.get("anchor_seed");
        let seed = seed_value.map_or(Some([0; 3]), |value| self.triple(value))?;
        let spacing_value = fields.get("anchor_spacing");
        let written = spacing_value.map_or(Some([None; 3]), |value| self.given(value))?;
        let used = |axis: usize| written[axis].filter(|&given| given > 0).unwrap_or(sides[axis]);
        let spacing = [0, 1, 2].map(used);
        self.within(value.place, "dims", sides, torus, 0)?;
        if let Some(value) = seed_value {
            self.within(value.place, "anchor_seed", seed, torus, 1)?;
        }
        if let Some(value) = spacing_value {
            self.within(value.place, "anchor_spacing", spacing, torus, 0)?;
            self.spacing(value.place, sides, written, torus);
        }
        let boxes = Boxes { sides, seed, spacing };
        Some(Placement { place: value.place, boxes, spacing: spacing_value.map(|v| v.place) })
    }

    /// Whether each of three numbers is at most the side of the torus, less `margin`.
    fn within(
        &mut self,
        place: Place,
        key: &str,
        given: [u16; 3],
        torus: [u16; 3],
        margin: u16,
    ) -> Option<()> {
        let axis = (0..3).find(|&axis| given[axis] > torus[axis] - margin);
        let Some(axis) = axis else { return Some(()) };
        let message = format!(
            "{key}: {} is {}, and may be {} at most on a torus of {}",
            AXES[axis],
            given[axis],
            torus[axis] - margin,
            shape_text(torus)
        );
        self.find(place, Effect::Refused, "exceeds", message);
        None
    }

    /// What a written spacing is in fact.
    fn spacing(
        &mut self,
        place: Place,
        sides: [u16; 3],
        written: [Option<u16>; 3],
        torus: [u16; 3],
    ) {
        for axis in 0..3 {
            let (name, side) = (AXES[axis], torus[axis]);
            let (rule, message) = match written[axis] {
                None if sides[axis] == 1 => continue,
                None | Some(0) => {
                    let (word, dims) = (written[axis].map_or("missing", |_| "0"), sides[axis]);
                    let message = format!("{name} is {word}, and Slurm takes that of dims, {dims}");
                    ("spacing-of-dims", message)
                }
                Some(given) => {
                    let step = gcd(given, side);
                    if step == given {
                        continue;
                    }
                    let message = format!(
                        "{name} is {given}, but Slurm steps around the torus of {side} until it is \
                         back: the anchors are {step} apart"
                    );
                    ("spacing-around", message)
                }
            };
            self.find(place, Effect::Ignored, rule, format!("anchor_spacing: {message}"));
        }
    }

    /// The nodes of a torus's cells; `None` if they cannot be told.
    fn cells(
        &mut self,
        value: &Value,
        fields: &Fields<'_>,
        sides: [u16; 3],
    ) -> Option<Vec<Option<NodeName>>> {
        let (nodes, regions) = (fields.get("nodes"), fields.get("regions"));
        let regions = regions.map_or(&[][..], |value| self.entries(value, "regions"));
        if let (Some(nodes), false) = (nodes, regions.is_empty()) {
            let message = "a torus has nodes or regions, not both".to_string();
            self.find(nodes.place, Effect::Refused, "regions", message);
            return None;
        }
        let cells = volume(sides);
        if cells > self.cells_left {
            let message = format!(
                "{} cells are more than a cluster has nodes: the torus was not looked into",
                shape_text(sides)
            );
            self.find(value.place, Effect::Note, "not-examined", message);
            return None;
        }
        self.cells_left -= cells;
        let mut map = vec![None; cells as usize];
        if let Some(nodes) = nodes {
            let names = self.names(nodes)?;
            if names.is_empty() {
                self.no_nodes(nodes.place);
                return None;
            }
            if names.len() as u64 != cells {
                let message = format!(
                    "{}, but dims of {} have {cells} cells",
                    count(names.len(), "node"),
                    shape_text(sides)
                );
                self.find(nodes.place, Effect::Refused, "node-count", message);
                return None;
            }
            map = names.into_iter().map(Some).collect();
        } else if regions.is_empty() {
            self.no_nodes(value.place);
            return None;
        }
        for region in regions {
            self.region(region, sides, &mut map)?;
        }
        let place = nodes.map_or(value.place, |nodes| nodes.place);
        self.once(place, &map)?;
        Some(map)
    }

    fn no_nodes(&mut self, place: Place) {
        let message = "a torus without nodes: it gives no boxes".to_string();
        self.find(place, Effect::Ignored, "no-nodes", message);
    }

    fn region(
        &mut self,
        value: &Value,
        torus: [u16; 3],
        cells: &mut [Option<NodeName>],
    ) -> Option<()> {
        let fields = schema::REGION.fields(value, self.found)?;
        let anchor = fields.get("anchor").map_or(Some([0; 3]), |value| self.triple(value))?;
        let dims = fields.get("dims").map_or(Some([0; 3]), |value| self.triple(value))?;
        let names = fields.get("nodes").map_or(Some(Vec::new()), |value| self.names(value))?;
        let fits =
            |axis: usize| u32::from(anchor[axis]) + u32::from(dims[axis]) <= torus[axis].into();
        let reason = if names.is_empty() {
            Some("a region without nodes".to_string())
        } else if !(0..3).all(fits) {
            Some(format!("the region leaves the torus of {}", shape_text(torus)))
        } else if names.len() as u64 != volume(dims) {
            let (nodes, shape) = (count(names.len(), "node"), shape_text(dims));
            Some(format!("{nodes}, but dims of {shape} have {} cells", volume(dims)))
        } else {
            None
        };
        if let Some(reason) = reason {
            self.find(value.place, Effect::Refused, "regions", reason);
            return None;
        }
        let [a, b, _] = dims.map(usize::from);
        let [i, j, k] = anchor.map(usize::from);
        let [x, y, _] = torus.map(usize::from);
        for (at, name) in names.into_iter().enumerate() {
            let cell = i + at % a + x * (j + at / a % b + y * (k + at / a / b));
            if cells[cell].replace(name).is_some() {
                let message = "the region overlaps another".to_string();
                self.find(value.place, Effect::Refused, "regions", message);
                return None;
            }
        }
        Some(())
    }

    /// The names of a list of nodes.
    fn names(&mut self, value: &Value) -> Option<Vec<NodeName>> {
        let names = match &value.kind {
            // Slurm takes white space between names for commas, and several for one.
            Kind::Text(text) => {
                let words = text.split_whitespace().map(|word| word.trim_matches(','));
                let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
                hosts::expand(&words.join(","))
            }
            Kind::List(_) | Kind::Map(_) => None,
        };
        if names.is_none() {
            let message = "no list of nodes; one is a word, such as n[00-63]".to_string();
            self.find(value.place, Effect::Refused, "nodes", message);
        }
        names
    }

    /// Whether each node stands once.
    fn once(&mut self, place: Place, cells: &[Option<NodeName>]) -> Option<()> {
        let mut seen = HashMap::new();
        for (cell, name) in cells.iter().enumerate() {
            let Some(name) = name else { continue };
            if let Some(first) = seen.insert(name, cell) {
                let message = format!(
                    "{} stands twice, as cells {first} and {cell}: no box with both is ever used",
                    shown(name.as_str())
                );
                self.find(place, Effect::Ignored, "node-twice", message);
                return None;
            }
        }
        Some(())
    }
}
