//! The cheapest set of jobs whose moving reaches a goal.
//!
//! A goal is boxes that are to be free, jobs that must go, and nodes that may be used. Sets of jobs
//! are looked at in the order (weight, number of jobs, jobs), each once; a set is expanded by every
//! other job, so that a set comes after all of its subsets. For each, an exact packing (`packing.rs`)
//! says whether the boxes and the moved jobs find room together. The first that does, and whose moves
//! can be carried out one after another (`order.rs`), is the answer.
//!
//! Where a single box is asked for, a set is worth looking at only if it contains all jobs of some
//! place of that box: the search starts with those sets.
//!
//! Cost: in the worst case every set of at most k jobs, with every packing. The budget bounds the
//! words of bit sets that are looked at; one set may use a quarter of what is left.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use pavior_mesh::{Cuboid, JobId, Occupancy};
use rustc_hash::FxHashSet;

use crate::packing::{Outcome, Packing, Room};
use crate::windows::{Places, Union, barred, over_jobs};
use crate::{Shape, Snapshot, Weights};

/// How far a search goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most jobs that are moved.
    pub max_jobs: usize,
    /// Whether moved jobs may be turned. Each part of a job keeps its shape and goes where it can.
    pub turn: bool,
    /// The most words of bit sets that are looked at before the search gives up, unproven.
    pub budget: u64,
}

impl Limits {
    /// The usual budget: about a second.
    pub const BUDGET: u64 = 120_000_000;

    /// At most so many jobs, turned or not, within the usual budget.
    pub fn jobs(max_jobs: usize) -> Limits {
        Limits { max_jobs, turn: true, budget: Limits::BUDGET }
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
pub struct Plan {
    /// What the moved jobs weigh together.
    pub cost: u64,
    /// The moved jobs, by number.
    pub jobs: Vec<JobId>,
    /// The boxes that are free after the moves, as they were asked for.
    pub boxes: Vec<Cuboid>,
    /// The moves, in an order in which each finds its nodes free. A job moves twice only where there
    /// is no other way.
    pub moves: Vec<Move>,
}

/// What a search found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The cheapest plan found; without moves if nothing is in the way.
    pub plan: Option<Plan>,
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

/// The cheapest plan that moves at most `most` jobs.
pub(crate) fn cheapest(
    snapshot: &Snapshot,
    goal: &Goal,
    weights: &Weights,
    (most, turn): (usize, bool),
    budget: &mut Budget,
) -> Answer {
    let mut room = Room::new(snapshot, goal, turn);
    let mut sets = Sets::new(weights);
    for set in starts(snapshot, goal, most) {
        sets.push(set);
    }
    let mut proven = true;
    while let Some(jobs) = sets.pop() {
        let mut share = Budget { left: budget.left / 4 };
        let before = share.left;
        let outcome = Packing::of(&mut room, &jobs, &mut share).search();
        budget.spend(before - share.left + 1);
        match outcome {
            Outcome::Found(boxes, moves) => {
                let cost = weights.of(&jobs);
                let jobs = jobs.iter().map(|&job| snapshot.jobs[job as usize].0).collect();
                return Answer { plan: Some(Plan { cost, jobs, boxes, moves }), proven };
            }
            Outcome::Nothing => {}
            Outcome::Unknown => proven = false,
        }
        if budget.left < 64 {
            return Answer { plan: None, proven: false };
        }
        if jobs.len() < most {
            budget.spend(sets.expand(&jobs, snapshot.jobs.len()));
        }
    }
    Answer { plan: None, proven }
}

/// The sets that the search begins with.
fn starts(snapshot: &Snapshot, goal: &Goal, most: usize) -> Vec<Vec<u32>> {
    if goal.count != 1 || !goal.required.is_empty() {
        return vec![goal.required.clone()];
    }
    let mut sets = FxHashSet::default();
    for sides in goal.shape.orientations(&snapshot.grid) {
        let places = Places::of(&snapshot.grid, sides);
        let barred = barred(&places, &goal.available);
        let counts = over_jobs(snapshot, &places, |_| 1);
        let bases = places.bases();
        let mut lists: Vec<Option<Vec<u32>>> = (0..bases.nodes())
            .map(|base| {
                let base = bases.point(pavior_mesh::NodeId(base));
                let open = barred.as_ref().is_none_or(|barred| barred.at(base) == 0);
                (open && counts.at(base) <= most as u64).then(Vec::new)
            })
            .collect();
        let mut union = Union::new(bases);
        for (job, (_, parts)) in snapshot.jobs.iter().enumerate() {
            for piece in union.meeting(&places, parts) {
                for base in piece.nodes(bases) {
                    if let Some(list) = &mut lists[base.index()] {
                        list.push(job as u32);
                    }
                }
            }
        }
        sets.extend(lists.into_iter().flatten());
    }
    // The order of the table is no matter: sets are taken by weight.
    sets.into_iter().collect()
}

/// Sets of jobs still to be looked at, the lightest first.
struct Sets<'a> {
    weights: &'a Weights,
    waiting: BinaryHeap<Reverse<(u64, usize, Vec<u32>)>>,
    seen: FxHashSet<Vec<u32>>,
}

impl Sets<'_> {
    fn new(weights: &Weights) -> Sets<'_> {
        Sets { weights, waiting: BinaryHeap::new(), seen: FxHashSet::default() }
    }

    fn push(&mut self, jobs: Vec<u32>) {
        if self.seen.insert(jobs.clone()) {
            self.waiting.push(Reverse((self.weights.of(&jobs), jobs.len(), jobs)));
        }
    }

    fn pop(&mut self) -> Option<Vec<u32>> {
        self.waiting.pop().map(|Reverse((_, _, jobs))| jobs)
    }

    /// Adds each other job in turn; returns what that costs.
    fn expand(&mut self, jobs: &[u32], count: usize) -> u64 {
        for job in 0..count as u32 {
            if let Err(place) = jobs.binary_search(&job) {
                let mut more = jobs.to_vec();
                more.insert(place, job);
                self.push(more);
            }
        }
        64 * count as u64
    }
}
