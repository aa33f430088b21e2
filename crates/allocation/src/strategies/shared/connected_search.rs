//! A compact connected set of free nodes that cuts as little as it can off the rest: `connected`.

use std::cmp::Reverse;

use pavior_mesh::{BaseSet, Coordinates, Cuboid, Grid, NodeId, Occupancy, Sides, volume};

use super::connected_sets::ConnectedSets;
use super::factor_shapes::factor_shapes_into;
use super::runs::runs;
use super::spread::{Spread, distance_in};
use crate::{Placement, Work};

/// The most boxes that are looked at for one shape.
const BOXES: usize = 32;
/// The most sets of free nodes in which sets are grown.
const REGIONS: usize = 4;
/// What bounds the number of sets that are grown for large requests: nodes times sides.
const GROWING: u64 = 1 << 22;
/// What bounds an exchange: nodes that are given back times nodes of the set.
const EXCHANGING: u64 = 1 << 22;

/// The mark of a node of the set that is being looked at; other marks of growth are the number of a
/// node's neighbours in the set.
const TAKEN: u8 = 128;
/// The mark of a node of the rest.
const REST: u8 = 64;

/// Finds connected sets. It keeps nothing but what it knows of the last state, with which it compares.
#[derive(Clone)]
pub(crate) struct ConnectedSearch {
    grid: Grid,
    /// The state that `sets` is of.
    state: Option<Occupancy>,
    sets: ConnectedSets,
    bases: BaseSet,
    spread: Spread,
    /// By node: its mark; 0 between questions.
    marks: Vec<u8>,
    /// The set of free nodes that is being looked at.
    region: Vec<NodeId>,
    work: Work,
}

/// A candidate: nodes in row-major order.
#[derive(Clone, Debug)]
struct Draft {
    nodes: Vec<NodeId>,
    at: Option<Cuboid>,
    /// The set of free nodes that it lies in.
    region: usize,
    /// How many nodes of its region it cuts off from the largest rest.
    cut: u32,
    distance: u64,
}

impl Draft {
    /// Less is better.
    fn rank(&self) -> impl Ord + '_ {
        (self.cut, self.distance, self.at.is_none(), &self.nodes)
    }
}

/// Which free neighbour growth takes next; of equals the first in row-major order.
#[derive(Clone, Copy)]
enum Next {
    /// The one with most neighbours in the set, of those the nearest to all nodes of the set.
    Fullest,
    /// The nearest to all nodes of the set, of those the one with most neighbours in it.
    Nearest,
}

impl ConnectedSearch {
    pub(crate) fn new(grid: Grid) -> ConnectedSearch {
        ConnectedSearch {
            grid,
            state: None,
            sets: ConnectedSets::default(),
            bases: BaseSet::new(grid),
            spread: Spread::new(grid),
            marks: Vec::new(),
            region: Vec::new(),
            work: Work::default(),
        }
    }

    /// The number of nodes of the largest connected set of free nodes. O(N/64) in the state of the
    /// question before.
    pub(crate) fn largest(&mut self, free: &Occupancy) -> u32 {
        self.work.words += u64::from(self.grid.nodes().div_ceil(64));
        if self.state.as_ref() != Some(free) {
            self.sets.load(&self.grid, free);
            self.work.boxes += self.sets.runs();
            match &mut self.state {
                Some(state) => state.copy_from(free),
                state => *state = Some(free.clone()),
            }
        }
        self.sets.largest()
    }

    /// A connected set of so many free nodes, if there is one; `asked` is a box that is tried first.
    pub(crate) fn find(
        &mut self,
        free: &Occupancy,
        nodes: u32,
        asked: Option<Sides>,
    ) -> Option<Placement> {
        if nodes == 0 || nodes > free.count() || self.largest(free) < nodes {
            return None;
        }
        if self.marks.is_empty() {
            self.marks = vec![0; self.grid.nodes() as usize];
        }
        let mut drafts = Vec::new();
        let fits = |sides: &Sides| volume(*sides) == u64::from(nodes) && self.grid.fits(*sides);
        let asked = asked.filter(fits);
        let mut shapes = Vec::new();
        factor_shapes_into(nodes, &self.grid, &mut shapes);
        shapes.retain(|&sides| Some(sides) != asked);
        for sides in asked.into_iter().chain(shapes) {
            let taken_at_once = Some(sides) == asked || is_compact(&self.grid, sides);
            let whole = self.box_of(free, sides, &mut drafts);
            if let Some(at) = whole.filter(|_| taken_at_once) {
                return Some(Placement::Whole(at));
            }
        }
        self.grown(free, nodes, &mut drafts);
        if drafts.iter().all(|draft| draft.cut > 0) {
            for draft in &mut drafts {
                self.sets.nodes(draft.region, &mut self.region);
                self.exchange(draft);
            }
        }
        let best = drafts.into_iter().min_by(|a, b| a.rank().cmp(&b.rank()))?;
        Some(match best.at {
            Some(at) => Placement::Whole(at),
            None => runs(&self.grid, best.nodes.into_iter()),
        })
    }

    /// Looks at the free boxes of a shape, up to the first that cuts nothing off, which is answered.
    fn box_of(
        &mut self,
        free: &Occupancy,
        sides: Sides,
        drafts: &mut Vec<Draft>,
    ) -> Option<Cuboid> {
        let before = self.bases.words_touched();
        self.bases.compute(free, sides);
        self.work.words += self.bases.words_touched() - before;
        let bases: Vec<Coordinates> = self.bases.row_major().take(BOXES).collect();
        let distance = distance_in(&self.grid, sides);
        for base in bases {
            let at = Cuboid::new(base, sides);
            let region = self.sets.set_of(self.grid.id(base));
            self.sets.nodes(region, &mut self.region);
            let mut nodes: Vec<NodeId> = at.nodes(&self.grid).collect();
            nodes.sort_unstable();
            let cut = self.cut_off(&nodes);
            drafts.push(Draft { nodes, at: Some(at), region, cut, distance });
            if cut == 0 {
                return Some(at);
            }
        }
        None
    }

    /// Grows sets from the corners of the sets of free nodes that are large enough.
    fn grown(&mut self, free: &Occupancy, nodes: u32, drafts: &mut Vec<Draft>) {
        let mut regions = Vec::new();
        self.sets.at_least(nodes, &mut regions);
        let sides: u64 = self.grid.sides().iter().map(|&side| u64::from(side)).sum();
        let most = (GROWING / (u64::from(nodes) * sides)).max(1) as usize;
        let mut grown = 0;
        for region in regions.into_iter().take(REGIONS) {
            self.sets.nodes(region, &mut self.region);
            let seeds = self.seeds(free);
            for (next, seed) in [Next::Fullest, Next::Nearest]
                .into_iter()
                .flat_map(|next| seeds.iter().map(move |&seed| (next, seed)))
            {
                if grown == most {
                    return;
                }
                grown += 1;
                let nodes = self.grow(free, seed, nodes, next);
                let (cut, distance) = (self.cut_off(&nodes), self.spread.total());
                let whole = nodes.len() == self.region.len();
                drafts.push(Draft { nodes, at: None, region, cut, distance });
                if whole {
                    break;
                }
            }
        }
    }

    /// Where sets of the region are grown from: the node with the fewest free neighbours, and the
    /// outermost node in the direction of each corner of the machine, the first in row-major order of
    /// equals.
    fn seeds(&self, free: &Occupancy) -> Vec<NodeId> {
        let free_beside = |node: &NodeId| {
            self.grid.neighbours(*node).filter(|&beside| free.is_node_free(beside)).count()
        };
        let mut seeds: Vec<NodeId> =
            self.region.iter().copied().min_by_key(free_beside).into_iter().collect();
        for corner in 0..8 {
            let outwards = |node: &NodeId| {
                let point = self.grid.point(*node);
                let along = |axis: usize| i64::from(point[axis]) * (1 - 2 * (corner >> axis & 1));
                (0..3).map(along).sum::<i64>()
            };
            let seed = self.region.iter().copied().min_by_key(outwards);
            seeds.extend(seed.filter(|seed| !seeds.contains(seed)));
        }
        seeds
    }

    /// Grows a set from a node of the region, which has enough; its spread is left in `spread`.
    fn grow(&mut self, free: &Occupancy, seed: NodeId, nodes: u32, next: Next) -> Vec<NodeId> {
        self.spread.clear();
        let mut set = Vec::with_capacity(nodes as usize);
        let mut frontier: Vec<(NodeId, Coordinates)> = vec![(seed, self.grid.point(seed))];
        while set.len() < nodes as usize {
            self.work.boxes += frontier.len() as u64;
            let key = |index: &usize| {
                let (node, point) = frontier[*index];
                let apart = self.spread.of(point);
                let alone = u64::from(u8::MAX - self.marks[node.index()]);
                match next {
                    Next::Fullest => (alone, apart, node),
                    Next::Nearest => (apart, alone, node),
                }
            };
            let best = (0..frontier.len()).min_by_key(key);
            let (node, point) = frontier.swap_remove(best.expect("the region has enough nodes"));
            self.marks[node.index()] = TAKEN;
            self.spread.add(point);
            set.push(node);
            for beside in self.grid.neighbours(node) {
                let mark = &mut self.marks[beside.index()];
                if *mark != TAKEN && free.is_node_free(beside) {
                    if *mark == 0 {
                        frontier.push((beside, self.grid.point(beside)));
                    }
                    *mark += 1;
                }
            }
        }
        for node in set.iter().chain(frontier.iter().map(|(node, _)| node)) {
            self.marks[node.index()] = 0;
        }
        set.sort_unstable();
        set
    }

    /// How many nodes of the region a set of its nodes cuts off from the largest rest.
    fn cut_off(&mut self, set: &[NodeId]) -> u32 {
        self.rests(set).iter().skip(1).map(|rest| rest.len() as u32).sum()
    }

    /// The connected rests of the region without a set of its nodes, larger ones first, then in
    /// row-major order. O(nodes of the region).
    fn rests(&mut self, set: &[NodeId]) -> Vec<Vec<NodeId>> {
        self.work.boxes += self.region.len() as u64;
        for node in &self.region {
            self.marks[node.index()] = REST;
        }
        for node in set {
            self.marks[node.index()] = 0;
        }
        let mut rests: Vec<Vec<NodeId>> = Vec::new();
        for &start in &self.region {
            if self.marks[start.index()] == REST {
                rests.push(reach(&self.grid, &mut self.marks, start, REST));
            }
        }
        rests.sort_by_key(|rest| Reverse(rest.len()));
        rests
    }

    /// Takes what a draft cuts off into it and gives as many nodes back to the largest rest, as long
    /// as both stay connected: the farthest first.
    fn exchange(&mut self, draft: &mut Draft) {
        loop {
            let rests = self.rests(&draft.nodes);
            draft.cut = rests.iter().skip(1).map(|rest| rest.len() as u32).sum();
            let [rest, .., fragment] = &rests[..] else { return };
            if fragment.len() as u64 * draft.nodes.len() as u64 > EXCHANGING {
                return;
            }
            let mut nodes = [&draft.nodes[..], fragment].concat();
            let exchanged = self.give_back(&mut nodes, rest, fragment.len());
            for node in &self.region {
                self.marks[node.index()] = 0;
            }
            if !exchanged {
                return;
            }
            nodes.sort_unstable();
            (draft.nodes, draft.at, draft.distance) = (nodes, None, self.spread.total());
        }
    }

    /// Gives so many of these connected nodes to a connected rest beside them, both staying connected;
    /// says whether it could. Leaves marks.
    fn give_back(&mut self, nodes: &mut Vec<NodeId>, rest: &[NodeId], count: usize) -> bool {
        self.spread.clear();
        for node in &*nodes {
            self.marks[node.index()] = TAKEN;
            self.spread.add(self.grid.point(*node));
        }
        for node in rest {
            self.marks[node.index()] = REST;
        }
        for _ in 0..count {
            let beside_rest = |index: &usize| {
                let mut beside = self.grid.neighbours(nodes[*index]);
                beside.any(|beside| self.marks[beside.index()] == REST)
            };
            let mut edge: Vec<usize> = (0..nodes.len()).filter(beside_rest).collect();
            edge.sort_by_key(|&index| {
                (Reverse(self.spread.of(self.grid.point(nodes[index]))), nodes[index])
            });
            let leaves = edge.into_iter().find(|&index| self.stays_connected(nodes, index));
            let Some(index) = leaves else { return false };
            let node = nodes.swap_remove(index);
            self.marks[node.index()] = REST;
            self.spread.remove(self.grid.point(node));
        }
        true
    }

    /// Whether nodes, all marked as taken, are connected without one of them.
    fn stays_connected(&mut self, nodes: &[NodeId], without: usize) -> bool {
        self.work.boxes += nodes.len() as u64;
        let Some(&start) = nodes.get(usize::from(without == 0)) else { return false };
        self.marks[nodes[without].index()] = 0;
        let reached = reach(&self.grid, &mut self.marks, start, TAKEN).len();
        for node in nodes {
            self.marks[node.index()] = TAKEN;
        }
        reached + 1 == nodes.len()
    }

    /// Runs of free nodes, nodes of the frontiers and of the floods; words compared and searched.
    pub(crate) fn work(&self) -> Work {
        self.work
    }
}

/// The nodes of a mark that are connected with one of them, their marks wiped.
fn reach(grid: &Grid, marks: &mut [u8], start: NodeId, mark: u8) -> Vec<NodeId> {
    marks[start.index()] = 0;
    let (mut reached, mut next) = (vec![start], 0);
    while let Some(&node) = reached.get(next) {
        next += 1;
        for beside in grid.neighbours(node) {
            if marks[beside.index()] == mark {
                marks[beside.index()] = 0;
                reached.push(beside);
            }
        }
    }
    reached
}

/// Whether no side is longer than twice another, on the axes that the grid has.
fn is_compact(grid: &Grid, sides: Sides) -> bool {
    let own = (0..3).filter(|&axis| grid.side(axis) > 1).map(|axis| sides[axis]);
    let longest = own.clone().max().unwrap_or(1);
    own.min().is_none_or(|shortest| longest <= 2 * shortest)
}
