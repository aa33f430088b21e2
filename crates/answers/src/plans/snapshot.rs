//! The state of a machine: its jobs, their nodes, and their weights.

use pavior_allocation::{Machine, Placement};
use pavior_mesh::{Cuboid, Freedom, Grid, JobId, Occupancy, Request, Sides, orientations};
use thiserror::Error;

/// The state of a machine at one point in time, independent of its strategy: the jobs, sorted by
/// number, and the healthy nodes.
///
/// ```
/// # mod pavior { pub use pavior_answers as answers; pub use pavior_allocation::*; }
/// use pavior::answers::{Shape, Snapshot, Weights, fit};
/// use pavior::{JobId, Machine, Request};
/// let mut machine = Machine::new("mesh:4x4".parse()?, "tff")?;
/// machine.allocate(JobId(1), &Request::shape([4, 3]))?;
/// let snapshot = Snapshot::of(&machine);
/// let place = fit(&snapshot, Shape::new([1, 4, 1])).expect("the last row is free");
/// assert_eq!(place.to_string(), "4x1 at 0,3");
/// // A caller can weigh jobs by their priority instead of their nodes.
/// let weights = Weights::new(&snapshot, |job| if job.0 == 1 { 10 } else { 1 })?;
/// assert_ne!(weights, Weights::nodes(&snapshot));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Snapshot {
    pub(crate) grid: Grid,
    /// Healthy nodes that no job holds.
    pub(crate) free: Occupancy,
    pub(crate) healthy: Occupancy,
    pub(crate) jobs: Vec<(JobId, Placement)>,
}

impl Snapshot {
    /// Creates a snapshot from the free healthy nodes, all healthy nodes, and the jobs with their
    /// boxes. Jobs must be sorted by number.
    ///
    /// # Panics
    /// Panics if the two sets of nodes are on different grids.
    pub fn new(free: Occupancy, healthy: Occupancy, jobs: Vec<(JobId, Placement)>) -> Snapshot {
        assert_eq!(free.grid(), healthy.grid(), "the two sets of nodes must be on the same grid");
        debug_assert!(jobs.is_sorted_by_key(|(job, _)| *job), "jobs must be sorted by number");
        Snapshot { grid: *free.grid(), free, healthy, jobs }
    }

    /// Copies the state of a machine. Takes O(N/64 + parts) time for N nodes.
    pub fn of(machine: &Machine) -> Snapshot {
        let held = machine.held().into_iter();
        let jobs = held.map(|(job, placement)| (job, placement.clone())).collect();
        Snapshot::new(machine.free().clone(), machine.healthy().clone(), jobs)
    }

    /// Treats all nodes as failed except those that are free in `nodes`. If `nodes` belongs to a
    /// different grid, treats every node as failed.
    #[must_use]
    pub fn within(mut self, nodes: &Occupancy) -> Snapshot {
        let same_grid = self.free.keep(nodes).and_then(|()| self.healthy.keep(nodes)).is_ok();
        if !same_grid {
            (self.free, self.healthy) =
                (Occupancy::all_busy(self.grid), Occupancy::all_busy(self.grid));
        }
        self
    }

    /// Treats all nodes held by jobs for which `stays` returns true as failed, so that these jobs
    /// stay in place. `stays` receives each job and its node count.
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

    /// Returns the state after removing the jobs that `gone` selects. Failed nodes stay failed.
    #[must_use]
    pub fn after(&self, gone: impl Fn(JobId) -> bool) -> Snapshot {
        let places = self.jobs.iter().enumerate().filter(|(_, (job, _))| gone(*job));
        let free = self.without(places.map(|(place, _)| place));
        let jobs = self.jobs.iter().filter(|(job, _)| !gone(*job)).cloned().collect();
        Snapshot::new(free, self.healthy.clone(), jobs)
    }

    /// Returns the grid.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// Returns the healthy nodes that no job holds.
    pub fn free(&self) -> &Occupancy {
        &self.free
    }

    /// Returns the jobs and their boxes, in order of job number.
    pub fn jobs(&self) -> impl Iterator<Item = (JobId, &[Cuboid])> {
        self.jobs.iter().map(|(job, placement)| (*job, placement.parts()))
    }

    /// Returns a job's boxes, given the job's index in the list.
    pub(crate) fn parts(&self, job: usize) -> &[Cuboid] {
        self.jobs[job].1.parts()
    }

    /// Returns the nodes that would be free if the given jobs, identified by index, were removed.
    /// Failed nodes stay unavailable.
    pub(crate) fn without(&self, jobs: impl IntoIterator<Item = usize>) -> Occupancy {
        let mut free = self.free.clone();
        self.give(&mut free, jobs.into_iter());
        free
    }

    /// Frees the nodes held by the given jobs, identified by index. None of these nodes may already
    /// be free. Failed nodes stay unavailable.
    pub(crate) fn give(&self, free: &mut Occupancy, jobs: impl Iterator<Item = usize>) {
        let whole = self.healthy.count() == self.grid.nodes();
        for part in jobs.flat_map(|job| self.parts(job)) {
            if whole {
                free.give(part).expect("a job's nodes were taken");
            } else {
                give_healthy(free, part, &self.healthy);
            }
        }
    }
}

/// Frees the healthy nodes in a box, none of which may already be free.
pub(crate) fn give_healthy(free: &mut Occupancy, part: &Cuboid, healthy: &Occupancy) {
    if healthy.is_free(part) {
        free.give(part).expect("a job's nodes were taken");
        return;
    }
    let grid = *free.grid();
    for node in part.nodes(&grid).filter(|&node| healthy.is_node_free(node)) {
        free.give(&Cuboid::node(grid.point(node))).expect("a job's nodes were taken");
    }
}

/// A requested box, and whether it may be rotated.
///
/// ```
/// # mod pavior { pub use pavior_answers as answers; pub use pavior_mesh::*; }
/// use pavior::Grid;
/// use pavior::answers::Shape;
/// let grid = Grid::mesh(&[8, 2])?;
/// assert!(Shape::new([2, 4, 1]).fits(&grid) && !Shape::fixed([2, 4, 1]).fits(&grid));
/// # Ok::<(), pavior::GridError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// The side lengths, all positive. A side is 1 on any axis that the machine lacks.
    pub sides: Sides,
    /// True if the sides may be permuted.
    pub turn: bool,
}

impl Shape {
    /// Creates a box that may be rotated.
    pub fn new(sides: Sides) -> Shape {
        Shape { sides, turn: true }
    }

    /// Creates a box that may not be rotated.
    pub fn fixed(sides: Sides) -> Shape {
        Shape { sides, turn: false }
    }

    /// Returns the boxes that a request may use on a machine, according to its freedom
    /// ([`Machine::some_boxes_for`]). If the request has no freedom, returns the requested box,
    /// which may be rotated if `turn` is true. If it has neither a freedom nor a box, returns an
    /// empty list. Returns `None` if the freedom allows sets of nodes that are not boxes.
    pub fn all_for(request: &Request, machine: &Machine, turn: bool) -> Option<Vec<Shape>> {
        match request.freedom {
            Some(Freedom::Connected | Freedom::Any) => None,
            Some(_) => {
                Some(machine.some_boxes_for(request).into_iter().map(Shape::fixed).collect())
            }
            None => Some(request.shape.map(|sides| Shape { sides, turn }).into_iter().collect()),
        }
    }

    /// Returns true if the shape fits an empty grid.
    pub fn fits(self, grid: &Grid) -> bool {
        self.orientations(grid).next().is_some()
    }

    /// Returns the orientations that fit an empty grid, in the order in which they are tried.
    pub(crate) fn orientations(self, grid: &Grid) -> impl Iterator<Item = Sides> + use<> {
        let count = if self.turn { 6 } else { 1 };
        let grid = *grid;
        orientations(self.sides).take(count).filter(move |&sides| grid.fits(sides))
    }
}

/// The cost of disturbing each job, in any additive unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weights(pub(crate) Vec<u64>);

/// The error returned when the sum of the weights is too large.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the sum of all jobs' weights exceeds 2^63")]
pub struct TooHeavy;

impl Weights {
    /// Creates weights that equal the jobs' node counts.
    pub fn nodes(snapshot: &Snapshot) -> Weights {
        let nodes = |parts: &[Cuboid]| parts.iter().map(|part| u64::from(part.volume())).sum();
        Weights(snapshot.jobs().map(|(_, parts)| nodes(parts)).collect())
    }

    /// Creates weights from a function that returns, for example, the work lost or a priority.
    ///
    /// # Errors
    /// Returns an error if the weights add up to more than 2^63.
    pub fn new(snapshot: &Snapshot, weight: impl Fn(JobId) -> u64) -> Result<Weights, TooHeavy> {
        let weights: Vec<u64> = snapshot.jobs().map(|(job, _)| weight(job)).collect();
        let sum = weights.iter().try_fold(0u64, |sum, &weight| sum.checked_add(weight));
        sum.filter(|&sum| sum <= 1 << 63).map(|_| Weights(weights)).ok_or(TooHeavy)
    }

    /// Returns the total weight of the given jobs, identified by index.
    pub(crate) fn of(&self, jobs: &[u32]) -> u64 {
        jobs.iter().map(|&job| self.0[job as usize]).sum()
    }
}
