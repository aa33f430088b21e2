//! Answers as JSON, in the same format for all interfaces. Each interface provides its own job
//! names and time format.
//!
//! A point has one coordinate per axis of the machine.

use pavior_kernel::Time;
use pavior_mesh::{Coordinates, Cuboid, Grid, JobId, NodeId};

use crate::{Blocked, Move, Slots, SlotsAnswer, Snapshot};

/// A node's coordinates or a box's sides, with one number per axis of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    axes: usize,
    coordinates: Coordinates,
}

impl Point {
    /// Creates a point from a node's coordinates or a box's sides on this grid.
    pub fn of(grid: &Grid, coordinates: Coordinates) -> Point {
        Point { axes: grid.axes(), coordinates }
    }

    /// Creates one point per node.
    pub fn all(grid: &Grid, nodes: &[NodeId]) -> Vec<Point> {
        nodes.iter().map(|&node| Point::of(grid, grid.point(node))).collect()
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Point {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.coordinates[..self.axes].serialize(to)
    }
}

/// A box of nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Place {
    /// The corner with the smallest coordinates.
    pub base: Point,
    /// The side lengths along the axes.
    pub sides: Point,
}

impl Place {
    /// Creates a place from a box on a grid.
    pub fn of(grid: &Grid, at: &Cuboid) -> Place {
        Place { base: Point::of(grid, at.base), sides: Point::of(grid, at.sides) }
    }

    /// Creates places from boxes on a grid, in order.
    pub fn all(grid: &Grid, boxes: &[Cuboid]) -> Vec<Place> {
        boxes.iter().map(|at| Place::of(grid, at)).collect()
    }
}

/// A move of a job, with the job's name in this interface.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct MoveJson<Name> {
    /// The name of the job that moves.
    pub job: Name,
    /// The boxes before the move.
    pub from: Vec<Place>,
    /// The boxes after the move.
    pub to: Vec<Place>,
}

impl<Name> MoveJson<Name> {
    /// Converts moves, in order. `name` returns a job's name.
    pub fn all(grid: &Grid, moves: &[Move], name: impl Fn(JobId) -> Name) -> Vec<MoveJson<Name>> {
        let step = |step: &Move| MoveJson {
            job: name(step.job),
            from: Place::all(grid, &step.from),
            to: Place::all(grid, &step.to),
        };
        moves.iter().map(step).collect()
    }
}

/// Disjoint free boxes of a shape.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct SlotsJson {
    /// The number of boxes found.
    pub slots: usize,
    /// An upper bound on the number of boxes that fit.
    pub bound: u32,
    /// True if it has been proven that no more boxes fit.
    pub proven: bool,
    /// The boxes, which are disjoint.
    pub boxes: Vec<Place>,
}

impl SlotsJson {
    fn of(grid: &Grid, found: &Slots) -> SlotsJson {
        let (slots, bound, proven) = (found.boxes.len(), found.bound, found.proven());
        SlotsJson { slots, bound, proven, boxes: Place::all(grid, &found.boxes) }
    }
}

/// The next time at which more boxes fit, and how many fit then.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct NextSlotJson<At> {
    /// The time at which more boxes fit.
    pub at: At,
    /// The number of boxes that fit at that time.
    pub slots: usize,
    /// True if it has been proven that no more boxes fit at any earlier time.
    pub proven: bool,
}

/// Boxes that fit after some jobs move.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct SlotsAfterJson<Name> {
    /// The boxes that fit after the moves.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub slots: SlotsJson,
    /// The moves, in a feasible order.
    pub moves: Vec<MoveJson<Name>>,
}

/// The numbers of boxes that fit now, later, and after some jobs move.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct SlotsAnswerJson<Name, At> {
    /// The boxes that fit now.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub now: SlotsJson,
    /// The next time at which more boxes fit, or `None` if that is unknown.
    pub next: Option<NextSlotJson<At>>,
    /// The boxes that fit after some jobs have moved, if requested.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub after: Option<SlotsAfterJson<Name>>,
}

impl SlotsAnswer {
    /// Converts the answer to JSON. `name` returns a job's name, and `time` formats a time.
    pub fn json<Name, At>(
        &self,
        grid: &Grid,
        name: impl Fn(JobId) -> Name,
        time: impl Fn(Time) -> At,
    ) -> SlotsAnswerJson<Name, At> {
        let next = self.next.as_ref().map(|next| NextSlotJson {
            at: time(next.at),
            slots: next.slots.boxes.len(),
            proven: next.proven,
        });
        let after = self.after.as_ref().map(|after| SlotsAfterJson {
            slots: SlotsJson::of(grid, &after.slots()),
            moves: MoveJson::all(grid, &after.plan.moves, name),
        });
        SlotsAnswerJson { now: SlotsJson::of(grid, &self.now), next, after }
    }
}

/// The place where a request will start, and the jobs and nodes that block it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct BlockedJson<Name, Holder, At> {
    /// The place where the request will start.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub at: Place,
    /// The number of nodes at the place that are not free.
    pub busy_nodes: usize,
    /// The largest blocking jobs.
    pub jobs: Vec<Holder>,
    /// The number of other blocking jobs.
    pub and_more: usize,
    /// The unavailable nodes at the place.
    pub failed: Vec<Point>,
    /// The time at which the place will be free, if known.
    pub until: Option<At>,
    /// The moves that make room sooner.
    pub moves: Vec<MoveJson<Name>>,
}

impl Blocked {
    /// Converts a request's blockers in a snapshot to JSON. `name` returns a job's name, `holder`
    /// describes a job and its node count, and `time` formats a time.
    pub fn json<Name, Holder, At>(
        &self,
        snapshot: &Snapshot,
        name: impl Fn(JobId) -> Name,
        holder: impl Fn(JobId, u64) -> Holder,
        time: impl Fn(Time) -> At,
    ) -> BlockedJson<Name, Holder, At> {
        let (grid, (largest, and_more)) = (snapshot.grid(), self.largest());
        let busy = self.at.nodes(grid).filter(|&node| !snapshot.free().is_node_free(node));
        let moves = self.moves.as_ref().map_or(&[][..], |plan| &plan.moves);
        BlockedJson {
            at: Place::of(grid, &self.at),
            busy_nodes: busy.count(),
            jobs: largest.iter().map(|&(job, nodes)| holder(job, nodes)).collect(),
            and_more,
            failed: Point::all(grid, &self.unavailable),
            until: self.until.map(time),
            moves: MoveJson::all(grid, moves, name),
        }
    }
}
