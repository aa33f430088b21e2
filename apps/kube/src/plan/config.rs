//! Validates machine descriptions.

use k8s_openapi::jiff::Timestamp;
use pavior::answers::Shape;
use pavior::boxes::{read_sides, words};
use pavior::scheduling::{Selection as Scheduler, served};
use pavior::strategies::Selection as Strategy;
use pavior::text::shown;
use pavior::workload::Ask;
use pavior::{BadName, Cuboid, Grid, Machine as Engine, NodeId, Sides};
use pavior_cluster::grants_exact_boxes;

use super::node_map::check_source;
use crate::objects::{MachineSpec, Maintenance, parse_digits};

/// The default resource. Each node has one unit of it.
pub(crate) const RESOURCE: &str = "pavior.dev/node";

const MAX_NODES: u32 = 1 << 20;
/// The maximum number of shapes for which free boxes are counted.
const MAX_SLOTS: usize = 16;
const MAX_PATIENCE_S: u64 = 86_400;

/// The validated description of a machine, with shapes in nodes rather than chips.
#[derive(Clone, Debug)]
pub(crate) struct MachineConfig {
    /// The grid of nodes: the chip grid divided by the number of chips per node on each axis.
    pub(crate) grid: Grid,
    /// The number of chips in a node along each axis.
    host: Sides,
    pub(crate) strategy: Strategy,
    pub(crate) scheduler: Scheduler,
    pub(crate) resource: String,
    /// The maximum number of Jobs that a namespace may have in the queue.
    pub(crate) queued_per_namespace: usize,
    /// The maximum number of nodes that a namespace may hold.
    pub(crate) nodes_per_namespace: u32,
    pub(crate) patience_s: i64,
    /// The shapes for which free boxes are counted, both as written and in nodes.
    pub(crate) slots: Vec<(String, Shape)>,
    pub(crate) maintenance: Vec<Downtime>,
}

/// A maintenance period with valid times, in seconds since 1970.
#[derive(Clone, Debug)]
pub(crate) struct Downtime {
    pub(crate) at: Option<Cuboid>,
    pub(crate) nodes: Vec<String>,
    pub(crate) from: u64,
    pub(crate) to: u64,
}

impl MachineConfig {
    /// Validates a description.
    ///
    /// # Errors
    /// Returns a sentence that names the invalid field.
    pub(crate) fn of(spec: &MachineSpec) -> Result<MachineConfig, String> {
        let chips: Grid =
            spec.grid.parse().map_err(|error: BadName| fault("grid", &spec.grid, &error.reason))?;
        let host = spec.host.as_deref().map_or(Ok([1; 3]), |text| {
            let sides = read_sides(text).filter(|_| text.split('x').count() == chips.axes());
            sides.ok_or_else(|| fault("host", text, &format!("expected {} sides", chips.axes())))
        })?;
        let grid = divide(&chips, host)?;
        let strategy = parse_strategy(spec.strategy.as_deref(), grid)?;
        let scheduler = parse_scheduler(spec.scheduler.as_deref())?;
        check_source(&spec.nodes, grid.axes())?;
        let mut config = MachineConfig {
            grid,
            host,
            strategy,
            scheduler,
            resource: spec.resource.clone().unwrap_or_else(|| RESOURCE.to_string()),
            queued_per_namespace: spec.queued_per_namespace.unwrap_or(64),
            nodes_per_namespace: spec.nodes_per_namespace.unwrap_or(u32::MAX),
            patience_s: spec.patience_seconds.unwrap_or(60).min(MAX_PATIENCE_S) as i64,
            slots: Vec::new(),
            maintenance: Vec::new(),
        };
        for text in spec.slots.iter().take(MAX_SLOTS) {
            let shape = config.shape(text).map_err(|why| fault("slots", text, &why))?;
            config.slots.push((text.clone(), shape));
        }
        for period in &spec.maintenance {
            let downtime = config.downtime(period).map_err(|why| format!("maintenance: {why}"))?;
            config.maintenance.push(downtime);
        }
        Ok(config)
    }

    /// Validates a maintenance period.
    fn downtime(&self, period: &Maintenance) -> Result<Downtime, String> {
        let seconds = |text: &str| -> Result<u64, String> {
            let time = text.parse::<Timestamp>().ok().and_then(|at| at.as_second().try_into().ok());
            time.ok_or_else(|| {
                format!("`{}` is not a time of the form 2026-12-01T08:00:00Z", shown(text))
            })
        };
        let (from, to) = (seconds(&period.from)?, seconds(&period.to)?);
        if from >= to {
            return Err(format!("it must end after it starts ({})", shown(&period.from)));
        }
        let parse = |text: &String| {
            let cuboid = self.parse_box(text);
            cuboid.ok_or_else(|| format!("`{}` is not a box on {}", shown(text), self.grid))
        };
        let at = period.at.as_ref().map(parse).transpose()?;
        Ok(Downtime { at, nodes: period.nodes.clone(), from, to })
    }

    /// Parses a box such as `4x4x2@0,0,6`.
    fn parse_box(&self, text: &str) -> Option<Cuboid> {
        let (sides, base) = text.split_once('@')?;
        let axes = self.grid.axes();
        let numbers = base.split(',').map(parse_digits).collect::<Option<Vec<u16>>>()?;
        if sides.split('x').count() != axes || numbers.len() != axes {
            return None;
        }
        let mut base = [0; 3];
        base[..axes].copy_from_slice(&numbers);
        let cuboid = Cuboid::new(base, read_sides(sides)?);
        cuboid.lies_on(&self.grid).then_some(cuboid)
    }

    /// Parses a shape in chips and converts it to nodes. The shape may be larger than the machine.
    ///
    /// # Errors
    /// Returns the reason, in a sentence, if the text is not a shape in whole nodes.
    pub(crate) fn shape(&self, text: &str) -> Result<Shape, String> {
        let nodes = self.sides_in_nodes(text, "the shape")?;
        Ok(if self.turns() { Shape::new(nodes) } else { Shape::fixed(nodes) })
    }

    /// Returns true if boxes may be rotated, which requires all sides of a host to be equal.
    pub(super) fn turns(&self) -> bool {
        self.host[..self.grid.axes()].iter().all(|&side| side == self.host[0])
    }

    /// Converts a shape in chips to its sides in nodes.
    ///
    /// # Errors
    /// Returns a sentence that does not quote the shape but refers to it as `name`, for example
    /// `its shape`.
    pub(super) fn sides_in_nodes(&self, text: &str, name: &str) -> Result<Sides, String> {
        let axes = self.grid.axes();
        if !has_shape_syntax(text) {
            return Err(format!("{name} is not valid; use 1 to 3 sides, such as 4x4x2"));
        }
        let sides = text.split('x').count();
        if sides != axes {
            return Err(format!("{name} has {sides} sides, but the machine has {axes} axes"));
        }
        let Ok(Ask::Shape(chips)) = Ask::typed(Some(text), None, &self.grid) else {
            return Err(format!("{name} does not fit on the machine"));
        };
        let mut nodes = [1; 3];
        for axis in 0..axes {
            if chips[axis] % self.host[axis] != 0 {
                let host = format_sides(self.host, axes);
                let why = "must be multiples of the host's sides";
                return Err(format!("the sides of {name} {why}, {host}"));
            }
            nodes[axis] = chips[axis] / self.host[axis];
        }
        Ok(nodes)
    }

    /// Formats a box, for example as `4x4x2@0,0,6`.
    pub(crate) fn box_name(&self, cuboid: &Cuboid) -> String {
        words(&self.grid, cuboid).replacen(" at ", "@", 1)
    }

    /// Formats a node's coordinates, for example as `0,3,1`.
    pub(crate) fn coordinates(&self, node: NodeId) -> String {
        let point = &self.grid.point(node)[..self.grid.axes()];
        point.iter().map(u16::to_string).collect::<Vec<_>>().join(",")
    }
}

/// Formats an error about a field.
fn fault(field: &str, text: &str, why: &str) -> String {
    format!("{field}: `{}`: {why}", shown(text))
}

/// Parses a strategy. The default is `tff`.
fn parse_strategy(text: Option<&str>, grid: Grid) -> Result<Strategy, String> {
    let name = text.unwrap_or("tff");
    let strategy: Strategy =
        name.parse().map_err(|error: BadName| fault("strategy", name, &error.reason))?;
    Engine::with_seed(grid, &strategy, 1).map_err(|error| format!("strategy: {error}"))?;
    if text.is_some() && !grants_exact_boxes(&strategy, &grid) {
        return Err(format!(
            "strategy: `{strategy}` does not give every Job a single box of its shape; use a \
             strategy that does, such as tff"
        ));
    }
    Ok(strategy)
}

/// Parses a scheduler. The default is `easy`.
fn parse_scheduler(text: Option<&str>) -> Result<Scheduler, String> {
    let name = text.unwrap_or("easy");
    let scheduler: Scheduler = served(name, None)
        .and_then(|served| served.parse())
        .map_err(|error: BadName| fault("scheduler", name, &error.reason))?;
    scheduler.build(()).map_err(|error| format!("scheduler: {error}"))?;
    Ok(scheduler)
}

/// Returns true if every side has at most five digits and no leading zero, as the policies require.
pub(crate) fn has_shape_syntax(text: &str) -> bool {
    let is_side = |side: &str| {
        (1..=5).contains(&side.len())
            && !side.starts_with('0')
            && side.bytes().all(|byte| byte.is_ascii_digit())
    };
    text.split('x').all(is_side)
}

fn format_sides(sides: Sides, axes: usize) -> String {
    sides[..axes].iter().map(u16::to_string).collect::<Vec<_>>().join("x")
}

/// Converts a grid of chips to a grid of nodes.
fn divide(chips: &Grid, host: Sides) -> Result<Grid, String> {
    let axes = chips.axes();
    let mut sides = Vec::new();
    for (axis, side) in host.into_iter().enumerate().take(axes) {
        if chips.side(axis) % side != 0 {
            return Err("host: each side must divide the corresponding grid side".to_string());
        }
        sides.push(chips.side(axis) / side);
    }
    let wraps: Vec<bool> = (0..axes).map(|axis| chips.wraps(axis)).collect();
    let grid = Grid::new(&sides, &wraps).map_err(|error| format!("grid: {error}"))?;
    if grid.nodes() > MAX_NODES {
        return Err(format!("grid: at most {MAX_NODES} nodes are supported"));
    }
    Ok(grid)
}
