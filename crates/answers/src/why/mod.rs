//! Why: what a request waits for, or would be refused for, as one answer that every door tells.
//!
//! The answer has a cause, and, where something stands in the way, one place. Blockers, the time
//! at which they end, and the plan of moves all speak of that place:
//!
//! 1. If at most a few jobs can be moved so that a box of the request is free, the place is where
//!    the cheapest such plan puts it ([`unblock_any`]).
//! 2. Else it is the place whose jobs hold the fewest nodes together ([`blockers`]).
//!
//! `words.rs` is the one place where it becomes sentences. Names and times are those of the door:
//! it says what a job is called, and how its clock reads.

mod words;

use pavior_allocation::{Answers, Machine};
use pavior_kernel::Time;
use pavior_mesh::{Cuboid, JobId, NodeId, Occupancy, Request, volume};

use crate::plans::blockers::jobs_in;
use crate::plans::earliest::first_end;
use crate::{
    Blockers, Earliest, Planned, SearchLimits, Shape, Snapshot, Weights, blockers, earliest, fit,
    unblock_any,
};
pub use words::Words;

/// The most blockers that are named.
pub const NAMED: usize = 5;

/// A request that is asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The boxes of which any will do; none where nodes are granted by their number, or where sets
    /// that are no boxes are allowed.
    pub boxes: Vec<Shape>,
    /// The nodes that must be free for it.
    pub needed: u64,
    /// Where the strategy would put it now; none if it refuses it.
    pub placed: Option<Vec<Cuboid>>,
}

impl Asked {
    /// What a machine's strategy takes a request for, and where it would put it. Nothing changes.
    pub fn of(machine: &mut Machine, request: &Request) -> Asked {
        let placed = machine.probe(request).ok().map(|found| found.parts().to_vec());
        Asked { placed, ..Asked::refused(machine, request) }
    }

    /// The same of a request that the strategy has refused: it is not asked again.
    pub fn refused(machine: &Machine, request: &Request) -> Asked {
        let by_count = machine.answers(request) == Answers::Count;
        let boxes = if by_count { None } else { Shape::all_for(request, machine, true) };
        let boxes = boxes.unwrap_or_default();
        Asked { boxes, needed: machine.needed(request), placed: None }
    }

    /// Boxes of as many nodes, where no strategy is asked: the first that is free is taken.
    pub fn boxed(snapshot: &Snapshot, boxes: Vec<Shape>) -> Asked {
        let placed = boxes.iter().find_map(|&shape| fit(snapshot, shape)).map(|at| vec![at]);
        let needed = boxes.first().map_or(0, |shape| volume(shape.sides));
        Asked { boxes, needed, placed }
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

/// What is in the way at the place that an answer speaks of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocked {
    /// The place.
    pub at: Cuboid,
    /// The jobs that hold nodes there, and how many nodes each holds in all; the largest first, of
    /// equals the lower number.
    pub jobs: Vec<(JobId, u64)>,
    /// The nodes there that are not available.
    pub unavailable: Vec<NodeId>,
    /// When the last of these jobs ends; none if that is not known of one, or if a node there is
    /// not available.
    pub until: Option<Time>,
    /// Another place, if it is free before that.
    pub sooner: Option<Earliest>,
    /// The moves that make room there; no plan if there is none, or none was looked for.
    pub plan: Planned,
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
    /// When the scheduler plans to start it.
    pub planned: Option<Time>,
    /// Where it would lie now, or the free place that the strategy does not take; else empty.
    pub place: Vec<Cuboid>,
    /// What is in the way, where a box is looked for and none is free.
    pub blocked: Option<Blocked>,
    /// When enough nodes are free, where nodes are granted by their number.
    pub enough: Option<Time>,
}

/// Why a request does not start now.
///
/// `end` says when a running job is expected to end. At most `limits.max_jobs` jobs are moved in a
/// plan; with 0 none is looked for. Nothing is looked for where fewer nodes are free than it needs.
///
/// O(jobs + N) for each box and orientation, and the search of [`unblock_any`].
///
/// ```
/// use pavior_allocation::{Machine, Placement};
/// use pavior_kernel::Time;
/// use pavior_mesh::{Cuboid, JobId, Request};
/// use pavior_answers::{Asked, Queued, SearchLimits, Snapshot, why};
///
/// let mut machine = Machine::new("mesh:4x2".parse()?, "bf")?;
/// machine.allocate_at(JobId(7), Placement::Whole(Cuboid::new([1, 0], [1, 2])))?;
/// let asked = Asked::of(&mut machine, &Request::shape([3, 2]));
/// let (snapshot, limits) = (Snapshot::of(&machine), SearchLimits::jobs(1));
/// let answer = why(&snapshot, &asked, Queued::First, |_| Some(Time(905)), &limits);
/// let blocked = answer.blocked.expect("no place is free");
/// assert_eq!((blocked.at, blocked.until), (Cuboid::new([0, 0], [3, 2]), Some(Time(905))));
/// assert_eq!(blocked.jobs, [(JobId(7), 2)]);
/// assert_eq!(blocked.plan.plan.expect("one move is enough").moves[0].to[0].base, [3, 0, 0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn why(
    snapshot: &Snapshot,
    asked: &Asked,
    queued: Queued,
    end: impl Fn(JobId) -> Option<Time>,
    limits: &SearchLimits,
) -> Why {
    let free = u64::from(snapshot.free.count());
    let found = asked.boxes.iter().find_map(|&shape| fit(snapshot, shape));
    let cause = cause(snapshot, asked, queued, found.is_some());
    let place = asked.placed.clone().or_else(|| found.map(|at| vec![at])).unwrap_or_default();
    let blocked = if place.is_empty() && cause != Cause::Never {
        blocked(snapshot, asked, &end, limits)
    } else {
        None
    };
    let by_count = asked.boxes.is_empty() && cause == Cause::Nodes;
    let enough = by_count.then(|| enough(snapshot, asked.needed, end)).flatten();
    Why { cause, needed: asked.needed, free, planned: None, place, blocked, enough }
}

impl Why {
    /// Only the cause, which is cheap to say of many requests: no place is looked for beyond what
    /// is given.
    pub fn cause_alone(cause: Cause, needed: u64, free: u64, planned: Option<Time>) -> Why {
        let (place, blocked, enough) = (Vec::new(), None, None);
        Why { cause, needed, free, planned, place, blocked, enough }
    }

    /// The same as one may know it who knows some of the jobs alone. When others end is not told,
    /// nor where they would go.
    #[must_use]
    pub fn for_reader(mut self, snapshot: &Snapshot, knows: impl Fn(JobId) -> bool) -> Why {
        let own = |blocked: &Blocked| blocked.jobs.iter().all(|&(job, _)| knows(job));
        if let Some(blocked) = &mut self.blocked {
            blocked.until = blocked.until.filter(|_| own(blocked));
        }
        // Whether all are known is asked only where it matters: they are many.
        let nothing = Planned { plan: None, proven: false };
        let tells = self.enough.is_some()
            || self
                .blocked
                .as_ref()
                .is_some_and(|blocked| blocked.sooner.is_some() || blocked.plan != nothing);
        if tells && !snapshot.jobs().all(|(job, _)| knows(job)) {
            self.enough = None;
            if let Some(blocked) = &mut self.blocked {
                (blocked.sooner, blocked.plan) = (None, nothing);
            }
        }
        self
    }

    /// The place that the answer speaks of: where the request lies, or what is to be emptied.
    pub fn places(&self) -> Vec<Cuboid> {
        match &self.blocked {
            Some(blocked) => vec![blocked.at],
            None => self.place.clone(),
        }
    }
}

fn cause(snapshot: &Snapshot, asked: &Asked, queued: Queued, is_free: bool) -> Cause {
    let grid = &snapshot.grid;
    let fits_empty = |shape: &Shape| shape.fits(grid);
    let no_box = !asked.boxes.is_empty() && !asked.boxes.iter().any(fits_empty);
    match queued {
        _ if asked.needed > u64::from(grid.nodes()) || no_box => Cause::Never,
        Queued::Behind(_) => Cause::Queue(queued),
        _ if asked.needed > u64::from(snapshot.free.count()) => Cause::Nodes,
        Queued::First if asked.placed.is_some() => Cause::Fits,
        _ if asked.placed.is_some() => Cause::Queue(queued),
        _ if is_free => Cause::Strategy,
        _ => Cause::Place,
    }
}

/// The place that it costs least to empty, and how.
fn blocked(
    snapshot: &Snapshot,
    asked: &Asked,
    end: &impl Fn(JobId) -> Option<Time>,
    limits: &SearchLimits,
) -> Option<Blocked> {
    let weights = Weights::nodes(snapshot);
    let least = asked.boxes.iter().filter_map(|&shape| blockers(snapshot, shape, &weights));
    let least = least.min_by_key(|found| (found.unavailable.len(), found.weight))?;
    let plan = if limits.max_jobs > 0 {
        unblock_any(snapshot, &asked.boxes, &weights, limits)
    } else {
        Planned { plan: None, proven: false }
    };
    let moved_to = plan.plan.as_ref().and_then(|plan| plan.boxes.first().copied());
    let Blockers { at, jobs, unavailable, .. } = match moved_to {
        None => least,
        Some(at) => Blockers { at, jobs: jobs_in(snapshot, &at), weight: 0, unavailable: vec![] },
    };
    let mut ends = jobs.iter().map(|&job| end(job));
    let until = ends.try_fold(Time::ZERO, |last, end| Some(last.max(end?)));
    let until = until.filter(|_| unavailable.is_empty());
    // What ends later makes no place free sooner.
    let before = |job: JobId| end(job).filter(|&end| until.is_none_or(|until| end < until));
    let soonest = asked.boxes.iter().filter_map(|&shape| earliest(snapshot, shape, before));
    let soonest = soonest.min_by_key(|found| found.at);
    let sooner = soonest.filter(|found| until.is_none_or(|until| found.at < until));
    let held = |job: JobId| {
        let found = snapshot.jobs.binary_search_by_key(&job, |(job, _)| *job).ok();
        let parts = found.map_or(&[][..], |index| snapshot.parts(index));
        parts.iter().map(|part| u64::from(part.volume())).sum()
    };
    let mut jobs: Vec<(JobId, u64)> = jobs.into_iter().map(|job| (job, held(job))).collect();
    jobs.sort_by_key(|&(job, nodes)| (std::cmp::Reverse(nodes), job));
    Some(Blocked { at, jobs, unavailable, until, sooner, plan })
}

/// When so many nodes are free.
fn enough(snapshot: &Snapshot, needed: u64, end: impl Fn(JobId) -> Option<Time>) -> Option<Time> {
    let enough = |free: &Occupancy| (u64::from(free.count()) >= needed).then_some(());
    first_end(snapshot, end, enough).map(|(at, ())| at)
}
