//! A machine's validated description.

use k8s_openapi::jiff::Timestamp;
use pavior::answers::Shape;
use pavior::boxes::{read_sides, volume, words};
use pavior::scheduling::{Selection as Scheduler, served};
use pavior::strategies::Selection as Strategy;
use pavior::text::shown;
use pavior::workload::Ask;
use pavior::{Cuboid, Freedom, Grid, Machine as Engine, NodeId, Occupancy, Request, Sides};
use pavior_cluster::gives_boxes;

use super::requirements::NodeRequirements;
use super::waiting::Prospect;
use crate::objects::{Job, MachineSpec, Maintenance, Node, Object as _};
use crate::world::JobGroup;

/// The default resource; each node has one unit of it.
pub(crate) const RESOURCE: &str = "pavior.dev/node";

/// A machine's validated description, in nodes.
#[derive(Clone, Debug)]
pub(crate) struct MachineConfig {
    /// The grid of nodes: the chip grid divided by a node's chips.
    pub(crate) grid: Grid,
    /// A node's chips along each axis.
    host: Sides,
    pub(crate) strategy: Strategy,
    pub(crate) scheduler: Scheduler,
    pub(crate) resource: String,
    /// True if the machine is only observed; there may then be no daemon to add our resource.
    pub(crate) is_observed: bool,
    /// The maximum number of queued Jobs per namespace.
    pub(crate) queued_per_namespace: usize,
    /// The maximum number of nodes per namespace.
    pub(crate) nodes_per_namespace: u32,
    pub(crate) patience_s: i64,
    /// The shapes whose free boxes are counted, as written and in nodes.
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

/// The fault reported for a Machine of another kind, such as `slices` from earlier versions.
const ONLY_BOXES: &str =
    "the only supported kind is boxes; for TPU slices, use Kueue's topology-aware scheduling";

/// The maximum number of distinct node requirements in a set.
const MAX_REQUIREMENTS: usize = 64;

/// Reasons for not queuing a Job.
#[derive(Debug)]
pub(crate) enum Rejection {
    /// The set may still be incomplete.
    Incomplete(String),
    /// The Job cannot be placed unless something changes.
    Stuck(Prospect, String),
}

const MAX_NODES: u32 = 1 << 20;

impl MachineConfig {
    /// Validates a description.
    ///
    /// # Errors
    /// Returns a sentence that names the field if the description is invalid.
    pub(crate) fn of(spec: &MachineSpec) -> Result<MachineConfig, String> {
        let bad =
            |field: &str, text: &str, why: String| format!("{field}: `{}`: {why}", shown(text));
        if let Some(kind) = spec.kind.as_deref().filter(|&kind| kind != "boxes") {
            return Err(bad("kind", kind, ONLY_BOXES.to_string()));
        }
        let chips: Grid = spec
            .grid
            .parse()
            .map_err(|error: pavior::BadName| bad("grid", &spec.grid, error.reason))?;
        let host = spec.host.as_deref().map_or(Ok([1; 3]), |text| {
            let sides = read_sides(text).filter(|_| text.split('x').count() == chips.axes());
            sides.ok_or_else(|| bad("host", text, format!("expected {} sides", chips.axes())))
        })?;
        let grid = divide(&chips, host)?;
        let strategy = spec.strategy.as_deref().unwrap_or("tff");
        let strategy: Strategy = strategy
            .parse()
            .map_err(|error: pavior::BadName| bad("strategy", strategy, error.reason))?;
        Engine::with_seed(grid, &strategy, 1).map_err(|error| format!("strategy: {error}"))?;
        if spec.strategy.is_some() && !gives_boxes(&strategy, &grid) {
            return Err(format!(
                "strategy: `{strategy}` does not give every Job one box of its shape; use one \
                 that does, such as tff"
            ));
        }
        let scheduler = spec.scheduler.as_deref().unwrap_or("easy");
        let scheduler: Scheduler = served(scheduler, None)
            .and_then(|served| served.parse())
            .map_err(|error: pavior::BadName| bad("scheduler", scheduler, error.reason))?;
        scheduler.build(()).map_err(|error| format!("scheduler: {error}"))?;
        if let Some(fault) = spec.nodes.fault(grid.axes()) {
            return Err(fault);
        }
        let mut config = MachineConfig {
            grid,
            host,
            strategy,
            scheduler,
            resource: spec.resource.clone().unwrap_or_else(|| RESOURCE.to_string()),
            is_observed: false,
            queued_per_namespace: spec.queued_per_namespace.unwrap_or(64),
            nodes_per_namespace: spec.nodes_per_namespace.unwrap_or(u32::MAX),
            patience_s: spec.patience_seconds.unwrap_or(60).min(86_400) as i64,
            slots: Vec::new(),
            maintenance: Vec::new(),
        };
        for text in spec.slots.iter().take(16) {
            let shape = config.shape(text).map_err(|why| bad("slots", text, why))?;
            config.slots.push((text.clone(), shape));
        }
        for one in &spec.maintenance {
            let downtime = config.downtime(one).map_err(|why| format!("maintenance: {why}"))?;
            config.maintenance.push(downtime);
        }
        Ok(config)
    }

    /// Validates a maintenance period.
    fn downtime(&self, one: &Maintenance) -> Result<Downtime, String> {
        let seconds = |text: &str| -> Result<u64, String> {
            let time = text.parse::<Timestamp>().ok().and_then(|at| at.as_second().try_into().ok());
            time.ok_or_else(|| format!("`{}` is not a time like 2026-12-01T08:00:00Z", shown(text)))
        };
        let (from, to) = (seconds(&one.from)?, seconds(&one.to)?);
        if from >= to {
            return Err(format!("it ends before it starts, at {}", shown(&one.from)));
        }
        let read = |text: &String| {
            let cuboid = self.read_box(text);
            cuboid.ok_or_else(|| format!("`{}` is not a box on {}", shown(text), self.grid))
        };
        let at = one.at.as_ref().map(read).transpose()?;
        Ok(Downtime { at, nodes: one.nodes.clone(), from, to })
    }

    /// Parses a box such as `4x4x2@0,0,6`.
    fn read_box(&self, text: &str) -> Option<Cuboid> {
        let (sides, base) = text.split_once('@')?;
        let axes = self.grid.axes();
        let numbers = base.split(',').map(str::parse).collect::<Result<Vec<u16>, _>>().ok()?;
        if sides.split('x').count() != axes || numbers.len() != axes {
            return None;
        }
        let mut base = [0; 3];
        base[..axes].copy_from_slice(&numbers);
        let cuboid = Cuboid::new(base, read_sides(sides)?);
        let is_on_grid =
            self.grid.contains(base) && Occupancy::all_free(self.grid).is_free(&cuboid);
        is_on_grid.then_some(cuboid)
    }

    /// Parses a shape in chips and converts it to nodes.
    ///
    /// # Errors
    /// Returns an error, which does not repeat the text, if no box of the machine has the shape.
    pub(crate) fn shape(&self, text: &str) -> Result<Shape, String> {
        let nodes = self.nodes(text)?;
        Ok(if self.turns() { Shape::new(nodes) } else { Shape::fixed(nodes) })
    }

    /// Returns true if a node accepts new pods and has the resource that they request.
    pub(crate) fn can_use(&self, node: &Node) -> bool {
        let may_be_added = self.is_observed && self.resource == RESOURCE;
        node.is_ready() && (may_be_added || node.offers(&self.resource))
    }

    /// Returns true if boxes may be turned, which requires that all sides of a host are equal.
    fn turns(&self) -> bool {
        self.host[..self.grid.axes()].iter().all(|&side| side == self.host[0])
    }

    /// Returns the sides, in nodes, of a shape in chips.
    fn nodes(&self, text: &str) -> Result<Sides, String> {
        let axes = self.grid.axes();
        if !has_shape_syntax(text) {
            return Err("pavior.dev/shape is not a valid shape; use 1 to 3 sides, such as 4x4x2"
                .to_string());
        }
        let count = text.split('x').count();
        if count != axes {
            return Err(format!("its shape has {count} sides, but the machine has {axes} axes"));
        }
        let Ok(Ask::Shape(chips)) = Ask::typed(Some(text), None, &self.grid) else {
            return Err(format!("its shape does not fit on {}", self.grid));
        };
        let mut nodes = [1; 3];
        for axis in 0..axes {
            if chips[axis] % self.host[axis] != 0 {
                let host = format_sides(self.host, axes);
                return Err(format!(
                    "the sides of its shape must be multiples of the host's sides, {host}"
                ));
            }
            nodes[axis] = chips[axis] / self.host[axis];
        }
        Ok(nodes)
    }

    /// Returns a group's request in nodes.
    ///
    /// # Errors
    /// Returns the reason for not queuing it, without user text.
    pub(crate) fn request(&self, group: &JobGroup<'_>) -> Result<Request, Rejection> {
        let nodes = self
            .nodes(group.first().shape().unwrap_or_default())
            .map_err(|why| Rejection::Stuck(Prospect::Invalid, why))?;
        check(group, volume(nodes))?;
        let request = Request::shape(nodes);
        Ok(if self.turns() { request } else { request.with_freedom(Freedom::Box) })
    }

    /// Formats a box as `4x4x2@0,0,6`.
    pub(crate) fn box_name(&self, cuboid: &Cuboid) -> String {
        words(&self.grid, cuboid).replacen(" at ", "@", 1)
    }

    /// Formats a node's coordinates, such as `0,3,1`.
    pub(crate) fn coordinates(&self, node: NodeId) -> String {
        let point = &self.grid.point(node)[..self.grid.axes()];
        point.iter().map(u16::to_string).collect::<Vec<_>>().join(",")
    }
}

/// Returns true if all sides have at most five digits and no leading zero, as the policies require.
fn has_shape_syntax(text: &str) -> bool {
    let is_side = |side: &str| {
        (1..=5).contains(&side.len())
            && !side.starts_with('0')
            && side.bytes().all(|byte| byte.is_ascii_digit())
    };
    text.split('x').all(is_side)
}

/// Checks that a group is complete and has the right number of pods.
///
/// # Errors
/// Returns the reason for not queuing it, without user text.
fn check(group: &JobGroup<'_>, nodes: u64) -> Result<(), Rejection> {
    let invalid = |why: &str| Err(Rejection::Stuck(Prospect::Invalid, why.to_string()));
    let is_indexed = |job: &&Job| job.spec.completion_mode.as_deref() == Some("Indexed");
    if !group.jobs().iter().all(is_indexed) {
        return invalid("its completionMode is not Indexed");
    }
    if group.first().is_of_a_set() && group.first().owner().is_none() {
        return invalid("pavior.dev/box=set requires a controller, such as a JobSet");
    }
    if let Some(why) = group.mismatch(nodes) {
        return Err(Rejection::Incomplete(why));
    }
    if group.is_suspended() {
        return Err(Rejection::Incomplete("a Job of its set is suspended".to_string()));
    }
    if NodeRequirements::distinct(group.jobs()).len() > MAX_REQUIREMENTS {
        return invalid(&format!(
            "the Jobs of its set have more than {MAX_REQUIREMENTS} different node requirements"
        ));
    }
    // The number of admitted pods may be too large, because a pod that ended after the quota was
    // reserved is counted twice.
    let is_partial = |job: &&Job| {
        let pods = job.quota.as_ref().filter(|quota| quota.reserved).and_then(|quota| quota.pods);
        pods.is_some_and(|pods| Some(pods) < job.spec.completions)
    };
    if group.jobs().iter().any(is_partial) {
        let why = "Kueue admits fewer pods than its shape has nodes";
        return Err(Rejection::Stuck(Prospect::Blocked, why.to_string()));
    }
    let is_elastic = |job: &&Job| job.spec.parallelism != job.spec.completions;
    if group.completions() != nodes || group.jobs().iter().any(is_elastic) {
        return invalid(&format!(
            "its shape has {nodes} nodes, so completions and parallelism must be {nodes}"
        ));
    }
    Ok(())
}

fn format_sides(sides: Sides, axes: usize) -> String {
    sides[..axes].iter().map(u16::to_string).collect::<Vec<_>>().join("x")
}

/// Converts a chip grid to a node grid.
fn divide(chips: &Grid, host: Sides) -> Result<Grid, String> {
    let axes = chips.axes();
    let mut sides = Vec::new();
    for (axis, side) in host.into_iter().enumerate().take(axes) {
        if chips.side(axis) % side != 0 {
            return Err("host: the sides must divide the grid's sides".to_string());
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
