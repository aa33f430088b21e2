//! The TOML configuration file.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use pavior::boxes::read_sides;
use pavior::files::{Limits, read_text};
use pavior::strategies::Selection;
use pavior::text::{message, shown};
use pavior::{Grid, Machine, NodeId, Sides, scheduling};
use pavior_cluster::grants_exact_boxes;
use serde::Deserialize;

use crate::SlurmError;
use crate::names::patterns::{self, Nodes};
use crate::names::{NodeName, is_safe_name};

/// The default name of the gate's license and of the reservation that contains it.
pub(crate) const LICENSE: &str = "pavior";

/// The maximum number of shapes in `slots`.
const MAX_SLOTS: usize = 16;
/// The maximum value of any time setting in the configuration, in that setting's unit.
const MAX_INTERVAL: u64 = 3_600_000;

/// The daemon's configuration.
#[derive(Clone)]
pub struct Config {
    /// The machine.
    pub grid: Grid,
    /// The node names, indexed by node number.
    pub(crate) names: Vec<NodeName>,
    /// The nodes, by name.
    pub(crate) nodes: HashMap<NodeName, NodeId>,
    /// The partitions whose jobs are placed. They must contain every node in the machine.
    pub partitions: Vec<String>,
    /// The partition names, joined with commas for Slurm commands.
    pub(crate) partition: String,
    /// The name of the license that the gate adds to jobs, and of the reservation that contains it.
    pub license: String,
    /// The job field that contains notes to users.
    pub(crate) note_field: NoteField,
    /// The strategy that places jobs.
    pub strategy: Selection,
    /// The order in which waiting jobs may start.
    pub(crate) order: Order,
    /// The time between cycles, in milliseconds.
    pub poll_ms: u64,
    /// The maximum time, in seconds, that a job may take to start after its gate opens.
    pub patience_s: u64,
    /// The minimum time before a closed gate reopens or a requeued job starts again, in seconds.
    pub cooldown_s: u64,
    /// The address at which metrics are served.
    pub metrics: Option<String>,
    /// The file whose lock determines which of several daemons is active.
    pub lock: Option<PathBuf>,
    /// The shapes for which the metrics report slots.
    pub(crate) slots: Vec<Sides>,
}

/// The configuration file as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ConfigFile {
    machine: String,
    nodes: Nodes,
    /// The lowest number or coordinate in a node name pattern.
    first: Option<u32>,
    partition: Option<String>,
    partitions: Option<Vec<String>>,
    #[serde(rename = "licence")]
    license: Option<String>,
    #[serde(default, rename = "tell")]
    note_field: NoteField,
    strategy: Option<String>,
    #[serde(default)]
    order: Order,
    poll_ms: Option<u64>,
    patience_s: Option<u64>,
    cooldown_s: Option<u64>,
    metrics: Option<String>,
    lock: Option<PathBuf>,
    #[serde(default)]
    slots: Vec<String>,
}

/// The job field for notes that say why a job is waiting or where it runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum NoteField {
    /// A field that only operators can write.
    #[default]
    AdminComment,
    /// A field available since Slurm 23.02.
    Extra,
    #[serde(rename = "none")]
    Nowhere,
}

impl NoteField {
    /// Returns the name that `scontrol` uses for the field.
    pub(crate) fn field(self) -> Option<&'static str> {
        match self {
            NoteField::AdminComment => Some("AdminComment"),
            NoteField::Extra => Some("Extra"),
            NoteField::Nowhere => None,
        }
    }
}

/// The order in which waiting jobs may start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Order {
    /// Only the first waiting job may start.
    Strict,
    /// Any job that fits may start.
    Fit,
    /// Other jobs may start only if they do not delay the first waiting job.
    #[default]
    Easy,
}

impl Order {
    /// Returns the name of the scheduler that enforces this order.
    fn scheduler(self) -> &'static str {
        match self {
            Order::Strict => "fcfs",
            Order::Fit => "scan-all",
            // Users may underestimate how long their jobs will run.
            Order::Easy => "easy:promise=holds",
        }
    }
}

impl Config {
    /// Reads a configuration file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or its contents are invalid.
    pub fn read(path: &Path) -> Result<Config, SlurmError> {
        let text = read_text(path, Limits::DOCUMENT);
        let text = text.map_err(|error| SlurmError::Config(error.to_string()))?;
        Config::parse(&text)
            .map_err(|reason| SlurmError::Config(message(&format!("{}: {reason}", path.display()))))
    }

    /// Parses a configuration.
    ///
    /// # Errors
    /// Returns an error if the configuration is invalid. The text names the invalid key.
    pub fn parse(text: &str) -> Result<Config, String> {
        let file: ConfigFile = toml::from_str(text).map_err(|error| error.to_string())?;
        let grid: Grid = file.machine.parse().map_err(|error: pavior::BadName| {
            format!("machine = \"{}\": {}", file.machine, error.reason)
        })?;
        let names = patterns::names(&grid, file.nodes, file.first)?;
        let numbered = names.iter().enumerate();
        let nodes = numbered.map(|(id, name)| (name.clone(), NodeId(id as u32))).collect();
        let partitions = partitions(file.partition, file.partitions)?;
        let license = file.license.unwrap_or_else(|| LICENSE.into());
        if !is_safe_name(&license) {
            return Err(format!("licence = \"{}\": not a valid Slurm name", shown(&license)));
        }
        if file.lock.as_ref().is_some_and(|path| !path.is_absolute()) {
            return Err("lock: must be an absolute path".into());
        }
        Ok(Config {
            grid,
            names,
            nodes,
            partition: partitions.join(","),
            partitions,
            license,
            note_field: file.note_field,
            strategy: strategy(file.strategy.as_deref().unwrap_or("tff"), &grid)?,
            order: file.order,
            poll_ms: interval("poll_ms", file.poll_ms.unwrap_or(500), 10)?,
            patience_s: interval("patience_s", file.patience_s.unwrap_or(10), 0)?.max(1),
            cooldown_s: interval("cooldown_s", file.cooldown_s.unwrap_or(10), 5)?,
            metrics: file.metrics,
            lock: file.lock,
            slots: slots(&file.slots, &grid)?,
        })
    }

    pub(crate) fn name(&self, node: NodeId) -> &NodeName {
        &self.names[node.index()]
    }

    /// Returns the scheduler that selects the next job: `fcfs`, `scan-all` or `easy`.
    pub(crate) fn scheduler(&self) -> scheduling::Selection {
        self.order.scheduler().parse().expect("the name of a scheduler")
    }

    /// Formats the sides of a box on this machine, for example as `2x3`.
    pub(crate) fn size(&self, sides: Sides) -> String {
        let sides = sides[..self.grid.axes()].iter().map(u16::to_string);
        sides.collect::<Vec<_>>().join("x")
    }
}

/// Parses the strategy, which must support the machine and grant exactly the requested boxes.
fn strategy(name: &str, grid: &Grid) -> Result<Selection, String> {
    let strategy: Selection = name
        .parse()
        .map_err(|error: pavior::BadName| format!("strategy = \"{name}\": {}", error.reason))?;
    Machine::with_seed(*grid, &strategy, 1).map_err(|error| format!("strategy: {error}"))?;
    if grants_exact_boxes(&strategy, grid) {
        return Ok(strategy);
    }
    Err(format!(
        "strategy = \"{name}\": does not give each job a single box of its shape; use a strategy \
         that does, such as tff"
    ))
}

/// Checks that a time is between `min` and [`MAX_INTERVAL`].
fn interval(key: &str, value: u64, min: u64) -> Result<u64, String> {
    if (min..=MAX_INTERVAL).contains(&value) {
        return Ok(value);
    }
    Err(format!("{key} = {value}: must be from {min} to {MAX_INTERVAL}"))
}

fn slots(shapes: &[String], grid: &Grid) -> Result<Vec<Sides>, String> {
    if shapes.len() > MAX_SLOTS {
        return Err(format!("slots: must not contain more than {MAX_SLOTS} shapes"));
    }
    let axes = grid.axes();
    let parse = |text: &String| {
        let sides = read_sides(text).filter(|_| text.split('x').count() == axes);
        sides.ok_or_else(|| {
            format!("slots: \"{}\": expected {axes} sides, separated by x", shown(text))
        })
    };
    shapes.iter().map(parse).collect()
}

/// Validates the partitions, which are given either as one name or as a list.
fn partitions(one: Option<String>, several: Option<Vec<String>>) -> Result<Vec<String>, String> {
    let all = match (one, several) {
        (Some(one), None) => vec![one],
        (None, Some(several)) => several,
        _ => return Err("set exactly one of partition and partitions".into()),
    };
    if let Some(bad) = all.iter().find(|name| !is_safe_name(name)) {
        return Err(format!("partition = \"{}\": not a valid Slurm name", shown(bad)));
    }
    let distinct: HashSet<&String> = all.iter().collect();
    if all.is_empty() || distinct.len() < all.len() {
        return Err("partitions: must not be empty or contain duplicates".into());
    }
    Ok(all)
}

#[cfg(test)]
impl Config {
    /// Returns a configuration with partition `p` and nodes named `n0`, `n1` and so on.
    pub(crate) fn of_machine(machine: &str) -> Config {
        Config::with_lines(machine, "")
    }

    /// Like [`Config::of_machine`], but with more lines.
    pub(crate) fn with_lines(machine: &str, lines: &str) -> Config {
        let text = format!("machine = \"{machine}\"\nnodes = \"n{{}}\"\npartition = \"p\"\n");
        Config::parse(&(text + lines)).unwrap()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "machine = \"mesh:4x2\"\nnodes = \"n{:02}\"\npartition = \"mesh\"\n";

    fn fault(text: &str) -> String {
        Config::parse(text).err().expect("refused")
    }

    #[test]
    fn patterns_and_tables_name_nodes() {
        let config = Config::parse(GOOD).unwrap();
        let fifth = config.nodes[&"n05".parse().unwrap()];
        assert_eq!((config.name(NodeId(7)).as_str(), fifth), ("n07", NodeId(5)));
        let table = "machine = \"mesh:2\"\npartition = \"p\"\nnodes = { b = [0], a = [1] }\n";
        let config = Config::parse(table).unwrap();
        assert_eq!([0, 1].map(|node| config.name(NodeId(node)).as_str()), ["b", "a"]);
    }

    #[test]
    fn patterns_with_coordinates_and_lists_name_nodes() {
        let names = |machine: &str, nodes: &str| {
            let text = format!("machine = \"{machine}\"\npartition = \"p\"\nnodes = {nodes}\n");
            let config = Config::parse(&text).map_err(|fault| format!("{text}: {fault}"))?;
            let nodes = 0..config.nodes.len() as u32;
            let names = nodes.map(|node| config.name(NodeId(node)).to_string());
            Ok::<String, String>(names.collect::<Vec<_>>().join(" "))
        };
        for (machine, nodes, expected) in [
            (
                "torus:2x2x2",
                "\"n{x}-{y}-{z}\"",
                "n1-1-1 n2-1-1 n1-2-1 n2-2-1 n1-1-2 n2-1-2 n1-2-2 n2-2-2",
            ),
            ("mesh:2x2", "\"r{y:02}c{x}\"\nfirst = 0", "r00c0 r00c1 r01c0 r01c1"),
            ("mesh:3", "\"n{:02}\"\nfirst = 8", "n08 n09 n10"),
            ("mesh:3", "\"n{x:03}.a\"", "n001.a n002.a n003.a"),
            (
                "mesh:4x2",
                "\"c[01-04]u[02,08]\"",
                "c01u02 c01u08 c02u02 c02u08 c03u02 c03u08 c04u02 c04u08",
            ),
            ("mesh:2x2", "[\"b[1-2]\", \"a[7,3]\"]", "b1 b2 a7 a3"),
            ("mesh:1", "\"solo\"", "solo"),
        ] {
            assert_eq!(names(machine, nodes), Ok(expected.to_string()));
        }
        for (machine, nodes, reason) in [
            ("torus:2x2x2", "\"n{x}-{y}\"", "the pattern has no {z}"),
            ("mesh:2x2", "\"n{x}{y}{z}\"", "no z axis"),
            ("mesh:2x2", "\"n{x}{}\"", "either one {} or {x}"),
            ("mesh:2x2", "\"n{w}\"", "once for the number"),
            ("mesh:2x2", "\"n{x\"", "once for the number"),
            ("mesh:2x2", "\"n{x:99}{y}\"", "once for the number"),
            ("mesh:12x12", "\"n{x}{y}\"", "two nodes"),
            ("mesh:2x2", "\"n[1-3]\"", "expected 4 names, but found 3"),
            ("mesh:2x2", "\"n[3-1]\"", "or list of names"),
            ("mesh:2x2", "[\"n[1-2]\", \"n[2-3]\"]", "two nodes"),
            ("mesh:2x2", "\"n[1-4]\"\nfirst = 1", "first: applies only"),
            ("mesh:2x2", "7", "a pattern such as n{:03}"),
        ] {
            let found = names(machine, nodes).unwrap_err();
            assert!(found.contains(reason) && !found.contains("variant"), "{reason}: {found}");
        }
    }

    #[test]
    fn errors_name_the_key() {
        for (from, to, word) in [
            ("4x2", "4y2", "machine"),
            ("{:02}", "", "nodes"),
            ("{:02}", "{:x}", "nodes"),
            ("\"n{:02}\"", "{ a = [0, 0], b = [9, 9] }", "nodes.b"),
            ("\"n{:02}\"", "{ a = [0, 0] }", "[1, 0] has no name"),
            ("\"mesh\"", "\"a b\"", "partition"),
            // Slurm commands would interpret either name as an option.
            ("\"mesh\"", "\"-a\"", "partition"),
            ("n{:02}", "-n{:02}", "not a valid Slurm name"),
            ("n{:02}", "n\\n{:02}", "not a valid Slurm name"),
            ("n{:02}", "n{:02}=", "not a valid Slurm name"),
        ] {
            let text = GOOD.replace(from, to);
            assert!(fault(&text).contains(word), "{text}: {}", fault(&text));
        }
        assert!(fault(&format!("{GOOD}strategy = \"tfff\"\n")).contains("strategy"));
        assert!(fault(&format!("{GOOD}licence = \"a b\"\n")).contains("licence"));
        assert!(fault(&format!("{GOOD}tell = \"all\"\n")).contains("tell"));
        let both = fault(&format!("{GOOD}partitions = [\"a\"]\n"));
        assert!(both.contains("set exactly one of partition and partitions"), "{both}");
        for several in ["[]", "[\"a\", \"a\"]", "[\"a,b\"]"] {
            let text = GOOD.replace("partition = \"mesh\"", &format!("partitions = {several}"));
            assert!(fault(&text).contains("partition"), "{text}");
        }
        assert!(fault(&format!("{GOOD}order = \"best\"\n")).contains("order"));
        assert!(fault(&format!("{GOOD}polls = 3\n")).contains("polls"));
        assert!(fault(&format!("{GOOD}lock = \"a\"\n")).contains("lock"));
        assert!(fault(&format!("{GOOD}cooldown_s = 1\n")).contains("from 5"));
        assert!(fault(&format!("{GOOD}patience_s = {}\n", i64::MAX)).contains("patience_s"));
    }

    #[test]
    fn several_partitions_and_another_license_are_accepted() {
        let text = GOOD.replace("partition = \"mesh\"", "partitions = [\"mesh\", \"low\"]");
        let config = Config::parse(&(text + "licence = \"torus\"\ntell = \"none\"\n")).unwrap();
        assert_eq!((config.partition.as_str(), config.license.as_str()), ("mesh,low", "torus"));
        assert_eq!(config.note_field, NoteField::Nowhere);
    }

    #[test]
    fn strategies_that_do_not_grant_exact_boxes_are_rejected() {
        let refused = |name: &str| Config::parse(&format!("{GOOD}strategy = \"{name}\"\n")).err();
        for name in ["tff", "ff", "bf", "tbl", "as", "adj", "qa", "sba", "mfa", "fl", "rbs", "choo"]
        {
            assert_eq!(refused(name), None, "{name}");
        }
        for name in
            ["mbs", "random", "connected", "gabl", "anca", "mc", "linear-best", "bluegene", "2db"]
        {
            let fault = refused(name).unwrap_or_default();
            assert!(fault.contains("strategy"), "{name}: {fault}");
        }
    }
}
