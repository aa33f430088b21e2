//! Why: what a request waits for, or would be refused for, as one answer of every interface.
//!
//! The answer has one time, one place and one notation. The time and the place are where the
//! request starts:
//!
//! 1. as the scheduler plans it, if that is known ([`Question::planned`]);
//! 2. else the place that is free first by the expected ends of jobs ([`earliest`]);
//! 3. else, where no end is known, the place whose jobs hold the fewest nodes ([`blockers`]), and
//!    no time.
//!
//! Then it says who stands there now, and which moves would make room sooner ([`unblock_any`]).
//!
//! `words.rs` is the one place where it becomes sentences. Names and times are those of the
//! interface: it says what a job is called, and how its clock reads.

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

/// The most blockers that are named.
pub const NAMED: usize = 5;

/// What a request needs of a machine, and where its strategy would put it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Demand {
    /// The boxes of which any will do; none where nodes are granted by their number, or where sets
    /// that are no boxes are allowed.
    pub boxes: Vec<Shape>,
    /// The nodes that must be free for it.
    pub needed: u64,
    /// Where the strategy would put it now; none if it refuses it.
    pub placed: Option<Vec<Cuboid>>,
}

impl Demand {
    /// What a machine's strategy takes a request for, and where it would put it. Nothing changes.
    pub fn of(machine: &mut Machine, request: &Request) -> Demand {
        let placed = machine.probe(request).ok().map(|found| found.parts().to_vec());
        Demand { placed, ..Demand::refused(machine, request) }
    }

    /// The same of a request that the strategy has refused: it is not asked again.
    pub fn refused(machine: &Machine, request: &Request) -> Demand {
        let by_count = machine.answers(request) == Answers::Count;
        let boxes = if by_count { None } else { Shape::all_for(request, machine, true) };
        let boxes = boxes.unwrap_or_default();
        Demand { boxes, needed: machine.needed(request), placed: None }
    }

    /// Boxes of as many nodes, where no strategy is asked: the first that is free is taken.
    pub fn boxed(snapshot: &Snapshot, boxes: Vec<Shape>) -> Demand {
        let placed = boxes.iter().find_map(|&shape| fit(snapshot, shape)).map(|at| vec![at]);
        let needed = boxes.first().map_or(0, |shape| volume(shape.sides));
        Demand { boxes, needed, placed }
    }
}

/// What the queue says of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queued {
    /// Nothing: it starts as soon as the machine has a place for it, or it is in no queue.
    First,
    /// Another one must start before; none if the scheduler does not look at this one yet.
    Behind(Option<JobId>),
    /// It would run into nodes that are reserved for another one.
    Reserved {
        /// Whose reservation it is.
        by: JobId,
        /// When it begins.
        from: Time,
        /// When it ends, if that is known.
        until: Option<Time>,
    },
    /// It would run into nodes that are reserved ahead: no job may have them then.
    Ahead {
        /// The number of the reservation.
        reservation: u64,
        /// When it begins.
        from: Time,
        /// When it ends.
        until: Time,
    },
    /// The scheduler keeps it waiting, and does not say more.
    Kept,
}

/// Why a request does not start now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// It could start now.
    Fits,
    /// Fewer nodes are free than it needs.
    Nodes,
    /// As many are free, but no place among them.
    Place,
    /// A place is free, but the strategy does not put it there.
    Strategy,
    /// The machine has no such box, or fewer nodes.
    Never,
    /// It could be placed now, but the queue keeps it; never [`Queued::First`].
    Queue(Queued),
}

/// When and where the scheduler plans to start a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedStart {
    /// The time.
    pub at: Time,
    /// The place; none if only nodes are counted, or if it is no box.
    pub place: Option<Cuboid>,
}

impl PlannedStart {
    /// Returns what a scheduler has reserved for a job, if it does so before a time: what is
    /// reserved later waits for jobs of which no end is known. O(reservations).
    pub fn of(standing: Option<&Standing>, job: JobId, before: Time) -> Option<PlannedStart> {
        let mut reserved = standing?.reserved.iter();
        let own = reserved.find(|one| one.job == job && one.from < before)?;
        Some(PlannedStart::reserved(own))
    }

    /// Returns when and where a reservation begins.
    pub fn reserved(reserved: &Reserved) -> PlannedStart {
        let parts = reserved.placement.as_ref().map_or(&[][..], Placement::parts);
        let place = if let [part] = parts { Some(*part) } else { None };
        PlannedStart { at: reserved.from, place }
    }
}

/// What is in the way at the place where a request starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocked {
    /// The place.
    pub at: Cuboid,
    /// The jobs that hold nodes there, and how many nodes each holds in all; the largest first, of
    /// equals the lower number.
    pub jobs: Vec<(JobId, u64)>,
    /// The nodes there that are not available.
    pub unavailable: Vec<NodeId>,
    /// When the request starts there by its scheduler's plan, or else when the place is free: no
    /// other place is free sooner. None if no end is known.
    pub until: Option<Time>,
    /// The cheapest moves that make room for the request sooner, there or elsewhere; none if there
    /// are none of so few jobs, or none were looked for.
    pub moves: Option<MovePlan>,
}

impl Blocked {
    /// The jobs that are named, and how many more there are.
    pub fn largest(&self) -> (&[(JobId, u64)], usize) {
        let named = self.jobs.len().min(NAMED);
        (&self.jobs[..named], self.jobs.len() - named)
    }
}

/// Why a request does not start now, and what would change that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Why {
    /// The reason.
    pub cause: Cause,
    /// The nodes that must be free for it.
    pub needed: u64,
    /// Those that are.
    pub free: u64,
    /// When and where the scheduler plans to start it.
    pub planned: Option<PlannedStart>,
    /// Where it would lie now, or the free place that the strategy does not take; else empty.
    pub place: Vec<Cuboid>,
    /// What is in the way, where a box is looked for and none is free.
    pub blocked: Option<Blocked>,
    /// When enough nodes are free, where nodes are granted by their number.
    pub enough: Option<Time>,
}

/// A question about a request that does not start.
pub struct Question<'a> {
    /// What it needs.
    pub demand: &'a Demand,
    /// What the queue says of it.
    pub queued: Queued,
    /// When the scheduler plans to start it, if that is known.
    pub planned: Option<PlannedStart>,
    /// When a running job is expected to end; none if that is not known, or not for who asks.
    pub end: &'a dyn Fn(JobId) -> Option<Time>,
    /// At most so many jobs are moved to make room; with 0 no moves are looked for.
    pub limits: SearchLimits,
}

impl<'a> Question<'a> {
    /// A question about a request in no queue, without moves.
    pub fn new(demand: &'a Demand, end: &'a dyn Fn(JobId) -> Option<Time>) -> Question<'a> {
        let (queued, limits) = (Queued::First, SearchLimits::jobs(0));
        Question { demand, queued, planned: None, end, limits }
    }
}

/// Says why a request does not start now.
///
/// Cost: O(jobs + N) for each box and orientation. Without a planned place, also O(log e) searches
/// for a box among the nodes that are free after one of e ends. With moves, also the search of
/// [`unblock_any`].
///
/// ```
/// use pavior_allocation::{Machine, Placement};
/// use pavior_answers::{Demand, Question, SearchLimits, Snapshot, why};
/// use pavior_kernel::Time;
/// use pavior_mesh::{Cuboid, JobId, Request};
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
    /// Makes an answer of the cause alone, which is cheap to say of many requests: no place is
    /// looked for beyond what is given.
    pub(crate) fn cause_alone(
        cause: Cause,
        needed: u64,
        free: u64,
        planned: Option<PlannedStart>,
    ) -> Why {
        let (place, blocked, enough) = (Vec::new(), None, None);
        Why { cause, needed, free, planned, place, blocked, enough }
    }

    /// Returns the place that the answer speaks of: where the request lies, or what is to be
    /// emptied.
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

/// The place where the request starts, who stands there, and how room could be made sooner.
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
        let found = snapshot.jobs.binary_search_by_key(&job, |(job, _)| *job).ok();
        let parts = found.map_or(&[][..], |index| snapshot.parts(index));
        parts.iter().map(|part| u64::from(part.volume())).sum()
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

/// Finds the place that is free first, with the time and the jobs there. Where no end is known it
/// is the place whose jobs hold the fewest nodes, without a time. Jobs that end later than those of
/// that place free none sooner, and are not examined.
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

/// When so many nodes are free.
fn enough(snapshot: &Snapshot, needed: u64, end: impl Fn(JobId) -> Option<Time>) -> Option<Time> {
    let enough = |free: &Occupancy| (u64::from(free.count()) >= needed).then_some(());
    first_end(snapshot, end, enough).map(|(at, ())| at)
}
