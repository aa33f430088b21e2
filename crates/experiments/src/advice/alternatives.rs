//! Alternatives that each change one setting in the current configuration.

use pavior_mesh::{Cubes, Grid};

use crate::{Point, Setting};

/// The topic of an alternative. Topics are in report order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Topic {
    /// Another strategy, scheduler or freedom, which requires no new hardware.
    Settings,
    /// Another machine.
    Machine,
    /// Node failures and spares.
    Failures,
}

impl Topic {
    /// All topics.
    pub const ALL: [Topic; 3] = [Topic::Settings, Topic::Machine, Topic::Failures];

    /// Returns the topic's heading.
    pub fn title(self) -> &'static str {
        match self {
            Topic::Settings => "Other settings",
            Topic::Machine => "Another machine",
            Topic::Failures => "Failures",
        }
    }
}

/// A candidate change to the current configuration, which may turn out not to apply.
pub(super) struct Change {
    pub(super) topic: Topic,
    pub(super) name: String,
    /// A description of the change that can follow the word "with".
    pub(super) words: String,
    /// Settings that replace the current ones. A setting without a value is removed.
    pub(super) settings: Vec<(&'static str, Option<String>)>,
}

/// Strategies to try: contiguous placement without rotation, contiguous placement with rotation,
/// best-fit placement, and placement in several boxes per job.
const STRATEGIES: [(&str, &str); 4] =
    [("ff", ""), ("tff", ""), ("bf:turn=all", ""), ("gabl", " (several boxes per job)")];
const SCHEDULERS: [(&str, &str); 3] = [("fcfs", ""), ("easy", ""), ("conservative", "")];
const FREEDOMS: [(&str, &str); 4] = [
    ("box", " (never turned)"),
    ("any-box", " (other sides)"),
    ("connected", " (no boxes)"),
    ("any", " (any nodes)"),
];

/// The mean times to failure (per node) and to repair, in seconds, that are assumed if the current
/// configuration has no failures: five years of 365 days and one day, respectively.
const FAILING: [(&str, &str); 2] = [("mttf", "157680000"), ("mttr", "86400")];
const AN_HOUR: &str = "3600";

/// Returns all changes to try. If the log names nodes, the first change uses the logged placements.
pub(super) fn changes(present: &Point, placed: Option<&Setting>) -> Vec<Change> {
    let grid = present.settings().machine;
    let own = placed.map(|names| Change {
        topic: Topic::Settings,
        name: "placements from the log".to_string(),
        words: "the placements and times recorded in the log".to_string(),
        settings: vec![("placed", Some(names.values.join(",")))],
    });
    let mut all: Vec<Change> = own.into_iter().collect();
    let mut several = |key: &'static str, values: &[(&str, &str)]| {
        all.extend(values.iter().map(|(value, meaning)| {
            let name = format!("{key} {value}");
            let words = name.clone() + meaning;
            let settings = vec![(key, Some((*value).to_string()))];
            Change { topic: Topic::Settings, name, words, settings }
        }));
    };
    several("strategy", &STRATEGIES);
    several("scheduler", &SCHEDULERS);
    several("freedom", &FREEDOMS);
    if present.get("freedom").is_some() {
        all.push(Change {
            topic: Topic::Settings,
            name: "no freedom".to_string(),
            words: "the strategy's own freedom".to_string(),
            settings: vec![("freedom", None)],
        });
    }
    all.extend(machines(&grid));
    all.extend(failures(present, &grid));
    all
}

/// Returns three changes to the machine: adding or removing wrap-around links, adding a pod, and
/// doubling the size.
fn machines(grid: &Grid) -> Vec<Change> {
    let axes = grid.axes();
    let sides = &grid.sides()[..axes];
    let wraps: Vec<bool> = (0..axes).map(|axis| grid.wraps(axis)).collect();
    let longest = (0..axes).rev().max_by_key(|&axis| sides[axis]).unwrap_or(0);
    // A machine made of cubes grows by one cube. Any other machine grows by a quarter.
    let step = if Cubes::of(grid).is_some() { 4 } else { sides[longest].div_ceil(4) };
    let grown = |by: u16| {
        let mut sides = sides.to_vec();
        sides[longest] = sides[longest].checked_add(by)?;
        Grid::new(&sides, &wraps).ok()
    };
    let wrapped = |wrap: bool| Grid::new(sides, &vec![wrap; axes]).ok();
    let tried = [
        ("without wrap-around links", wrapped(false)),
        ("with wrap-around links", wrapped(true)),
        ("one more pod", Some(step).filter(|&step| step < sides[longest]).and_then(grown)),
        ("twice the nodes", grown(sides[longest])),
    ];
    let change = |(words, other): (&str, Option<Grid>)| {
        let name = other?.to_string();
        let words = format!("{name} ({words})");
        let settings = vec![("machine", Some(name.clone()))];
        Some(Change { topic: Topic::Machine, name, words, settings })
    };
    tried.into_iter().filter_map(change).collect()
}

/// Returns changes to the failure settings. If failures are off, the changes enable them, with and
/// without a spare cube. Otherwise, the changes disable failures, add a spare cube, or add
/// checkpoints.
fn failures(present: &Point, grid: &Grid) -> Vec<Change> {
    let given = |settings: &[(&'static str, &str)]| -> Vec<(&'static str, Option<String>)> {
        settings.iter().map(|(key, value)| (*key, Some((*value).to_string()))).collect()
    };
    let change = |name: &str, words: &str, settings| {
        let (name, words) = (name.to_string(), words.to_string());
        Change { topic: Topic::Failures, name, words, settings }
    };
    let spares = present.get("spares").and_then(|text| text.parse().ok()).unwrap_or(0_u32) + 1;
    let spare = Cubes::of(grid).map(|_| ("spares", spares.to_string()));
    let fails = ["mttf", "fail-classes", "failures"].iter().any(|key| present.get(key).is_some());
    let mut all = Vec::new();
    if !fails {
        let words = "nodes that each fail for one day every 5 years";
        all.push(change("failures", words, given(&FAILING)));
        all.extend(spare.map(|(key, value)| {
            let settings = [&given(&FAILING)[..], &[(key, Some(value))]].concat();
            change("failures, 1 spare", "failing nodes and 64 spare nodes", settings)
        }));
        return all;
    }
    let none = ["mttf", "mttr", "fail-classes", "failures", "spares", "spare-switches"];
    let none = none.into_iter().chain(["checkpoint"]).map(|key| (key, None)).collect();
    all.push(change("no failures", "no failures", none));
    all.extend(spare.map(|(key, value)| {
        let name = format!("spares {value}");
        change(&name, &format!("{name} (cubes of 64 nodes)"), given(&[(key, &value)]))
    }));
    let words = "a checkpoint every hour of run time";
    all.push(change("checkpoint 3600", words, given(&[("checkpoint", AN_HOUR)])));
    all
}

impl Change {
    pub(super) fn applied(&self, present: &[Setting]) -> Vec<Setting> {
        let replaced =
            |setting: &&Setting| !self.settings.iter().any(|(key, _)| *key == setting.key);
        let kept = present.iter().filter(replaced).cloned();
        let added = self
            .settings
            .iter()
            .filter_map(|(key, value)| Some(Setting::new(*key, value.clone()?)));
        kept.chain(added).collect()
    }
}
