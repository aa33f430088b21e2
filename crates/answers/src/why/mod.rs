//! Explains why a request is waiting or would be refused. All interfaces give the same answer.
//!
//! The expected start time and place come from the first of these sources that applies:
//!
//! 1. the scheduler's plan, if known ([`Question::planned`]);
//! 2. the first place to become free as jobs reach their expected ends ([`earliest`]);
//! 3. the place whose jobs hold the fewest nodes ([`blockers`]), with no time given.
//!
//! The answer also contains the jobs that currently occupy this place, and moves that would make
//! room sooner ([`unblock_any`]).
//!
//! The answer is turned into sentences in `words.rs`. Each interface supplies job names and a time
//! format.

mod waiting;
mod words;

use pavior_allocation::{Answers, Machine, Placement};
use pavior_kernel::Time;
use pavior_mesh::{Cuboid, JobId, NodeId, Occupancy, Request, volume};
use pavior_scheduling::{Reserved, Standing};

use crate::plans::blockers::jobs_in;
use crate::plans::earliest::first_end;
use crate::{
    MovePlan, SearchLimits, Shape, Snapshot, Weights, blockers, earliest, fit, unblock_any,
};
pub use waiting::waiting;
pub use words::Words;

/// The maximum number of blocking jobs to list by name.
pub const NAMED: usize = 5;

/// The nodes that a request needs on a machine, and the strategy's placement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Demand {
    /// Alternative boxes, any of which is acceptable. Empty if nodes are granted by count, or if
    /// sets other than boxes are allowed.
    pub boxes: Vec<Shape>,
    /// The number of nodes that must be free.
    pub needed: u64,
    /// The placement that the strategy currently chooses, or `None` if it refuses the request.
    pub placed: Option<Vec<Cuboid>>,
}

impl Demand {
    /// Returns a request's demand, including the placement that the machine's strategy would
    /// choose. Does not change the machine.
    pub fn of(machine: &mut Machine, request: &Request) -> Demand {
        let placed = machine.probe(request).ok().map(|found| found.parts().to_vec());
        Demand { placed, ..Demand::refused(machine, request) }
    }

    /// Returns the demand for a request that the strategy has already refused. Does not ask the
    /// strategy again.
    pub fn refused(machine: &Machine, request: &Request) -> Demand {
        let by_count = machine.answers(request) == Answers::Count;
        let boxes = if by_count { None } else { Shape::all_for(request, machine, true) };
        let boxes = boxes.unwrap_or_default();
        Demand { boxes, needed: machine.needed(request), placed: None }
    }

    /// Returns the demand for any one of several boxes with equal node counts, without using a
    /// strategy. The placement is the first box that is free.
    pub fn boxed(snapshot: &Snapshot, boxes: Vec<Shape>) -> Demand {
        let placed = boxes.iter().find_map(|&shape| fit(snapshot, shape)).map(|at| vec![at]);
        let needed = boxes.first().map_or(0, |shape| volume(shape.sides));
        Demand { boxes, needed, placed }
    }
}

/// The state of a request in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queued {
    /// The request starts as soon as it fits on the machine. Also used for requests that are not
    /// queued.
    First,
    /// Another job must start first. Contains that job, or `None` if the scheduler does not
    /// consider this request yet.
    Behind(Option<JobId>),
    /// The request would overlap another job's reservation.
    Reserved {
        /// The job that has the reservation.
        by: JobId,
        /// The start of the reservation.
        from: Time,
        /// The end of the reservation, if known.
        until: Option<Time>,
    },
    /// The request would overlap an advance reservation, during which no job may use the reserved
    /// nodes.
    Ahead {
        /// The reservation's number.
        reservation: u64,
        /// The start of the reservation.
        from: Time,
        /// The end of the reservation.
        until: Time,
    },
    /// The scheduler keeps the request waiting without giving a reason.
    Kept,
}

/// The reason that a request does not start now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The request could start now.
    Fits,
    /// Fewer nodes are free than the request needs.
    Nodes,
    /// Enough nodes are free, but the strategy cannot find a place for the request among them.
    Place,
    /// A place is free, but the strategy does not use it.
    Strategy,
    /// The machine has too few nodes, or the requested box does not fit even if all nodes are free.
    Never,
    /// The request could be placed, but the queue keeps it waiting. The state is never
    /// [`Queued::First`].
    Queue(Queued),
}

/// A request's planned start time and place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedStart {
    /// The planned start time.
    pub at: Time,
    /// The planned place, or `None` if the scheduler only counts nodes or plans multiple boxes.
    pub place: Option<Cuboid>,
}

impl PlannedStart {
    /// Returns the scheduler's reservation for a job if that reservation begins before a given
    /// time. Later ones depend on jobs whose end is unknown. Takes O(reservations) time.
    pub fn of(standing: Option<&Standing>, job: JobId, before: Time) -> Option<PlannedStart> {
        let mut reserved = standing?.reserved.iter();
        let own = reserved.find(|one| one.job == job && one.from < before)?;
        Some(PlannedStart::reserved(own))
    }

    /// Returns a reservation's start time and place.
    pub fn reserved(reserved: &Reserved) -> PlannedStart {
        let parts = reserved.placement.as_ref().map_or(&[][..], Placement::parts);
        let place = if let [part] = parts { Some(*part) } else { None };
        PlannedStart { at: reserved.from, place }
    }
}

/// The jobs and nodes that block the place where a request will start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocked {
    /// The place where the request will start.
    pub at: Cuboid,
    /// The jobs that hold nodes at the place, each with its total node count. The largest jobs come
    /// first, and jobs of equal size are sorted by number.
    pub jobs: Vec<(JobId, u64)>,
    /// The unavailable nodes at the place.
    pub unavailable: Vec<NodeId>,
    /// The time at which the scheduler plans to start the request at this place. If there is no
    /// plan, this is the time at which the place becomes free, or `None` if no end is known.
    pub until: Option<Time>,
    /// The cheapest moves that make room for the request sooner, at this place or elsewhere. `None`
    /// if moving the allowed number of jobs is not enough, or if no moves were requested.
    pub moves: Option<MovePlan>,
}

impl Blocked {
    /// Returns the jobs to list by name, and the number of remaining jobs.
    pub fn largest(&self) -> (&[(JobId, u64)], usize) {
        let named = self.jobs.len().min(NAMED);
        (&self.jobs[..named], self.jobs.len() - named)
    }
}

/// The reason that a request does not start now, and what would allow it to start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Why {
    /// The reason that the request does not start.
    pub cause: Cause,
    /// The number of nodes that must be free for the request.
    pub needed: u64,
    /// The number of free nodes.
    pub free: u64,
    /// The scheduler's planned time and place for the request.
    pub planned: Option<PlannedStart>,
    /// The request's placement if the request could start now, or a free place that the strategy
    /// does not use. Empty otherwise.
    pub place: Vec<Cuboid>,
    /// The jobs and nodes that block the request, if it needs a box and none is free.
    pub blocked: Option<Blocked>,
    /// The time at which enough nodes will be free, if nodes are granted by count.
    pub enough: Option<Time>,
}

/// A question about why a request does not start.
pub struct Question<'a> {
    /// The nodes that the request needs.
    pub demand: &'a Demand,
    /// The request's state in the queue.
    pub queued: Queued,
    /// The scheduler's planned time and place for the request, if known.
    pub planned: Option<PlannedStart>,
    /// A function that returns the expected end of a running job, or `None` if the end is unknown
    /// or hidden from the user.
    pub end: &'a dyn Fn(JobId) -> Option<Time>,
    /// Limits on the moves that make room. If `max_jobs` is 0, no moves are planned.
    pub limits: SearchLimits,
}

impl<'a> Question<'a> {
    /// Creates a question about a request that is not queued, without planning any moves.
    pub fn new(demand: &'a Demand, end: &'a dyn Fn(JobId) -> Option<Time>) -> Question<'a> {
        let (queued, limits) = (Queued::First, SearchLimits::jobs(0));
        Question { demand, queued, planned: None, end, limits }
    }
}

/// Explains why a request does not start now.
///
/// Cost: O(jobs + N) per box and orientation, given N nodes. Without a planned place, adds O(log e)
/// searches for a free box, given e end times. With moves, adds the cost of [`unblock_any`].
///
/// ```
/// # mod pavior { pub use pavior_answers as answers;
/// #     pub use {pavior_allocation::*, pavior_kernel::*}; }
/// use pavior::answers::{Demand, Question, SearchLimits, Snapshot, why};
/// use pavior::{Cuboid, JobId, Machine, Placement, Request, Time};
///
/// let mut machine = Machine::new("mesh:4x2".parse()?, "bf")?;
/// machine.allocate_at(JobId(7), Placement::Whole(Cuboid::new([1, 0], [1, 2])))?;
/// let demand = Demand::of(&mut machine, &Request::shape([3, 2]));
/// let end = |_| Some(Time(905));
/// let question = Question { limits: SearchLimits::jobs(1), ..Question::new(&demand, &end) };
/// let answer = why(&Snapshot::of(&machine), &question);
/// let blocked = answer.blocked.expect("no place is free");
/// assert_eq!((blocked.at, blocked.until), (Cuboid::new([0, 0], [3, 2]), Some(Time(905))));
/// assert_eq!(blocked.jobs, [(JobId(7), 2)]);
/// assert_eq!(blocked.moves.expect("one move is enough").moves[0].to[0].base, [3, 0, 0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn why(snapshot: &Snapshot, question: &Question<'_>) -> Why {
    let Question { demand, queued, .. } = *question;
    let free = u64::from(snapshot.free.count());
    let found = demand.boxes.iter().find_map(|&shape| fit(snapshot, shape));
    let cause = cause(snapshot, demand, queued, found.is_some());
    let place = demand.placed.clone().or_else(|| found.map(|at| vec![at])).unwrap_or_default();
    let is_blocked = place.is_empty() && cause != Cause::Never;
    let blocked = if is_blocked { blocked(snapshot, question) } else { None };
    let by_count = demand.boxes.is_empty() && cause == Cause::Nodes;
    let enough = by_count.then(|| enough(snapshot, demand.needed, question.end)).flatten();
    let (needed, planned) = (demand.needed, question.planned);
    Why { cause, needed, free, planned, place, blocked, enough }
}

impl Why {
    /// Returns the places in the answer: the request's placement, or the place that must become
    /// free.
    pub fn places(&self) -> Vec<Cuboid> {
        match &self.blocked {
            Some(blocked) => vec![blocked.at],
            None => self.place.clone(),
        }
    }
}

fn cause(snapshot: &Snapshot, demand: &Demand, queued: Queued, is_free: bool) -> Cause {
    let grid = &snapshot.grid;
    let fits_empty = |shape: &Shape| shape.fits(grid);
    let no_box = !demand.boxes.is_empty() && !demand.boxes.iter().any(fits_empty);
    match queued {
        _ if demand.needed > u64::from(grid.nodes()) || no_box => Cause::Never,
        Queued::Behind(_) => Cause::Queue(queued),
        _ if demand.needed > u64::from(snapshot.free.count()) => Cause::Nodes,
        Queued::First if demand.placed.is_some() => Cause::Fits,
        _ if demand.placed.is_some() => Cause::Queue(queued),
        _ if is_free => Cause::Strategy,
        _ => Cause::Place,
    }
}

/// Finds a request's future place, the jobs that hold it, and moves that would free it sooner.
fn blocked(snapshot: &Snapshot, question: &Question<'_>) -> Option<Blocked> {
    let Question { demand, planned, end, limits, .. } = question;
    let boxes = &demand.boxes;
    let weights = Weights::nodes(snapshot);
    let planned = planned.filter(|_| !boxes.is_empty());
    let (at, until, jobs) = match planned.and_then(|planned| Some((planned.place?, planned.at))) {
        Some((at, start)) => (at, Some(start), jobs_in(snapshot, &at, |_| true)),
        None => free_first(snapshot, boxes, &weights, end)?,
    };
    let moves = match limits.max_jobs {
        0 => None,
        _ => unblock_any(snapshot, boxes, &weights, limits).plan,
    };
    let held = |job: JobId| {
        let found = snapshot.jobs.binary_search_by_key(&job, |(job, _)| *job);
        found.map_or(0, |index| weights.0[index])
    };
    let mut jobs: Vec<(JobId, u64)> = jobs.into_iter().map(|job| (job, held(job))).collect();
    jobs.sort_by_key(|&(job, nodes)| (std::cmp::Reverse(nodes), job));
    let is_lost = |node: &NodeId| !snapshot.healthy.is_node_free(*node);
    let mut unavailable: Vec<NodeId> = if snapshot.healthy.count() == snapshot.grid.nodes() {
        Vec::new()
    } else {
        at.nodes(&snapshot.grid).filter(is_lost).collect()
    };
    unavailable.sort_unstable();
    Some(Blocked { at, jobs, unavailable, until, moves })
}

/// Finds the first place to become free, the time at which it does, and the jobs there. If no end
/// time is known, returns the place whose jobs hold the fewest nodes, without a time. Jobs that end
/// later than the jobs in that place cannot free another place sooner, so they are ignored.
fn free_first(
    snapshot: &Snapshot,
    boxes: &[Shape],
    weights: &Weights,
    end: &dyn Fn(JobId) -> Option<Time>,
) -> Option<(Cuboid, Option<Time>, Vec<JobId>)> {
    let least = boxes.iter().filter_map(|&shape| blockers(snapshot, shape, weights));
    let least = least.min_by_key(|found| (found.unavailable.len(), found.weight))?;
    let mut ends = least.jobs.iter().map(|&job| end(job));
    let until = ends.try_fold(Time::ZERO, |last, end| Some(last.max(end?)));
    let until = until.filter(|_| least.unavailable.is_empty());
    let before = |job: JobId| end(job).filter(|&end| until.is_none_or(|until| end < until));
    let first = boxes.iter().filter_map(|&shape| earliest(snapshot, shape, before));
    Some(match first.min_by_key(|found| found.at) {
        Some(first) => {
            let ended = |job: JobId| end(job).is_some_and(|end| end <= first.at);
            (first.place, Some(first.at), jobs_in(snapshot, &first.place, ended))
        }
        None => (least.at, until, least.jobs),
    })
}

fn enough(snapshot: &Snapshot, needed: u64, end: impl Fn(JobId) -> Option<Time>) -> Option<Time> {
    let enough = |free: &Occupancy| (u64::from(free.count()) >= needed).then_some(());
    first_end(snapshot, end, enough).map(|(at, ())| at)
}
