//! `pavior slurm lint`: the rules.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use pavior_kernel::shown;

use super::reach::Reach;
use super::read::{Placement, Reader, Topology, Torus};
use super::yaml::{self, Kind, Place, Value};
use super::{Demand, Effect, Finding, Mix, Unreadable, count, shape_text, turned, volume};
use crate::hosts;
use crate::names::NodeName;

/// The most findings that are told.
const MOST: usize = 1000;

/// What was found in a topology.yaml.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// By place.
    pub findings: Vec<Finding>,
    /// What becomes of each entry of the mix, in each topology of torus3d.
    pub sizes: Vec<Sizes>,
}

/// What becomes of jobs of one size.
#[derive(Clone, Debug, PartialEq)]
pub struct Sizes {
    /// The topology.
    pub topology: String,
    /// What they ask for.
    pub demand: Demand,
    /// The share of all jobs of the mix, from 0 to 1.
    pub share: f64,
    /// What becomes of them.
    pub fate: Fate,
}

/// What becomes of a job on an empty machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fate {
    /// It is placed, as it asks.
    Placed,
    /// It gets a box, but not of its shape.
    OtherShape,
    /// It gets nodes by number: no torus has both nodes and placements.
    ByNumber,
    /// No placement has its size, or none of that size has a node in each cell: Slurm refuses it.
    Refused,
    /// The topology was not looked into as a whole.
    Unknown,
}

impl Fate {
    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Fate::Placed => "placed",
            Fate::OtherShape => "other-shape",
            Fate::ByNumber => "by-number",
            Fate::Refused => "refused",
            Fate::Unknown => "unknown",
        }
    }
}

/// Reads a topology.yaml as Slurm 26.05 does, and judges what is of torus3d in it. With `nodes`,
/// the nodes of the partition as Slurm lists them, the file is compared with these, and with a mix
/// it is judged what becomes of its sizes.
///
/// # Errors
/// If the text is not YAML that Slurm reads, or `nodes` is no list of nodes.
pub fn lint(text: &str, nodes: Option<&str>, mix: Option<&Mix>) -> Result<Report, Unreadable> {
    let bad = |bad: yaml::BadYaml| Unreadable { place: bad.place, reason: bad.reason };
    let document = yaml::read(text).map_err(bad)?;
    let nodes = nodes.map(|list| {
        let reason = "the nodes of the partition are no list such as n[00-63]".to_string();
        hosts::expand(list).ok_or(Unreadable { place: Place::default(), reason })
    });
    let nodes = nodes.transpose()?;
    let mut findings = Vec::new();
    for place in document.others {
        let message = "another document begins: Slurm reads the first alone".to_string();
        findings.push(Finding { place, effect: Effect::Ignored, rule: "documents", message });
    }
    let nothing = || Value { place: Place { line: 1, column: 1 }, kind: Kind::Text(String::new()) };
    let topologies = topologies(&document.root.unwrap_or_else(nothing), &mut findings);
    let mut sizes = Vec::new();
    for topology in &topologies {
        let judged = Judged::new(topology, nodes.as_deref());
        judged.places(&mut findings);
        if let Some(nodes) = &nodes {
            judged.compare(nodes, &mut findings);
        }
        if let Some(mix) = mix {
            sizes.extend(judged.sizes(mix, &mut findings));
        }
    }
    if topologies.is_empty() && findings.is_empty() {
        let place = Place { line: 1, column: 1 };
        let message = "no topology of torus3d".to_string();
        findings.push(Finding { place, effect: Effect::Ignored, rule: "no-torus3d", message });
    }
    findings.sort();
    findings.dedup();
    if let Some(Finding { place, .. }) = findings.get(MOST) {
        let (place, effect, rest) = (*place, Effect::Note, findings.len() - MOST);
        findings.truncate(MOST);
        let message = format!("{} from here on are left out", count(rest, "finding"));
        findings.push(Finding { place, effect, rule: "not-examined", message });
    }
    Ok(Report { findings, sizes })
}

/// The topologies of torus3d.
fn topologies(root: &Value, findings: &mut Vec<Finding>) -> Vec<Topology> {
    let entries = match &root.kind {
        Kind::List(list) => &list[..],
        Kind::Map(_) => std::slice::from_ref(root),
        Kind::Text(_) => {
            let message = "a topology.yaml is a list of topologies".to_string();
            let (place, effect) = (root.place, Effect::Refused);
            findings.push(Finding { place, effect, rule: "type", message });
            return Vec::new();
        }
    };
    if entries.is_empty() {
        let message = "no topology: slurmctld ends at once".to_string();
        findings.push(Finding {
            place: root.place,
            effect: Effect::Refused,
            rule: "type",
            message,
        });
    }
    Reader::new(findings).topologies(entries)
}

/// A topology with what its placements reach.
struct Judged<'t> {
    topology: &'t Topology,
    toruses: Vec<JudgedTorus<'t>>,
}

struct JudgedTorus<'t> {
    torus: &'t Torus,
    /// Its nodes; none in cells whose nodes Slurm does not know.
    cells: Vec<Option<&'t NodeName>>,
    reached: Vec<(&'t Placement, Reach)>,
}

impl<'t> Judged<'t> {
    /// Slurm takes the cells of nodes that it does not know for empty.
    fn new(topology: &'t Topology, nodes: Option<&[NodeName]>) -> Judged<'t> {
        let known: Option<HashSet<&NodeName>> = nodes.map(|nodes| nodes.iter().collect());
        let is_known = |name: &NodeName| known.as_ref().is_none_or(|known| known.contains(name));
        let judge = |torus: &'t Torus| {
            let cells = torus.cells.as_deref()?.iter();
            let cells: Vec<Option<&NodeName>> =
                cells.map(|cell| cell.as_ref().filter(|name| is_known(name))).collect();
            let filled: Vec<bool> = cells.iter().map(Option::is_some).collect();
            let reach =
                |placement: &'t Placement| (placement, placement.boxes.reach(torus.sides, &filled));
            let reached = torus.placements.iter().map(reach).collect();
            Some(JudgedTorus { torus, cells, reached })
        };
        let toruses = topology.toruses.iter().filter_map(judge).collect();
        Judged { topology, toruses }
    }

    /// Whether any torus gives boxes.
    fn gives_boxes(&self) -> bool {
        self.toruses.iter().any(|torus| !torus.reached.is_empty())
    }

    /// Whether all toruses were looked into.
    fn is_whole(&self) -> bool {
        self.topology.is_whole && self.toruses.len() == self.topology.toruses.len()
    }

    fn places(&self, findings: &mut Vec<Finding>) {
        for torus in &self.toruses {
            torus.placements(findings);
            torus.coverage(findings);
        }
        for torus in self.topology.toruses.iter().filter(|torus| torus.is_plain) {
            let rest = if self.gives_boxes() {
                "its nodes are used only while no node of the other toruses is free, and then by \
                 number, not in boxes"
            } else {
                "jobs get nodes by their number, and no boxes"
            };
            let message = format!("torus {} has no placements: {rest}", shown(&torus.name));
            let (place, effect) = (torus.place, Effect::Ignored);
            findings.push(Finding { place, effect, rule: "no-placements", message });
        }
    }

    /// Compares the nodes of the toruses with those of the partition.
    fn compare(&self, nodes: &[NodeName], findings: &mut Vec<Finding>) {
        let known: BTreeSet<&NodeName> = nodes.iter().collect();
        let mut own = BTreeSet::new();
        for torus in &self.toruses {
            let names: Vec<&NodeName> = torus.torus.cells.iter().flatten().flatten().collect();
            let strange: Vec<&NodeName> =
                names.iter().copied().filter(|name| !known.contains(name)).collect();
            own.extend(names);
            if !strange.is_empty() {
                let message = format!(
                    "not among the nodes of the partition: {}. No box with a cell of theirs is \
                     ever used",
                    some(&strange)
                );
                let (place, effect) = (torus.torus.place, Effect::Unplaced);
                findings.push(Finding { place, effect, rule: "strange-nodes", message });
            }
        }
        let outside: Vec<&NodeName> = nodes.iter().filter(|name| !own.contains(name)).collect();
        if !outside.is_empty() && self.is_whole() && self.gives_boxes() {
            let message = format!(
                "in no torus: {}. They are used only while no node of a torus is free, and then by \
                 number, not in boxes",
                some(&outside)
            );
            let (place, effect) = (self.topology.place, Effect::Ignored);
            findings.push(Finding { place, effect, rule: "outside-nodes", message });
        }
    }

    /// What becomes of the sizes of a mix.
    fn sizes(&self, mix: &Mix, findings: &mut Vec<Finding>) -> Vec<Sizes> {
        let whole = mix.weight();
        let size = |(demand, weight): (Demand, f64)| Sizes {
            topology: shown(&self.topology.name).to_string(),
            demand,
            share: weight / whole,
            fate: self.fate(demand),
        };
        let sizes: Vec<Sizes> = mix.iter().map(size).collect();
        let reasons = [
            (Fate::Refused, "never-placed", "Slurm refuses them at submission"),
            (Fate::OtherShape, "other-shape", "they get a box of another shape"),
        ];
        for (fate, rule, rest) in reasons {
            let those: Vec<&Sizes> = sizes.iter().filter(|size| size.fate == fate).collect();
            if those.is_empty() {
                continue;
            }
            let share: f64 = those.iter().map(|size| size.share).sum();
            let names: Vec<String> = those.iter().map(|size| size.demand.to_string()).collect();
            let message = format!(
                "{} of the mix, {:.3} % of its jobs: {rest}: {}",
                count(those.len(), "size"),
                100.0 * share,
                first_of(&names)
            );
            let (place, effect) = (self.topology.place, Effect::Unplaced);
            findings.push(Finding { place, effect, rule, message });
        }
        self.alike(mix, findings);
        sizes
    }

    fn fate(&self, demand: Demand) -> Fate {
        if !self.is_whole() {
            return Fate::Unknown;
        }
        if !self.gives_boxes() {
            return Fate::ByNumber;
        }
        let reached = self.toruses.iter().flat_map(|torus| &torus.reached);
        let usable = reached.filter(|(_, reach)| reach.whole > 0).map(|(one, _)| one.boxes.sides);
        let alike: Vec<[u16; 3]> =
            usable.filter(|&sides| volume(sides) == demand.nodes()).collect();
        match demand {
            _ if alike.is_empty() => Fate::Refused,
            Demand::Shape(shape) if alike.iter().all(|&one| turned(one) != turned(shape)) => {
                Fate::OtherShape
            }
            _ => Fate::Placed,
        }
    }

    /// Shapes of the mix that Slurm cannot tell apart.
    fn alike(&self, mix: &Mix, findings: &mut Vec<Finding>) {
        let mut shapes: BTreeMap<u64, BTreeSet<[u16; 3]>> = BTreeMap::new();
        for (demand, _) in mix.iter() {
            if let Demand::Shape(sides) = demand {
                shapes.entry(volume(sides)).or_default().insert(turned(sides));
            }
        }
        let several = shapes.into_iter().filter(|(_, shapes)| shapes.len() > 1);
        let names: Vec<String> = several
            .map(|(_, shapes)| shapes.into_iter().map(shape_text).collect::<Vec<_>>().join(" and "))
            .collect();
        if !names.is_empty() {
            let message = format!(
                "Slurm places by number of nodes, and cannot tell these shapes apart: {}",
                first_of(&names)
            );
            let (place, effect) = (self.topology.place, Effect::Note);
            findings.push(Finding { place, effect, rule: "same-size", message });
        }
    }
}

impl JudgedTorus<'_> {
    /// What is said of single placements, and of pairs.
    fn placements(&self, findings: &mut Vec<Finding>) {
        let mut first_of_size: BTreeMap<u64, &Placement> = BTreeMap::new();
        for (at, (placement, reach)) in self.reached.iter().enumerate() {
            let sides = placement.boxes.sides;
            let mut find = |effect, rule, message| {
                findings.push(Finding { place: placement.place, effect, rule, message });
            };
            let shape = shape_text(sides);
            let before = self.reached[..at].iter().map(|(other, _)| *other);
            if let Some(same) = before.clone().find(|other| other.boxes == placement.boxes) {
                let message = format!("the same placement as on line {}", same.place.line);
                find(Effect::Ignored, "repeated-placement", message);
            }
            let other = *first_of_size.entry(volume(sides)).or_insert(placement);
            if other.boxes.sides != sides {
                let message = format!(
                    "{shape} has as many nodes as {} on line {}: Slurm cannot tell them apart, and \
                     a job of {} nodes gets either",
                    shape_text(other.boxes.sides),
                    other.place.line,
                    volume(sides)
                );
                find(Effect::Note, "same-size", message);
            }
            if reach.whole == 0 {
                let message =
                    format!("no anchor of {shape} has a node in each cell: it is never used");
                find(Effect::Unplaced, "no-anchor", message);
            } else if reach.whole < reach.anchors {
                let message = format!(
                    "{} of {} of {shape} have a node in each cell, and are used",
                    reach.whole,
                    count(reach.anchors, "anchor")
                );
                find(Effect::Note, "partial", message);
            }
            let torus = self.torus.sides;
            if (0..3).any(|axis| torus[axis] % sides[axis] != 0) && placement.spacing.is_none() {
                let message = format!(
                    "{shape} does not divide {}: by default its anchors then overlap, and jobs of \
                     its size leave nodes between them",
                    shape_text(torus)
                );
                find(Effect::Note, "does-not-divide", message);
            }
        }
    }

    /// Nodes that no job holds, or no job of a size.
    fn coverage(&self, findings: &mut Vec<Finding>) {
        let nodes = self.cells.iter().flatten().count();
        if self.reached.iter().all(|(_, reach)| reach.whole == 0) {
            return;
        }
        let covered = |reached: &mut dyn Iterator<Item = &Reach>| {
            let mut all = vec![false; self.cells.len()];
            for reach in reached {
                all.iter_mut().zip(&reach.covered).for_each(|(all, one)| *all |= one);
            }
            all
        };
        let all = covered(&mut self.reached.iter().map(|(_, reach)| reach));
        let left: Vec<&NodeName> = self
            .cells
            .iter()
            .zip(&all)
            .filter_map(|(cell, covered)| cell.filter(|_| !covered))
            .collect();
        if !left.is_empty() {
            let message = format!("in no box of any placement: {}. They hold no job", some(&left));
            let (place, effect) = (self.torus.place, Effect::Unplaced);
            findings.push(Finding { place, effect, rule: "left-out", message });
        }
        let reachable = nodes - left.len();
        let sizes: BTreeSet<u64> =
            self.reached.iter().map(|(placement, _)| volume(placement.boxes.sides)).collect();
        let has_holes = nodes < self.cells.len();
        for size in sizes {
            let mut of_size =
                self.reached.iter().filter(|(one, _)| volume(one.boxes.sides) == size);
            let Some(first) = of_size.clone().next() else { continue };
            let used = covered(&mut of_size.by_ref().map(|(_, reach)| reach));
            let used = used.iter().filter(|&&used| used).count();
            if used > 0 && used < reachable {
                let effect = if has_holes { Effect::Note } else { Effect::Unplaced };
                let message = format!(
                    "the anchors of jobs of {} reach {used} of the {}",
                    count(size as usize, "node"),
                    count(nodes, "node")
                );
                let place = first.0.place;
                findings.push(Finding { place, effect, rule: "size-left-out", message });
            }
        }
    }
}

/// How many names a sentence lists.
const LISTED: usize = 8;

/// The first of a list, and how many there are.
fn some(names: &[&NodeName]) -> String {
    let texts: Vec<String> = names.iter().take(LISTED + 1).map(ToString::to_string).collect();
    let shown = texts[..texts.len().min(LISTED)].join(", ");
    let more = names.len().saturating_sub(LISTED);
    if more == 0 { shown } else { format!("{shown} and {more} more") }
}

fn first_of(texts: &[String]) -> String {
    let shown = texts[..texts.len().min(LISTED)].join(", ");
    let more = texts.len().saturating_sub(LISTED);
    if more == 0 { shown } else { format!("{shown} and {more} more") }
}
