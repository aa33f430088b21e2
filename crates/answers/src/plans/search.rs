//! Searches for the cheapest set of jobs to move in order to reach a goal.
//!
//! A goal consists of boxes that must become free, jobs that must move, and nodes that may be used.
//! The search tries each set of jobs once, ordered by (weight, number of jobs, jobs). It extends
//! each set by one other job at a time, so every set comes after all of its subsets. For each set,
//! `relocation.rs` tests whether the boxes and the moved jobs fit together and whether the moves
//! can be made one at a time. The search returns the first set that passes both tests.
//!
//! For a single box, a set can succeed only if it contains all jobs that the box overlaps at one of
//! its positions. The search begins with these sets of overlapped jobs.
//!
//! In the worst case, the search tests every packing of every set of at most k jobs. The budget
//! limits the number of bit-set words read. Testing a single set may use up to a quarter of the
//! remaining budget.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use pavior_mesh::{Coordinates, Grid};
use rustc_hash::FxHashSet;

use crate::plans::packing::{Outcome, Room};
use crate::plans::plan::{Budget, Goal, MoveLimits, MovePlan, Planned};
use crate::plans::relocation::relocate;
use crate::plans::windows::{Cost, Costs, Layers, Places, Union};
use crate::{Snapshot, Weights};

/// The cost of creating a set, in bit-set words.
pub(crate) const SET_COST: u64 = 64;

/// Finds the cheapest plan within the limits.
pub(crate) fn cheapest(
    snapshot: &Snapshot,
    goal: &Goal,
    weights: &Weights,
    limits: MoveLimits,
    budget: &mut Budget,
) -> Planned {
    let most = limits.max_jobs;
    let mut room = Room::new(snapshot, goal, limits.turn);
    let mut sets = Sets { weights, waiting: BinaryHeap::new(), seen: FxHashSet::default() };
    for set in starts(snapshot, goal, most) {
        sets.push(set);
    }
    let mut proven = true;
    while let Some(Reverse((_, _, jobs))) = sets.waiting.pop() {
        let mut share = Budget { left: budget.left / 4 };
        let before = share.left;
        let outcome = relocate(&mut room, &jobs, &mut share);
        budget.spend(before - share.left + 1);
        match outcome {
            Outcome::Found(boxes, moves) => {
                let cost = weights.of(&jobs);
                let jobs = jobs.iter().map(|&job| snapshot.jobs[job as usize].0).collect();
                return Planned { plan: Some(MovePlan { cost, jobs, boxes, moves }), proven };
            }
            Outcome::Nothing => {}
            Outcome::Unknown => proven = false,
        }
        let is_last = sets.waiting.is_empty() && jobs.len() >= most;
        if budget.left < SET_COST && !is_last {
            return Planned { plan: None, proven: false };
        }
        if jobs.len() < most {
            budget.spend(sets.expand(&jobs, snapshot.jobs.len()));
        }
    }
    Planned { plan: None, proven }
}

/// Returns the sets from which the search starts.
fn starts(snapshot: &Snapshot, goal: &Goal, most: usize) -> Vec<Vec<u32>> {
    if goal.count != 1 || !goal.required.is_empty() {
        return vec![goal.required.clone()];
    }
    let mut sets = FxHashSet::default();
    for sides in goal.shape.orientations(&snapshot.grid) {
        let places = Places::of(&snapshot.grid, sides);
        let costs = Costs::of(snapshot, &places, &goal.available, |_| 1);
        let mut open = Open::new(&places.bases);
        // In an unchanged layer, the boxes overlap the same jobs as in the previous layer.
        costs.each(Layers::Changed, |cost, base| {
            if cost <= most as Cost {
                open.add(base);
            }
        });
        sets.extend(open.filled(snapshot, &places));
    }
    // The hash table's order is irrelevant, because sets are processed by weight.
    sets.into_iter().collect()
}

/// The bases at which the box overlaps few jobs, in row-major order, each with these jobs.
struct Open {
    bases: Grid,
    /// The x coordinates of the bases.
    at: Vec<u16>,
    /// The index in `at` at which each row starts, followed by the end of the last row.
    from: Vec<usize>,
}

impl Open {
    fn new(bases: &Grid) -> Open {
        let rows = usize::from(bases.side(1)) * usize::from(bases.side(2));
        Open { bases: *bases, at: Vec::new(), from: vec![0; rows + 1] }
    }

    fn row(&self, y: u16, z: u16) -> usize {
        usize::from(y) + usize::from(self.bases.side(1)) * usize::from(z)
    }

    fn add(&mut self, [x, y, z]: Coordinates) {
        let row = self.row(y, z);
        self.at.push(x);
        self.from[row + 1] += 1;
    }

    /// Returns the jobs overlapped at each base, identified by their index in the snapshot.
    fn filled(mut self, snapshot: &Snapshot, places: &Places) -> Vec<Vec<u32>> {
        let mut lists = vec![Vec::new(); self.at.len()];
        if lists.is_empty() {
            return lists;
        }
        for row in 1..self.from.len() {
            self.from[row] += self.from[row - 1];
        }
        let mut union = Union::new(&self.bases);
        for (job, (_, parts)) in snapshot.jobs().enumerate() {
            union.meeting(places, parts, |piece| {
                let ([x, y, z], [a, b, c]) = (piece.base, piece.sides);
                for (y, z) in (z..z + c).flat_map(|z| (y..y + b).map(move |y| (y, z))) {
                    let row = self.row(y, z);
                    let (from, end) = (self.from[row], self.from[row + 1]);
                    let first = from + self.at[from..end].partition_point(|&at| at < x);
                    let met = self.at[first..end].iter().take_while(|&&at| at < x + a).count();
                    lists[first..first + met].iter_mut().for_each(|list| list.push(job as u32));
                }
            });
        }
        lists
    }
}

/// The sets of jobs that have not been tried yet, lightest first.
struct Sets<'a> {
    weights: &'a Weights,
    waiting: BinaryHeap<Reverse<(u64, usize, Vec<u32>)>>,
    seen: FxHashSet<Vec<u32>>,
}

impl Sets<'_> {
    fn push(&mut self, jobs: Vec<u32>) {
        if self.seen.insert(jobs.clone()) {
            self.waiting.push(Reverse((self.weights.of(&jobs), jobs.len(), jobs)));
        }
    }

    /// Adds every set made up of these jobs plus one more. Returns the cost of doing so.
    fn expand(&mut self, jobs: &[u32], count: usize) -> u64 {
        for job in 0..count as u32 {
            if let Err(place) = jobs.binary_search(&job) {
                let mut more = jobs.to_vec();
                more.insert(place, job);
                self.push(more);
            }
        }
        SET_COST * count as u64
    }
}
