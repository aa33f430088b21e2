//! Which cubes the Jobs that wait get.
//!
//! A Slice has cubes of one block. Of the blocks with enough free cubes the one with the fewest is
//! taken, and in it those that the strategy `tpu` chooses. If no block has enough, one is kept for
//! the Job, and no Job behind it gets cubes of it: so it starts when they are free, however many
//! small ones come. That is the block with the most of those that will have enough once our Slices
//! have ended. A Job whose Slice failed stands first, and may have the spares.

use std::collections::HashMap;
use std::ops::Range;

use pavior_allocation::{Machine as Engine, Selection};
use pavior_mesh::{Cubes, Grid, JobId, Request};

use super::failures::Failures;
use super::yard::{Health, Topology};
use super::{Lot, Use};
use crate::objects::{Known as _, PlacementSpec};
use crate::plan::queue::{Waiting, is_being_made};
use crate::plan::records::Record;
use crate::plan::site::{Refused, sound};
use crate::plan::{Act, Memory, Seen, order};
use crate::unit::Unit;

/// A block, with its cubes in the order in which they are wanted.
#[derive(Clone)]
pub(super) struct Block {
    pub(super) order: Vec<usize>,
    engine: Engine,
    pub(super) free: usize,
    /// Free, or of a Slice that is going.
    soon: usize,
    /// That will be free once our Slices have ended.
    ours: usize,
    /// Whether what is free is kept for a Job.
    kept: bool,
}

impl Block {
    fn of(lot: &Lot<'_>, memory: &Memory, range: Range<usize>) -> Result<Block, String> {
        let mut order: Vec<usize> = range.collect();
        order.sort_by_key(|&at| {
            let cube = &lot.yard.cubes[at];
            // Cubes of Slices that failed come last, the latest at the very end.
            (memory.failed.get(&cube.id), cube.health, at)
        });
        let sides = [4, 4, 4 * order.len() as u16];
        let grid = Grid::new(&sides, &[true; 3]).map_err(|error| error.to_string())?;
        let tpu: Selection = "tpu".parse().map_err(|_| "strategy: tpu is not there".to_string())?;
        let engine = Engine::with_seed(grid, &tpu, 1).map_err(|error| error.to_string())?;
        let usable = |at: &&usize| lot.yard.cubes[**at].health != Health::Unusable;
        let free = order.iter().filter(|&&at| lot.is_free(at)).count();
        let going = order.iter().filter(usable).filter(|&&at| lot.uses[at] == Use::Going).count();
        let ours = order.iter().filter(usable).filter(|&&at| lot.uses[at] != Use::Others).count();
        let soon = free + going;
        let mut block = Block { order, engine, free, soon, ours, kept: false };
        for place in 0..block.order.len() {
            if !lot.is_free(block.order[place]) {
                // One chip that is missing keeps its cube out of every slice of whole cubes.
                let chip = grid.id([0, 0, 4 * place as u16]);
                block.engine.fail(chip).map_err(|error| error.to_string())?;
            }
        }
        Ok(block)
    }

    /// How many Slices of a topology its free cubes are beside the spares.
    pub(super) fn slots(&self, topology: Topology, spares: usize) -> usize {
        self.free.saturating_sub(spares) / topology.cubes()
    }

    /// Gives a Job cubes.
    pub(super) fn grant(&mut self, job: JobId, topology: Topology) -> Option<Vec<usize>> {
        let request = Request::shape(topology.sides());
        let placement = self.engine.allocate(job, &request).ok()?;
        let parts = placement.parts().iter();
        let places = parts.map(|part| usize::from(part.base[2] / Cubes::EDGE));
        let cubes: Vec<usize> = places.map(|place| self.order[place]).collect();
        self.free -= cubes.len();
        self.soon -= cubes.len();
        Some(cubes)
    }
}

/// The Jobs that get cubes, and those that do not.
pub(super) struct Placed {
    pub(super) proposals: Vec<Act>,
    pub(super) waiting: Vec<Waiting>,
    /// The cubes that are given, by their places.
    pub(super) given: Vec<usize>,
    /// What the next Job would find.
    pub(super) blocks: Vec<Block>,
}

impl Placed {
    fn refuse(&mut self, unit: &Unit<'_>, never: bool, why: &str) {
        let each = unit.jobs().iter();
        let told = each.map(|job| Waiting { never, ..Waiting::new(job, why.to_string()) });
        self.waiting.extend(told);
    }
}

/// Places what waits.
pub(super) fn place(
    lot: &Lot<'_>,
    records: &[Record<'_>],
    units: Vec<Unit<'_>>,
    memory: &mut Memory,
    now: i64,
) -> Result<Placed, String> {
    let blocks = lot.yard.blocks().map(|range| Block::of(lot, memory, range));
    let blocks = blocks.collect::<Result<Vec<Block>, String>>()?;
    let (proposals, waiting, given) = (Vec::new(), Vec::new(), Vec::new());
    let mut placed = Placed { proposals, waiting, given, blocks };
    let mut queued: HashMap<&str, usize> = HashMap::new();
    memory.unfinished = false;
    let held = order::held(&lot.plot, lot.index, records);
    let mut all = order::waiting(&lot.plot, lot.index, &held, units, memory);
    all.sort_by_cached_key(|(unit, _)| Failures::of(unit.first()).is_none());
    for (number, (unit, ready)) in all.iter().enumerate() {
        if unit.is_kueues(lot.index) {
            placed.refuse(unit, true, order::KUEUES);
            continue;
        }
        let topology = match asked(lot, unit) {
            Ok(topology) => topology,
            Err(Refused::Incomplete(_)) if is_being_made(unit, now) => {
                memory.unfinished = true;
                continue;
            }
            Err(Refused::Incomplete(why)) => {
                placed.refuse(unit, false, &why);
                continue;
            }
            Err(Refused::Never(why)) => {
                placed.refuse(unit, true, &why);
                continue;
            }
        };
        if !ready {
            continue;
        }
        let place = queued.entry(unit.first().namespace()).or_default();
        if *place >= lot.plot.site.queued {
            placed.refuse(unit, false, "its namespace has the most waiting Jobs already");
            continue;
        }
        *place += 1;
        let failures = Failures::seen(unit.first(), &mut memory.noted, now);
        if let Some((never, why)) = failures.as_ref().and_then(|all| all.keep(lot.attempts, now)) {
            memory.unfinished |= !never;
            placed.refuse(unit, never, &why);
            continue;
        }
        let kept = if failures.is_some() { 0 } else { lot.spares };
        match choose(&mut placed.blocks, JobId(number as u64), topology, kept) {
            Ok(cubes) => {
                placed.proposals.push(proposal(lot, unit, topology, &cubes));
                placed.given.extend(cubes);
            }
            Err((never, why)) => placed.refuse(unit, never, &why),
        }
    }
    Ok(placed)
}

/// Cubes of the fullest block that has enough; why there are none, and whether there never are.
pub(super) fn choose(
    blocks: &mut [Block],
    job: JobId,
    topology: Topology,
    spares: usize,
) -> Result<Vec<usize>, (bool, String)> {
    let count = topology.cubes();
    let needed = count + spares;
    let beside = match spares {
        0 => String::new(),
        spares => format!(" beside {spares} spares"),
    };
    if !blocks.iter().any(|block| block.order.len() >= needed) {
        return Err((true, format!("no block has {count} cubes{beside}")));
    }
    let open = || blocks.iter().enumerate().filter(|(_, block)| !block.kept);
    let enough = open().filter(|(_, block)| block.free >= needed);
    if let Some(at) = enough.min_by_key(|(_, block)| block.free).map(|(at, _)| at)
        && let Some(cubes) = blocks[at].grant(job, topology)
    {
        return Ok(cubes);
    }
    let why = if blocks.iter().any(|block| block.kept && block.free >= needed) {
        format!("the blocks with {count} free cubes{beside} are kept for Jobs before it")
    } else {
        let most = blocks.iter().map(|block| block.free.saturating_sub(spares)).max().unwrap_or(0);
        format!("it needs {count} free cubes of one block: at most {most} are free{beside}")
    };
    let open = blocks.iter_mut().filter(|block| !block.kept && block.order.len() >= needed);
    // One that lacks cubes which others must repair or give back may never have enough.
    if let Some(block) = open.max_by_key(|block| (block.ours >= needed, block.soon)) {
        block.kept = true;
    }
    Err((false, why))
}

/// What a Job asks for.
fn asked(lot: &Lot<'_>, unit: &Unit<'_>) -> Result<Topology, Refused> {
    let text = unit.first().shape().unwrap_or_default();
    let topology = Topology::read(text).map_err(Refused::Never)?;
    sound(unit, lot.yard.nodes(topology))?;
    let named = |job: &&crate::objects::Job| {
        job.spec.template.spec.node_selector.contains_key(crate::objects::OF_SLICE)
    };
    if unit.jobs().iter().any(named) {
        let why = "its pods select a Slice: leave out cloud.google.com/gke-tpu-slice";
        return Err(Refused::Never(why.to_string()));
    }
    Ok(topology)
}

fn proposal(lot: &Lot<'_>, unit: &Unit<'_>, topology: Topology, cubes: &[usize]) -> Act {
    let job = unit.first();
    let uids = unit.jobs().iter().map(|job| job.uid());
    let placement = PlacementSpec {
        machine: lot.plot.name.to_string(),
        job: job.name().to_string(),
        job_uid: job.uid(),
        set: if unit.is_set() { uids.collect() } else { Vec::new() },
        shape: job.shape().unwrap_or_default().to_string(),
        at: topology.words(),
        nodes: cubes.iter().map(|&at| lot.yard.cubes[at].id.clone()).collect(),
    };
    Act::Propose { job: Seen::of(job), placement }
}
