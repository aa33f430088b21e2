//! Plans that make room by a given time: the jobs to move or requeue so that a box or a set of
//! nodes will be free by then.
//!
//! Jobs that are expected to end by that time need not move, and their nodes may be used. Every
//! other job that holds needed nodes must be moved or requeued. A requeued job loses its work so
//! far. A plan may move and requeue at most k jobs in total. The search chooses the plan that loses
//! the least work. Ties go to the plan whose moved jobs have the smallest total weight, then to the
//! plan with the fewest jobs, then to the plan found first.
//!
//! ```text
//!   x  0 1 2 3 4 5    Four nodes in a row are needed by 9. a ends at 8, and b ends at 20. b moves
//!      a a b b . .    to 4 and 5 now, and a ends in time. If 5 had failed, b would be requeued.
//! ```
//!
//! The search tries the sets of jobs to requeue one by one, in order of loss. For each set, it
//! finds the cheapest moves on the machine as it will be at that time.
//!
//! Cost: one search (`search.rs`) for each set of at most k jobs with a total loss no greater than
//! the answer's. All sets share one budget.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use pavior_kernel::Time;
use pavior_mesh::{Cuboid, JobId, NodeId};

use crate::plans::drain::{drained, others};
use crate::plans::plan::{Budget, MoveLimits, MovePlan, Planned, SearchLimits};
use crate::plans::search::{SET_COST, cheapest};
use crate::plans::unblock::{cheapest_of, unblocked};
use crate::{Shape, Snapshot, Weights};

/// The nodes to be freed.
#[derive(Clone, Copy, Debug)]
pub enum Room<'a> {
    /// Any one of these boxes. Ties go to the first.
    Box(&'a [Shape]),
    /// All of the given nodes. Nodes outside the grid are ignored.
    Nodes(&'a [NodeId]),
}

/// The expected end of a running job, and the cost of requeuing it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Prospect {
    /// The job's expected end, or `None` if it never ends.
    pub end: Option<Time>,
    /// The loss if the job is requeued now, in any additive unit, or `None` if the job must not be
    /// requeued. Sums saturate at `u64::MAX`.
    pub loss: Option<u64>,
}

/// A plan that makes room by a given time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoomPlan {
    /// The requeued jobs, by number.
    pub requeued: Vec<JobId>,
    /// The total loss of the requeued jobs.
    pub lost: u64,
    /// The freed box, and the moves, ordered so that each job's new nodes are free when it moves.
    pub moves: MovePlan,
    /// For each move, the time from which the job's new nodes are free, assuming that the jobs
    /// expected to end by the target time do so. Zero means now. The times never decrease.
    pub ready: Vec<Time>,
    /// The jobs that hold needed nodes but are expected to end in time, ordered by number.
    pub awaited: Vec<JobId>,
}

/// The result of a search for room by a given time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoomBy {
    /// The best plan found. It moves and requeues no jobs if there is already room.
    pub plan: Option<RoomPlan>,
    /// True if it has been proven that no plan within the job limit is better or, if `plan` is
    /// `None`, that there is no plan within the limit.
    pub proven: bool,
}

/// Finds the best plan to make room by a given time, moving or requeuing up to `max_jobs` jobs.
///
/// ```
/// # mod pavior { pub use pavior_answers as answers;
/// #     pub use {pavior_allocation::*, pavior_kernel::*}; }
/// use pavior::answers::{Prospect, Room, SearchLimits, Shape, Snapshot, room_by};
/// use pavior::{JobId, Machine, Request, Time};
/// // The row of six nodes above: job 1 ends at 8, and job 2 at 20.
/// let mut machine = Machine::new("mesh:6".parse()?, "ff")?;
/// machine.allocate(JobId(1), &Request::shape([2]))?;
/// machine.allocate(JobId(2), &Request::shape([2]))?;
/// let prospect = |job: JobId| {
///     let end = Some(Time(if job.0 == 1 { 8 } else { 20 }));
///     Prospect { end, loss: None }
/// };
/// let (snapshot, four) = (Snapshot::of(&machine), [Shape::new([4, 1, 1])]);
/// let limits = SearchLimits::jobs(1);
/// let found = room_by(&snapshot, Room::Box(&four), Time(9), prospect, &limits);
/// let plan = found.plan.expect("job 2 can move");
/// assert_eq!((plan.moves.jobs, plan.awaited), (vec![JobId(2)], vec![JobId(1)]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn room_by(
    snapshot: &Snapshot,
    room: Room<'_>,
    by: Time,
    prospect: impl Fn(JobId) -> Prospect,
    limits: &SearchLimits,
) -> RoomBy {
    let ends = |job: JobId| prospect(job).end.filter(|end| *end <= by);
    let then = snapshot.after(|job| ends(job).is_some());
    let losses = then.jobs().filter_map(|(job, _)| Some((prospect(job).loss?, job))).collect();
    let mut sets = Sets::new(losses, limits.max_jobs);
    let mut budget = Budget { left: limits.budget };
    let (mut best, mut proven) = (None::<RoomPlan>, true);
    while let Some((lost, requeued)) = sets.next() {
        if best.as_ref().is_some_and(|best| best.lost < lost) {
            break;
        }
        if budget.left < SET_COST {
            proven = false;
            break;
        }
        budget.spend(SET_COST);
        let state = then.after(|job| requeued.binary_search(&job).is_ok());
        let max_jobs = limits.max_jobs - requeued.len();
        let left = MoveLimits { max_jobs, ..limits.moves() };
        let answer = moves(&state, room, left, &mut budget);
        proven &= answer.proven;
        let Some(moves) = answer.plan else { continue };
        let plan = RoomPlan { requeued, lost, moves, ready: Vec::new(), awaited: Vec::new() };
        let rank = |plan: &RoomPlan| (plan.moves.cost, plan.moves.jobs.len() + plan.requeued.len());
        if best.as_ref().is_none_or(|best| rank(&plan) < rank(best)) {
            best = Some(plan);
        }
    }
    RoomBy { plan: best.map(|plan| plan.timed(snapshot, room, ends)), proven }
}

/// Finds the cheapest moves that make room on a machine.
fn moves(snapshot: &Snapshot, room: Room<'_>, limits: MoveLimits, budget: &mut Budget) -> Planned {
    let weights = Weights::nodes(snapshot);
    match room {
        Room::Box(shapes) => {
            cheapest_of(shapes, |shape| unblocked(snapshot, shape, &weights, limits, budget))
        }
        Room::Nodes(nodes) => {
            let goal = drained(snapshot, nodes);
            if goal.required.len() > limits.max_jobs {
                return Planned { plan: None, proven: true };
            }
            cheapest(snapshot, &goal, &weights, limits, budget)
        }
    }
}

impl RoomPlan {
    /// Adds to the plan the time of each move and the jobs that must end first.
    fn timed(
        mut self,
        snapshot: &Snapshot,
        room: Room<'_>,
        ends: impl Fn(JobId) -> Option<Time>,
    ) -> RoomPlan {
        let grid = snapshot.grid;
        // Returns the end times and IDs of the ending jobs with a part that meets the condition.
        let ending = |meets: &dyn Fn(&Cuboid) -> bool| {
            let ending = snapshot.jobs().filter_map(|(job, parts)| Some((ends(job)?, job, parts)));
            let found = ending.filter(|(_, _, parts)| parts.iter().any(meets));
            found.map(|(end, job, _)| (end, job)).collect::<Vec<_>>()
        };
        let overlaps =
            |boxes: &[Cuboid], own: &Cuboid| boxes.iter().any(|part| own.intersects(&grid, part));
        let mut ready = Time::ZERO;
        for step in &self.moves.moves {
            let before = ending(&|own| overlaps(&step.to, own));
            ready = before.iter().map(|(end, _)| *end).fold(ready, Time::max);
            self.ready.push(ready);
            self.awaited.extend(before.into_iter().map(|(_, job)| job));
        }
        let before = match room {
            Room::Box(_) => ending(&|own| overlaps(&self.moves.boxes, own)),
            Room::Nodes(nodes) => {
                let others = others(&grid, nodes);
                ending(&|own| !others.is_free(own))
            }
        };
        self.awaited.extend(before.into_iter().map(|(_, job)| job));
        self.awaited.sort_unstable();
        self.awaited.dedup();
        self
    }
}

/// An iterator over the sets of at most `most` jobs, in order of loss. It yields each set once,
/// with its jobs sorted by number.
struct Sets {
    /// The jobs with their losses, smallest first.
    jobs: Vec<(u64, JobId)>,
    most: usize,
    /// The pending sets, with their losses. A set is a list of job indices in ascending order.
    waiting: BinaryHeap<Reverse<(u64, Vec<usize>)>>,
}

impl Sets {
    fn new(mut jobs: Vec<(u64, JobId)>, most: usize) -> Sets {
        jobs.sort_unstable();
        Sets { jobs, most, waiting: BinaryHeap::from([Reverse((0, Vec::new()))]) }
    }

    /// Returns the next set. Each set has up to two successors: the set with the next job appended,
    /// and the set with its last job replaced by the next job. Each set is therefore reached once,
    /// and never before a set with a smaller loss.
    fn next(&mut self) -> Option<(u64, Vec<JobId>)> {
        let Reverse((loss, set)) = self.waiting.pop()?;
        let next = set.last().map_or(0, |last| last + 1);
        if next < self.jobs.len() {
            if set.len() < self.most {
                self.push([&set[..], &[next]].concat());
            }
            if let Some((_, others)) = set.split_last() {
                self.push([others, &[next]].concat());
            }
        }
        let mut jobs: Vec<JobId> = set.iter().map(|&place| self.jobs[place].1).collect();
        jobs.sort_unstable();
        Some((loss, jobs))
    }

    fn push(&mut self, set: Vec<usize>) {
        let losses = set.iter().map(|&place| self.jobs[place].0);
        self.waiting.push(Reverse((losses.fold(0, u64::saturating_add), set)));
    }
}
