//! What a search is asked and answers: goals, limits, and plans of moves.

use pavior_mesh::{Cuboid, JobId, Occupancy};

use crate::Shape;

/// How far a search goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchLimits {
    /// The most jobs that are moved.
    pub max_jobs: usize,
    /// Whether moved jobs may be turned. Each part of a job keeps its shape and goes where it can.
    pub turn: bool,
    /// The most words of bit sets that are looked at before the search gives up, unproven.
    pub budget: u64,
}

impl SearchLimits {
    /// The usual budget: about a second.
    pub const BUDGET: u64 = 120_000_000;

    /// At most so many jobs, turned or not, within the usual budget.
    pub fn jobs(max_jobs: usize) -> SearchLimits {
        SearchLimits { max_jobs, turn: true, budget: SearchLimits::BUDGET }
    }
}

/// A job goes from boxes to boxes, in one step: its old nodes are free for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    /// The job.
    pub job: JobId,
    /// What it holds before.
    pub from: Vec<Cuboid>,
    /// What it holds after, part by part.
    pub to: Vec<Cuboid>,
}

/// Which jobs go where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MovePlan {
    /// What the moved jobs weigh together.
    pub cost: u64,
    /// The moved jobs, by number.
    pub jobs: Vec<JobId>,
    /// The boxes that are free after the moves, as they were asked for.
    pub boxes: Vec<Cuboid>,
    /// The moves, in an order in which each finds its nodes free. A job moves twice only where
    /// there is no other way.
    pub moves: Vec<Move>,
}

/// What a search found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planned {
    /// The cheapest plan found; without moves if nothing is in the way.
    pub plan: Option<MovePlan>,
    /// Whether there is certainly no cheaper plan, or none at all, within the number of jobs.
    pub proven: bool,
}

/// What is to be reached.
pub(crate) struct Goal {
    /// So many boxes of a shape are to be free at once.
    pub(crate) shape: Shape,
    pub(crate) count: usize,
    /// Jobs, by their places in the list, that must move.
    pub(crate) required: Vec<u32>,
    /// The nodes that boxes and moved jobs may use, if free: healthy ones.
    pub(crate) available: Occupancy,
}

/// Words that may still be looked at.
pub(crate) struct Budget {
    pub(crate) left: u64,
}

impl Budget {
    pub(crate) fn spend(&mut self, words: u64) {
        self.left = self.left.saturating_sub(words);
    }
}
