//! Goals, limits and results of move searches.

use pavior_mesh::{Cuboid, JobId, Occupancy};

use crate::Shape;

/// Limits on a search.
///
/// ```
/// # mod pavior { pub use pavior_answers as answers; }
/// use pavior::answers::SearchLimits;
/// let quick = SearchLimits { budget: 1_000_000, ..SearchLimits::jobs(2) };
/// assert!(quick.turn && quick.max_jobs == 2);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchLimits {
    /// The maximum number of jobs to move.
    pub max_jobs: usize,
    /// True if moved jobs may be rotated. Each part of a job keeps its shape and moves
    /// independently.
    pub turn: bool,
    /// The maximum number of bit-set words to read, or other work that takes as long. If a search
    /// exhausts the budget, its answer is not proven.
    pub budget: u64,
}

impl SearchLimits {
    /// The default budget, enough for about a second of search.
    pub const BUDGET: u64 = 120_000_000;

    /// Creates limits with a maximum number of jobs, rotation allowed, and the default budget.
    pub fn jobs(max_jobs: usize) -> SearchLimits {
        SearchLimits { max_jobs, turn: true, budget: SearchLimits::BUDGET }
    }

    /// Returns the limits on the moves.
    pub(crate) fn moves(&self) -> MoveLimits {
        MoveLimits { max_jobs: self.max_jobs, turn: self.turn }
    }
}

/// Limits on a plan's moves, without the budget, which several searches may share.
#[derive(Clone, Copy)]
pub(crate) struct MoveLimits {
    pub(crate) max_jobs: usize,
    pub(crate) turn: bool,
}

/// A single-step move of a job to different boxes. The job's old nodes count as free.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    /// The job to move.
    pub job: JobId,
    /// The boxes before the move.
    pub from: Vec<Cuboid>,
    /// The boxes that the job occupies after the move, one per part.
    pub to: Vec<Cuboid>,
}

/// A sequence of job moves that reaches a goal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MovePlan {
    /// The total weight of the moved jobs.
    pub cost: u64,
    /// The moved jobs, sorted by number.
    pub jobs: Vec<JobId>,
    /// The requested boxes, which are free after the moves.
    pub boxes: Vec<Cuboid>,
    /// The moves, in an order in which each job's new nodes are free when the job moves. A job
    /// moves twice only if there is no alternative.
    pub moves: Vec<Move>,
}

/// The result of a search for moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planned {
    /// The cheapest plan found. It has no moves if none are necessary.
    pub plan: Option<MovePlan>,
    /// True if it is proven that, within the job limit, there is no cheaper plan or, if no plan was
    /// found, no plan at all.
    pub proven: bool,
}

/// The state that moves must reach.
pub(crate) struct Goal {
    /// The shape of the boxes that must be free at the same time.
    pub(crate) shape: Shape,
    /// The number of these boxes.
    pub(crate) count: usize,
    /// The jobs that must move, identified by their index in the snapshot.
    pub(crate) required: Vec<u32>,
    /// The healthy nodes that boxes and moved jobs may occupy as soon as these nodes are free.
    pub(crate) available: Occupancy,
}

/// The number of bit-set words that a search may still read.
pub(crate) struct Budget {
    pub(crate) left: u64,
}

impl Budget {
    pub(crate) fn spend(&mut self, words: u64) {
        self.left = self.left.saturating_sub(words);
    }
}
