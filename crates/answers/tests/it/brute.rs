//! A reference implementation that tries all possibilities. It represents sets of nodes as 32-bit
//! masks.

use std::collections::HashSet;

use pavior_mesh::{Cuboid, Grid, NodeId, Scan, Sides, orientations};

pub(crate) fn mask(grid: &Grid, part: &Cuboid) -> u32 {
    part.nodes(grid).fold(0, |mask, node| mask | 1 << node.0)
}

/// Returns the nodes in a mask, in ascending order.
pub(crate) fn nodes(mask: u32) -> Vec<NodeId> {
    (0..32).filter(|node| mask >> node & 1 == 1).map(NodeId).collect()
}

pub(crate) fn masks(grid: &Grid, parts: &[Cuboid]) -> u32 {
    parts.iter().fold(0, |all, part| all | mask(grid, part))
}

/// Returns all positions of a box, sorted by orientation and then by base.
pub(crate) fn places(grid: &Grid, sides: Sides, turn: bool) -> Vec<(Cuboid, u32)> {
    let turned = orientations(sides).take(if turn { 6 } else { 1 });
    let places = turned.flat_map(|sides| {
        Scan::default().bases(*grid, sides).map(move |base| Cuboid::new(base, sides))
    });
    places.map(|at| (at, mask(grid, &at))).collect()
}

/// A machine's state, as represented in the reference implementation.
pub(crate) struct State {
    pub(crate) grid: Grid,
    pub(crate) jobs: Vec<Vec<Cuboid>>,
    pub(crate) healthy: u32,
    pub(crate) turn: bool,
}

impl State {
    pub(crate) fn new(grid: Grid, jobs: &[Vec<Cuboid>], failed: &[NodeId], turn: bool) -> State {
        let all = if grid.nodes() == 32 { u32::MAX } else { (1 << grid.nodes()) - 1 };
        let healthy = failed.iter().fold(all, |mask, node| mask & !(1 << node.0));
        State { grid, jobs: jobs.to_vec(), healthy, turn }
    }

    /// Returns the state in which these nodes have failed. Jobs stay on them until they move.
    pub(crate) fn drained(&self, nodes: u32) -> State {
        State { jobs: self.jobs.clone(), healthy: self.healthy & !nodes, ..*self }
    }

    pub(crate) fn held(&self, job: usize) -> u32 {
        masks(&self.grid, &self.jobs[job])
    }

    /// Returns the jobs that hold any of these nodes.
    pub(crate) fn holders(&self, nodes: u32) -> Vec<usize> {
        (0..self.jobs.len()).filter(|&job| self.held(job) & nodes != 0).collect()
    }

    /// Returns the number of nodes of each job.
    pub(crate) fn sizes(&self) -> Vec<u64> {
        (0..self.jobs.len()).map(|job| self.held(job).count_ones().into()).collect()
    }

    /// Returns the healthy nodes that are free once the `moved` jobs have been removed.
    pub(crate) fn free_without(&self, moved: &[usize]) -> u32 {
        let others = (0..self.jobs.len()).filter(|job| !moved.contains(job));
        others.fold(self.healthy, |free, job| free & !self.held(job))
    }

    /// Returns true if `count` boxes and the parts of these jobs fit at the same time.
    fn packs(&self, shape: Sides, count: usize, moved: &[usize]) -> bool {
        let free = self.free_without(moved);
        let list = |sides, turn| -> Vec<u32> {
            let places = places(&self.grid, sides, turn).into_iter().map(|(_, nodes)| nodes);
            places.filter(|place| place & !free == 0).collect()
        };
        let mut lists = vec![list(shape, true); count];
        let parts = moved.iter().flat_map(|&job| &self.jobs[job]);
        lists.extend(parts.map(|part| list(part.sides, self.turn)));
        let wanted: u32 =
            lists.iter().filter_map(|list| list.first()).map(|at| at.count_ones()).sum();
        if lists.iter().any(Vec::is_empty) || wanted > free.count_ones() {
            return false;
        }
        lists.sort_by(|a, b| (a.len(), a).cmp(&(b.len(), b)));
        packs(free, &lists, 0)
    }

    /// Returns the sets of at most `most` jobs, including `required`, each with its total weight,
    /// lightest first.
    fn sets(&self, (required, most): (&[usize], usize), weights: &[u64]) -> Vec<(u64, Vec<usize>)> {
        let mut sets = subsets(self.jobs.len(), most);
        sets.retain(|set| required.iter().all(|job| set.contains(job)));
        let weight = |set: &Vec<usize>| set.iter().map(|&job| weights[job]).sum();
        let mut sets: Vec<_> = sets.into_iter().map(|set| (weight(&set), set)).collect();
        sets.sort();
        sets
    }

    /// Returns the minimum total weight of at most `most` jobs, including `required`, whose moves
    /// make room.
    pub(crate) fn least(
        &self,
        (shape, count): (Sides, usize),
        limits: (&[usize], usize),
        weights: &[u64],
    ) -> Option<u64> {
        let mut sets = self.sets(limits, weights).into_iter();
        sets.find(|(_, set)| self.packs(shape, count, set)).map(|(cost, _)| cost)
    }

    /// Returns true if a plan's cost is the minimum. Otherwise, asserts that no cheaper set of jobs
    /// reaches a state that `good` accepts.
    pub(crate) fn is_cheapest(
        &self,
        cost: Option<u64>,
        boxes: (Sides, usize),
        limits: (&[usize], usize),
        weights: &[u64],
        good: impl Fn(&[u32], u32) -> bool,
    ) -> bool {
        let least = self.least(boxes, limits, weights);
        if cost == least {
            return true;
        }
        // If the costs differ, a cheaper set fits, but its moves cannot be ordered, even with
        // temporary positions.
        assert!(cost.is_none_or(|cost| least.is_some_and(|least| least < cost)));
        for (weight, set) in self.sets(limits, weights) {
            let single = set.iter().all(|&job| self.jobs[job].len() == 1);
            if single && cost.is_none_or(|cost| weight < cost) {
                assert!(!self.reachable(&set, &good), "{set:?} is enough and weighs {weight}");
            }
        }
        false
    }

    /// Returns true if a sequence of single moves of these jobs, each to free nodes, leads to a
    /// state that `good` accepts. `good` receives the jobs' positions and the free nodes. Each job
    /// has one part.
    fn reachable(&self, moved: &[usize], good: impl Fn(&[u32], u32) -> bool) -> bool {
        let free = self.free_without(moved);
        let start: Vec<u32> = moved.iter().map(|&job| self.held(job)).collect();
        let mut seen = HashSet::from([start.clone()]);
        let mut waiting = vec![start];
        while let Some(state) = waiting.pop() {
            let left = state.iter().fold(free, |free, at| free & !at);
            if good(&state, left) {
                return true;
            }
            for (index, &job) in moved.iter().enumerate() {
                let others = state.iter().enumerate().filter(|(other, _)| *other != index);
                let left = others.fold(free, |free, (_, at)| free & !at);
                for (_, place) in places(&self.grid, self.jobs[job][0].sides, self.turn) {
                    if place & !left == 0 {
                        let mut next = state.clone();
                        next[index] = place;
                        if seen.insert(next.clone()) {
                            waiting.push(next);
                        }
                    }
                }
            }
        }
        false
    }
}

/// Returns true if one box can be chosen from each list so that no two overlap. Equal lists must be
/// adjacent. Interchangeable boxes are placed in ascending order.
fn packs(free: u32, lists: &[Vec<u32>], from: usize) -> bool {
    let Some((first, rest)) = lists.split_first() else { return true };
    first.iter().enumerate().skip(from).any(|(index, place)| {
        let next = if rest.first() == Some(first) { index + 1 } else { 0 };
        place & !free == 0 && packs(free & !place, rest, next)
    })
}

/// Returns all sets of at most `most` numbers below `count`.
pub(crate) fn subsets(count: usize, most: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    let mut last = all.clone();
    for _ in 0..most {
        let longer = |set: &Vec<usize>| {
            let from = set.last().map_or(0, |last| last + 1);
            let set = set.clone();
            (from..count).map(move |next| [set.as_slice(), &[next]].concat()).collect::<Vec<_>>()
        };
        last = last.iter().flat_map(longer).collect();
        all.extend(last.clone());
    }
    all
}
