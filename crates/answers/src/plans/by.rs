//! Room by a time: who moves or is requeued so that a box, or some nodes, are free then.
//!
//! Jobs that are said to end by that time need not move, and nodes that they free may be moved to.
//! The others move, or are requeued: they lose the work that they have done. All plans count that
//! move and requeue at most k jobs together. The one that loses least is taken. Of equals it is the
//! one whose moved jobs weigh least, then the one with fewer jobs, then the one found first.
//!
//! ```text
//!   x  0 1 2 3 4 5    Four in a row by 9: a ends at 8, b at 20. b moves to 4 and 5 now, and the
//!      a a b b . .    rest is left to a. If 5 had failed, b would be requeued.
//! ```
//!
//! Sets of requeued jobs are tried in the order of what they lose, each once. For each the cheapest
//! moves are looked for on the machine as it will be then.
//!
//! Cost: that of `search.rs` for each set of at most k jobs that loses no more than the answer. The
//! budget is shared by all.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use pavior_kernel::Time;
use pavior_mesh::{Cuboid, JobId, NodeId};

use crate::plans::drain::drained;
use crate::plans::plan::{Budget, MovePlan, Planned, SearchLimits};
use crate::plans::search::cheapest;
use crate::plans::unblock::unblocked;
use crate::{Shape, Snapshot, Weights};

/// What is to be free.
#[derive(Clone, Copy, Debug)]
pub enum Room<'a> {
    /// One of some boxes; of equally cheap ones the first.
    Box(&'a [Shape]),
    /// All of some nodes. Nodes outside the grid are not looked at.
    Nodes(&'a [NodeId]),
}

/// What is known of a running job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Prospect {
    /// When it is said to end; `None` is never.
    pub end: Option<Time>,
    /// What is lost if it is requeued now, in any additive measure; `None`: it may not be.
    pub loss: Option<u64>,
}

/// A plan that makes room by a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoomPlan {
    /// The jobs that are requeued, by number.
    pub requeued: Vec<JobId>,
    /// What they lose together.
    pub lost: u64,
    /// The moves, in an order in which each finds its nodes free, and the free box.
    pub moves: MovePlan,
    /// For each move the time from which on its nodes are free, by what ends until then; zero is
    /// now. Never less than that of the move before.
    pub ready: Vec<Time>,
    /// The jobs that are said to end by then and hold nodes that are needed, by number.
    pub awaited: Vec<JobId>,
}

/// What a search for room by a time has found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoomBy {
    /// The best plan found; it moves and requeues no job if nothing is in the way.
    pub plan: Option<RoomPlan>,
    /// Whether there is certainly no better plan, or none at all, within the number of jobs.
    pub proven: bool,
}

/// The best way to make room by a time, which moves and requeues at most `max_jobs` jobs together.
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
        if budget.left < 64 {
            proven = false;
            break;
        }
        budget.spend(64);
        let state = then.after(|job| requeued.binary_search(&job).is_ok());
        let most = limits.max_jobs - requeued.len();
        let answer = moves(&state, room, (most, limits.turn), &mut budget);
        proven &= answer.proven;
        let Some(found) = answer.plan else { continue };
        let rank =
            |moves: &MovePlan, requeued: &[JobId]| (moves.cost, moves.jobs.len() + requeued.len());
        let better = best
            .as_ref()
            .is_none_or(|best| rank(&found, &requeued) < rank(&best.moves, &best.requeued));
        if better {
            let plan =
                RoomPlan { requeued, lost, moves: found, ready: Vec::new(), awaited: Vec::new() };
            best = Some(plan);
        }
    }
    RoomBy { plan: best.map(|plan| plan.timed(snapshot, room, ends)), proven }
}

/// The cheapest moves that make room on a machine, of at most so many jobs.
fn moves(
    snapshot: &Snapshot,
    room: Room<'_>,
    (most, turn): (usize, bool),
    budget: &mut Budget,
) -> Planned {
    let weights = Weights::nodes(snapshot);
    let shapes = match room {
        Room::Box(shapes) => shapes,
        Room::Nodes(nodes) => {
            let goal = drained(snapshot, nodes);
            if goal.required.len() > most {
                return Planned { plan: None, proven: true };
            }
            return cheapest(snapshot, &goal, &weights, (most, turn), budget);
        }
    };
    let mut best = Planned { plan: None, proven: true };
    for &shape in shapes {
        let answer = unblocked(snapshot, shape, &weights, (most, turn), budget);
        best.proven &= answer.proven;
        let cost = |plan: &Option<MovePlan>| plan.as_ref().map_or(u64::MAX, |plan| plan.cost);
        if cost(&answer.plan) < cost(&best.plan) {
            best.plan = answer.plan;
        }
    }
    best
}

impl RoomPlan {
    /// The same with the times of its moves, and those who are waited for.
    fn timed(
        mut self,
        snapshot: &Snapshot,
        room: Room<'_>,
        ends: impl Fn(JobId) -> Option<Time>,
    ) -> RoomPlan {
        let grid = snapshot.grid;
        let single = |node: &NodeId| Cuboid::node(grid.point(*node));
        let nodes = match room {
            Room::Box(_) => Vec::new(),
            Room::Nodes(nodes) => {
                nodes.iter().filter(|node| node.0 < grid.nodes()).map(single).collect()
            }
        };
        // Those who end by themselves, and who hold nodes of some boxes.
        let awaited = |boxes: &[Cuboid]| {
            let meets = |own: &Cuboid| boxes.iter().any(|part| own.intersects(&grid, part));
            let ending = snapshot.jobs().filter_map(|(job, parts)| Some((ends(job)?, job, parts)));
            let found = ending.filter(|(_, _, parts)| parts.iter().any(meets));
            found.map(|(end, job, _)| (end, job)).collect::<Vec<_>>()
        };
        let mut ready = Time::ZERO;
        for step in &self.moves.moves {
            let before = awaited(&step.to);
            ready = before.iter().map(|(end, _)| *end).fold(ready, Time::max);
            self.ready.push(ready);
            self.awaited.extend(before.into_iter().map(|(_, job)| job));
        }
        for needed in [&self.moves.boxes[..], &nodes] {
            self.awaited.extend(awaited(needed).into_iter().map(|(_, job)| job));
        }
        self.awaited.sort_unstable();
        self.awaited.dedup();
        self
    }
}

/// The sets of at most so many jobs in the order of what they lose, each once; its jobs by number.
struct Sets {
    /// The jobs with what each loses, the least first.
    jobs: Vec<(u64, JobId)>,
    most: usize,
    /// (loss, places of the jobs, which grow).
    waiting: BinaryHeap<Reverse<(u64, Vec<usize>)>>,
}

impl Sets {
    fn new(mut jobs: Vec<(u64, JobId)>, most: usize) -> Sets {
        jobs.sort_unstable();
        Sets { jobs, most, waiting: BinaryHeap::from([Reverse((0, Vec::new()))]) }
    }

    /// The next set. From each, two are made: one with the next job behind its last, and one with
    /// that in its last one's place. So each set comes about once, and none before one that loses
    /// less.
    fn next(&mut self) -> Option<(u64, Vec<JobId>)> {
        let Reverse((loss, set)) = self.waiting.pop()?;
        let next = set.last().map_or(0, |last| last + 1);
        if let Some((more, _)) = self.jobs.get(next) {
            if set.len() < self.most {
                let longer = [&set[..], &[next]].concat();
                self.waiting.push(Reverse((loss.saturating_add(*more), longer)));
            }
            if let Some((&last, others)) = set.split_last() {
                let other = [others, &[next]].concat();
                let loss = loss - self.jobs[last].0 + more;
                self.waiting.push(Reverse((loss, other)));
            }
        }
        let mut jobs: Vec<JobId> = set.iter().map(|&place| self.jobs[place].1).collect();
        jobs.sort_unstable();
        Some((loss, jobs))
    }
}
