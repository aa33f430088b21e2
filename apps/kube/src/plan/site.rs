//! A machine as its operator describes it, read once.

use pavior::answers::Shape;
use pavior::boxes::{read_sides, volume};
use pavior::scheduling::Selection as Scheduler;
use pavior::strategies::Selection as Strategy;
use pavior::text::shown;
use pavior::workload::Ask;
use pavior::{Cuboid, Freedom, Grid, Machine as Engine, NodeId, Request, Sides};

use super::demands::Demands;
use crate::objects::{Job, Known as _, MachineSpec, Node};
use crate::unit::Unit;

/// The resource of which a node has one, where the operator names none.
pub(crate) const RESOURCE: &str = "pavior.dev/node";

/// What a machine is made of.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    /// Of nodes: the grid of chips, divided by the chips of a node.
    pub(crate) grid: Grid,
    /// The chips of a node, by axis.
    host: Sides,
    pub(crate) strategy: Strategy,
    pub(crate) scheduler: Scheduler,
    pub(crate) resource: String,
    /// Whether it is only looked at: then no copy has added our resource to the nodes.
    pub(crate) observed: bool,
    /// The most waiting Jobs of a namespace that are looked at.
    pub(crate) queued: usize,
    /// The most nodes that Jobs of a namespace hold.
    pub(crate) held: u32,
    pub(crate) patience_s: i64,
    /// Shapes of which the free boxes are counted, as they are written and in nodes.
    pub(crate) slots: Vec<(String, Shape)>,
}

/// The fault of a machine of another kind, such as `slices` of earlier builds.
const ONLY_BOXES: &str =
    "the only kind is boxes; for TPU slices use the topology-aware scheduling of Kueue";

/// The most different selectors, affinities and tolerations of a set.
const TEMPLATES: usize = 64;

/// Why a Job is not placed as it is.
#[derive(Debug)]
pub(crate) enum Refused {
    /// Its set may still be being made.
    Incomplete(String),
    /// It must be changed.
    Never(String),
}

/// The most nodes of a machine that is placed on.
const NODES: u32 = 1 << 20;

impl Site {
    /// Reads it.
    ///
    /// # Errors
    /// A sentence that names the field at fault.
    pub(crate) fn of(spec: &MachineSpec) -> Result<Site, String> {
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
            sides.ok_or_else(|| bad("host", text, format!("{} sides, such as 2x2", chips.axes())))
        })?;
        let grid = divided(&chips, host)?;
        let strategy = spec.strategy.as_deref().unwrap_or("tff");
        let strategy: Strategy = strategy
            .parse()
            .map_err(|error: pavior::BadName| bad("strategy", strategy, error.reason))?;
        Engine::with_seed(grid, &strategy, 1).map_err(|error| format!("strategy: {error}"))?;
        if !strategy.entry.does.contiguous {
            return Err("strategy: it does not give boxes; tff does".to_string());
        }
        let scheduler = spec.scheduler.as_deref().unwrap_or("easy");
        let scheduler: Scheduler = scheduler
            .parse()
            .map_err(|error: pavior::BadName| bad("scheduler", scheduler, error.reason))?;
        scheduler.build(()).map_err(|error| format!("scheduler: {error}"))?;
        if let Some(fault) = spec.nodes.fault(grid.axes()) {
            return Err(fault);
        }
        let mut site = Site {
            grid,
            host,
            strategy,
            scheduler,
            resource: spec.resource.clone().unwrap_or_else(|| RESOURCE.to_string()),
            observed: false,
            queued: spec.queued_per_namespace.unwrap_or(64),
            held: spec.nodes_per_namespace.unwrap_or(u32::MAX),
            patience_s: spec.patience_seconds.unwrap_or(60).min(86_400) as i64,
            slots: Vec::new(),
        };
        for text in spec.slots.iter().take(16) {
            let shape = site.shape(text).map_err(|why| bad("slots", text, why))?;
            site.slots.push((text.clone(), shape));
        }
        Ok(site)
    }

    /// A shape in chips as one in nodes.
    ///
    /// # Errors
    /// Why it is none of the machine's, in words that repeat nothing of it.
    pub(crate) fn shape(&self, text: &str) -> Result<Shape, String> {
        let nodes = self.nodes(text)?;
        Ok(if self.turns() { Shape::new(nodes) } else { Shape::fixed(nodes) })
    }

    /// Whether a node has what its pods take all of.
    pub(crate) fn has_its_resource(&self, node: &Node) -> bool {
        (self.observed && self.resource == RESOURCE) || node.offers(&self.resource)
    }

    /// Whether a turned box of nodes is a turned box of chips: chips are turned with their node.
    fn turns(&self) -> bool {
        self.host[..self.grid.axes()].iter().all(|&side| side == self.host[0])
    }

    /// The sides of a shape in nodes.
    fn nodes(&self, text: &str) -> Result<Sides, String> {
        let axes = self.grid.axes();
        if !is_written(text) {
            return Err("its shape is none; write one such as 4x4x2".to_string());
        }
        let Ok(Ask::Shape(chips)) = Ask::typed(Some(text), None, &self.grid) else {
            return Err(format!("its shape has not {axes} sides that the machine can have"));
        };
        let mut nodes = [1; 3];
        for axis in 0..axes {
            if chips[axis] % self.host[axis] != 0 {
                let host = written(self.host, axes);
                return Err(format!("its shape is not made of nodes of {host} chips"));
            }
            nodes[axis] = chips[axis] / self.host[axis];
        }
        Ok(nodes)
    }

    /// What a Job asks for, in nodes.
    ///
    /// # Errors
    /// Why it is never placed, in words that repeat nothing of it.
    pub(crate) fn request(&self, unit: &Unit<'_>) -> Result<Request, Refused> {
        let nodes = self.nodes(unit.first().shape().unwrap_or_default()).map_err(Refused::Never)?;
        sound(unit, volume(nodes))?;
        let request = Request::shape(nodes);
        Ok(if self.turns() { request } else { request.with_freedom(Freedom::Box) })
    }

    /// The box in words, such as `4x4x2@0,0,6`.
    pub(crate) fn words(&self, cuboid: &Cuboid) -> String {
        let axes = self.grid.axes();
        let base = cuboid.base[..axes].iter().map(u16::to_string).collect::<Vec<_>>();
        format!("{}@{}", written(cuboid.sides, axes), base.join(","))
    }

    /// The coordinates of a node, such as `0,3,1`.
    pub(crate) fn coordinates(&self, node: NodeId) -> String {
        let point = &self.grid.point(node)[..self.grid.axes()];
        point.iter().map(u16::to_string).collect::<Vec<_>>().join(",")
    }
}

/// Whether a shape is written as shapes are.
fn is_written(text: &str) -> bool {
    let digits = |side: &str| {
        (1..=5).contains(&side.len())
            && !side.starts_with('0')
            && side.bytes().all(|byte| byte.is_ascii_digit())
    };
    text.split('x').all(digits)
}

/// Whether all of a unit is there and has so many nodes.
///
/// # Errors
/// Why it is not placed, in words that repeat nothing of it.
fn sound(unit: &Unit<'_>, nodes: u64) -> Result<(), Refused> {
    let never = |why: &str| Err(Refused::Never(why.to_string()));
    let indexed = |job: &&Job| job.spec.completion_mode.as_deref() == Some("Indexed");
    if !unit.jobs().iter().all(indexed) {
        return never("it is not Indexed: its pods have no ranks");
    }
    if unit.first().is_of_a_set() && unit.first().owner().is_none() {
        return never("it says pavior.dev/box: set, and belongs to no set");
    }
    if let Some(why) = unit.lacks(nodes) {
        return Err(Refused::Incomplete(why));
    }
    if unit.is_suspended() {
        return Err(Refused::Incomplete("a Job of its set is suspended".to_string()));
    }
    if Demands::of_all(unit.jobs()).len() > TEMPLATES {
        return never(&format!("its set has more than {TEMPLATES} demands on nodes"));
    }
    // A pod may have ended since the quota was counted, and is then counted twice.
    let cut = |job: &&Job| {
        let pods = job.quota.as_ref().filter(|quota| quota.reserved).and_then(|quota| quota.pods);
        pods.is_some_and(|pods| Some(pods) < job.spec.completions)
    };
    if unit.jobs().iter().any(cut) {
        return never("Kueue lets it have another number of pods, which is no box");
    }
    let elastic = |job: &&Job| job.spec.parallelism != job.spec.completions;
    if unit.completions() != nodes || unit.jobs().iter().any(elastic) {
        return never(&format!(
            "its shape has {nodes} nodes: completions and parallelism must be as many"
        ));
    }
    Ok(())
}

fn written(sides: Sides, axes: usize) -> String {
    sides[..axes].iter().map(u16::to_string).collect::<Vec<_>>().join("x")
}

/// The grid of nodes with so many chips each.
fn divided(chips: &Grid, host: Sides) -> Result<Grid, String> {
    let axes = chips.axes();
    let mut sides = Vec::new();
    for (axis, own) in host.into_iter().enumerate().take(axes) {
        if chips.side(axis) % own != 0 {
            return Err("host: its sides do not divide those of the grid".to_string());
        }
        sides.push(chips.side(axis) / own);
    }
    let wraps: Vec<bool> = (0..axes).map(|axis| chips.wraps(axis)).collect();
    let grid = Grid::new(&sides, &wraps).map_err(|error| format!("grid: {error}"))?;
    if grid.nodes() > NODES {
        return Err(format!("grid: more than {NODES} nodes"));
    }
    Ok(grid)
}
