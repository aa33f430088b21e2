//! The cubes of a machine, for the page and for questions: who has them, and what else they are
//! enough for.

use std::collections::HashMap;

use pavior_kernel::shown;
use pavior_mesh::{Cuboid, Grid, JobId, NodeId};

use super::queue::{Block, Placed, choose};
use super::yard::{Health, Topology};
use super::{Lot, Use};
use crate::objects::{Known as _, Placement, PlacementSpec};
use crate::plan::Act;
use crate::plan::queue::Holding;

/// The number of who asks, and has none yet.
const ASKER: JobId = JobId(u64::MAX);

/// The cubes of a machine: a row for each block, in the order of their names.
pub(crate) struct Stock {
    pub(crate) grid: Grid,
    pub(crate) held: Vec<Holding>,
    /// Cubes that cannot be used and are in no Slice, and places without a cube.
    pub(crate) failed: Vec<NodeId>,
    pub(crate) free: u32,
    blocks: Vec<Block>,
    spares: usize,
    /// Where each cube lies, and what it is called.
    cubes: Vec<([u16; 3], String)>,
}

/// Cubes as they are drawn, those side by side as one.
pub(crate) type Parts = Vec<Cuboid>;

impl Stock {
    pub(super) fn of(lot: &Lot<'_>, placed: &Placed, now: i64) -> Result<Stock, String> {
        let rows: Vec<_> = lot.yard.blocks().collect();
        let longest = rows.iter().map(ExactSizeIterator::len).max().unwrap_or(1);
        let sides = [longest as u16, rows.len().max(1) as u16];
        let axes = if rows.len() > 1 { 2 } else { 1 };
        let grid = Grid::new(&sides[..axes], &[false; 2][..axes]);
        let grid = grid.map_err(|error| error.to_string())?;
        let points = rows.iter().enumerate().flat_map(|(row, range)| {
            (0..range.len()).map(move |column| [column as u16, row as u16, 0])
        });
        let cubes: Vec<_> = points.zip(lot.yard.cubes.iter().map(|cube| cube.id.clone())).collect();
        let mut stock = Stock {
            grid,
            held: Vec::new(),
            failed: Vec::new(),
            free: placed.blocks.iter().map(|block| block.free as u32).sum(),
            blocks: placed.blocks.clone(),
            spares: lot.spares,
            cubes,
        };
        stock.hold(lot, placed, now);
        stock.mark(lot);
        Ok(stock)
    }

    /// Records and the Jobs that are about to have one, and Slices without a record.
    fn hold(&mut self, lot: &Lot<'_>, placed: &Placed, now: i64) {
        let places = &lot.plot.places.ids;
        let parts = |stock: &Stock, ids: &[String]| {
            stock.parts(ids.iter().filter_map(|id| places.get(id)).map(|at| at.index()))
        };
        let world = lot.index.world;
        let mut records: Vec<&Placement> = world.placements.values().collect();
        records.retain(|record| record.spec.machine == lot.plot.name);
        records.sort_by_cached_key(|record| (record.created(), record.uid()));
        for record in records {
            let start = record.created().max(0) as u64;
            let run = lot.index.unit_of(record).and_then(|unit| unit.seconds());
            let named = name(record.namespace(), &record.spec);
            let end = run.map(|run| start.saturating_add(run));
            let parts = parts(self, &record.spec.nodes);
            self.held.push(holding(named, record.namespace(), start, end, parts));
        }
        for act in &placed.proposals {
            let Act::Propose { job, placement } = act else { continue };
            let (named, parts) = (name(&job.namespace, placement), parts(self, &placement.nodes));
            self.held.push(holding(named, &job.namespace, now.max(0) as u64, None, parts));
        }
        let mut slices: Vec<_> = lot.slices.values().collect();
        slices.sort_unstable_by_key(|slice| slice.name());
        for slice in slices {
            let record = slice.record(lot.plot.name).map(|(.., uid)| uid);
            if record.is_none_or(|uid| !world.placements.contains_key(&uid)) {
                let named = format!("Slice {}", shown(slice.name()));
                let start = slice.created().max(0) as u64;
                let parts = parts(self, &slice.spec.partition_ids);
                self.held.push(holding(named, "", start, None, parts));
            }
        }
        self.held.retain(|one| !one.parts.is_empty());
    }

    fn mark(&mut self, lot: &Lot<'_>) {
        let mut there = HashMap::new();
        for (at, (point, _)) in self.cubes.iter().enumerate() {
            let cube = &lot.yard.cubes[at];
            let lost = cube.health == Health::Unusable && lot.uses[at] == Use::Free;
            there.insert(self.grid.id(*point), lost);
        }
        let all = (0..self.grid.nodes()).map(NodeId);
        self.failed = all.filter(|at| there.get(at).copied().unwrap_or(true)).collect();
    }

    fn parts(&self, cubes: impl Iterator<Item = usize>) -> Parts {
        let mut points: Vec<[u16; 3]> = cubes.map(|at| self.cubes[at].0).collect();
        points.sort_unstable_by_key(|[x, y, _]| (*y, *x));
        points.dedup();
        let runs = points.chunk_by(|one, next| one[1] == next[1] && one[0] + 1 == next[0]);
        runs.map(|run| Cuboid::new(run[0], [run.len() as u16, 1, 1])).collect()
    }

    /// What the cubes of parts are called, harmless.
    pub(crate) fn names(&self, parts: &[Cuboid]) -> impl Iterator<Item = String> {
        let places = parts.iter().flat_map(|part| part.nodes(&self.grid));
        let known = |at: NodeId| {
            let point = self.grid.point(at);
            self.cubes.iter().find(|(place, _)| *place == point)
        };
        places.filter_map(known).map(|(_, name)| shown(name).to_string())
    }

    /// How many cubes a Slice of a shape in chips has.
    ///
    /// # Errors
    /// Why the shape is none of a Slice.
    pub(crate) fn cubes(shape: &str) -> Result<u32, String> {
        Topology::read(shape).map(|topology| topology.cubes() as u32)
    }

    /// The cubes that a Job which comes now would get, or what it would wait for.
    ///
    /// # Errors
    /// Why the shape is none of a Slice.
    pub(crate) fn ask(&self, shape: &str) -> Result<Result<Parts, String>, String> {
        let topology = Topology::read(shape)?;
        let chosen = choose(&mut self.blocks.clone(), ASKER, topology, self.spares);
        Ok(chosen.map(|cubes| self.parts(cubes.into_iter())).map_err(|(_, why)| why))
    }

    /// Which cubes the most Slices of a shape have that the free ones are enough for, beside the
    /// spares.
    ///
    /// # Errors
    /// Why the shape is none of a Slice.
    pub(crate) fn slots(&self, shape: &str) -> Result<Vec<Parts>, String> {
        let topology = Topology::read(shape)?;
        let mut found = Vec::new();
        for block in &self.blocks {
            let mut left = block.clone();
            for number in 0..block.slots(topology, self.spares) {
                let cubes = left.grant(JobId(ASKER.0 - number as u64), topology);
                found.extend(cubes.map(|cubes| self.parts(cubes.into_iter())));
            }
        }
        Ok(found)
    }

    /// The most cubes that a Slice could have now.
    pub(crate) fn largest(&self) -> u64 {
        let free = self.blocks.iter().map(|block| block.free.saturating_sub(self.spares));
        free.max().unwrap_or(0) as u64
    }
}

fn name(namespace: &str, record: &PlacementSpec) -> String {
    format!("Job {}/{}", shown(namespace), shown(&record.job))
}

fn holding(name: String, namespace: &str, start: u64, end: Option<u64>, parts: Parts) -> Holding {
    Holding { name, namespace: shown(namespace).to_string(), start, end, parts }
}
