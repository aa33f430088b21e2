//! Who holds what, and what it weighs.

use pavior_allocation::{Machine, Placement};
use pavior_mesh::{Cuboid, Freedom, Grid, JobId, Occupancy, Request, Sides, orientations};
use thiserror::Error;

/// The state of a machine at one instant, without its strategy: jobs by number, and healthy nodes.
#[derive(Clone, Debug)]
pub struct Snapshot {
    pub(crate) grid: Grid,
    /// Healthy nodes that no job holds.
    pub(crate) free: Occupancy,
    pub(crate) healthy: Occupancy,
    pub(crate) jobs: Vec<(JobId, Placement)>,
}

impl Snapshot {
    /// A state as it is listed: the healthy nodes that no job holds, the healthy ones, and the jobs
    /// by number with their boxes.
    ///
    /// # Panics
    /// If the nodes are those of two grids.
    pub fn new(free: Occupancy, healthy: Occupancy, jobs: Vec<(JobId, Placement)>) -> Snapshot {
        assert_eq!(free.grid(), healthy.grid(), "the nodes are those of one grid");
        debug_assert!(jobs.is_sorted_by_key(|(job, _)| *job), "jobs stand by number");
        Snapshot { grid: *free.grid(), free, healthy, jobs }
    }

    /// The state of a machine. O(N/64 + parts).
    pub fn of(machine: &Machine) -> Snapshot {
        let held = machine.held().into_iter();
        Snapshot {
            grid: *machine.grid(),
            free: machine.free().clone(),
            healthy: machine.healthy().clone(),
            jobs: held.map(|(job, placement)| (job, placement.clone())).collect(),
        }
    }

    /// The same state in which only some nodes (those free in `nodes`) are healthy. Nodes of
    /// another grid are none.
    #[must_use]
    pub fn within(mut self, nodes: &Occupancy) -> Snapshot {
        let same_grid = self.free.keep(nodes).and_then(|()| self.healthy.keep(nodes)).is_ok();
        if !same_grid {
            (self.free, self.healthy) =
                (Occupancy::all_busy(self.grid), Occupancy::all_busy(self.grid));
        }
        self
    }

    /// The same state in which some jobs, of so many nodes, stay where they are, as if their nodes
    /// had failed.
    #[must_use]
    pub fn keeping(mut self, stays: impl Fn(JobId, u32) -> bool) -> Snapshot {
        let Snapshot { grid, healthy, jobs, .. } = &mut self;
        jobs.retain(|(job, placement)| {
            let parts = placement.parts();
            let kept = stays(*job, parts.iter().map(Cuboid::volume).sum());
            for node in parts.iter().filter(|_| kept).flat_map(|part| part.nodes(grid)) {
                healthy.take_node(node);
            }
            !kept
        });
        self
    }

    /// The same state once some jobs are gone: failed nodes stay taken.
    #[must_use]
    pub fn after(&self, gone: impl Fn(JobId) -> bool) -> Snapshot {
        let places = self.jobs.iter().enumerate().filter(|(_, (job, _))| gone(*job));
        Snapshot {
            grid: self.grid,
            free: self.without(places.map(|(place, _)| place)),
            healthy: self.healthy.clone(),
            jobs: self.jobs.iter().filter(|(job, _)| !gone(*job)).cloned().collect(),
        }
    }

    /// The grid.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// The healthy nodes that no job holds.
    pub fn free(&self) -> &Occupancy {
        &self.free
    }

    /// The jobs and the boxes that they hold, by job.
    pub fn jobs(&self) -> impl Iterator<Item = (JobId, &[Cuboid])> {
        self.jobs.iter().map(|(job, placement)| (*job, placement.parts()))
    }

    /// The boxes of a job, by its place in the list.
    pub(crate) fn parts(&self, job: usize) -> &[Cuboid] {
        self.jobs[job].1.parts()
    }

    /// The free nodes if some jobs (by their places in the list) were gone: failed nodes stay
    /// taken.
    pub(crate) fn without(&self, jobs: impl IntoIterator<Item = usize>) -> Occupancy {
        let mut free = self.free.clone();
        self.give(&mut free, jobs.into_iter());
        free
    }

    /// Gives the nodes of some jobs, by their places in the list, none of which may be free: failed
    /// nodes stay taken.
    pub(crate) fn give(&self, free: &mut Occupancy, jobs: impl Iterator<Item = usize>) {
        let whole = self.healthy.count() == self.grid.nodes();
        for part in jobs.flat_map(|job| self.parts(job)) {
            if whole {
                free.give(part).expect("what a job held was taken");
            } else {
                give_healthy(free, part, &self.healthy);
            }
        }
    }
}

/// Gives back the healthy nodes of a box, none of which may be free.
pub(crate) fn give_healthy(free: &mut Occupancy, part: &Cuboid, healthy: &Occupancy) {
    if healthy.is_free(part) {
        free.give(part).expect("what a job held was taken");
        return;
    }
    let grid = *free.grid();
    for node in part.nodes(&grid).filter(|&node| healthy.is_node_free(node)) {
        free.give(&Cuboid::node(grid.point(node))).expect("what a job held was taken");
    }
}

/// A box that is asked for, and whether it may be turned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Its sides, at least 1 each; 1 on axes that the machine lacks.
    pub sides: Sides,
    /// Whether its sides may be permuted.
    pub turn: bool,
}

impl Shape {
    /// A box that may be turned.
    pub fn new(sides: Sides) -> Shape {
        Shape { sides, turn: true }
    }

    /// A box that keeps its orientation.
    pub fn fixed(sides: Sides) -> Shape {
        Shape { sides, turn: false }
    }

    /// The boxes that a request may be moved into on a machine: those of its freedom
    /// ([`Machine::some_boxes_for`]), else its box, turned if `turn` says so; an empty list if it
    /// has no box. `None` if its freedom allows sets that are no boxes.
    pub fn all_for(request: &Request, machine: &Machine, turn: bool) -> Option<Vec<Shape>> {
        match request.freedom {
            Some(Freedom::Connected | Freedom::Any) => None,
            Some(_) => {
                Some(machine.some_boxes_for(request).into_iter().map(Shape::fixed).collect())
            }
            None => Some(request.shape.map(|sides| Shape { sides, turn }).into_iter().collect()),
        }
    }

    /// Whether it fits an empty grid.
    pub fn fits(self, grid: &Grid) -> bool {
        self.orientations(grid).next().is_some()
    }

    /// Its orientations that fit an empty grid, in the order in which they are tried.
    pub(crate) fn orientations(self, grid: &Grid) -> impl Iterator<Item = Sides> + use<> {
        let count = if self.turn { 6 } else { 1 };
        let grid = *grid;
        orientations(self.sides).take(count).filter(move |&sides| grid.fits(sides))
    }
}

/// What it costs to disturb each job: any additive weight.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weights(pub(crate) Vec<u64>);

/// The weights of all jobs together exceed 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the weights of all jobs add up to more than 2^63")]
pub struct TooHeavy;

impl Weights {
    /// The number of nodes that each job holds.
    pub fn nodes(snapshot: &Snapshot) -> Weights {
        let nodes = |parts: &[Cuboid]| parts.iter().map(|part| u64::from(part.volume())).sum();
        Weights(snapshot.jobs().map(|(_, parts)| nodes(parts)).collect())
    }

    /// A weight of the caller's for each job: work lost, a priority.
    ///
    /// # Errors
    /// If the weights add up to more than 2^63.
    pub fn new(snapshot: &Snapshot, weight: impl Fn(JobId) -> u64) -> Result<Weights, TooHeavy> {
        let weights: Vec<u64> = snapshot.jobs().map(|(job, _)| weight(job)).collect();
        let sum = weights.iter().try_fold(0u64, |sum, &weight| sum.checked_add(weight));
        sum.filter(|&sum| sum <= 1 << 63).map(|_| Weights(weights)).ok_or(TooHeavy)
    }

    /// What some jobs, by their places in the list, weigh together.
    pub(crate) fn of(&self, jobs: &[u32]) -> u64 {
        jobs.iter().map(|&job| self.0[job as usize]).sum()
    }
}
