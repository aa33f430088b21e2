//! The growth of a nucleus, neighbour by neighbour, to the number of nodes asked for. For NAS.
//!
//! `reaches` tells whether a nucleus can grow to a number of nodes; `grow` does it. With four-way
//! neighbours a nucleus reaches every node of its component, so that the size of the component is
//! the answer. With right-up neighbours a flood fill finds it.
//!
//! Invariant: the next node is the free neighbour with most allocated neighbours; of equals, the
//! first in row-major order.
//!
//! Cost: O(N/64) and O(r log r) a state with r runs of free nodes. `reaches`: O(log r) four-way,
//! O(n) right-up. `grow`: O(n log n), and O(N) where no neighbour is left.

use std::collections::VecDeque;

use pavior_mesh::{Cuboid, Grid, NodeId, Occupancy};

use crate::Work;
use crate::strategies::shared::bit_set::BitSet;
use crate::strategies::shared::components::Components;

/// Which nodes are neighbours of one that is allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NeighbourRule {
    /// Those at x + 1 and y + 1.
    RightUp,
    /// All four.
    FourWay,
}

/// The growth, on a two-dimensional mesh, with its scratch memory.
#[derive(Clone)]
pub(crate) struct NeighbourGrowth {
    grid: Grid,
    rule: NeighbourRule,
    components: Components,
    /// Right-up only, by node: the number of the last flood that reached it.
    marks: Vec<u32>,
    /// The number of the current flood.
    flood: u32,
    open: Vec<NodeId>,
    work: Work,
}

impl NeighbourGrowth {
    pub(crate) fn new(grid: Grid, rule: NeighbourRule) -> NeighbourGrowth {
        let marks = match rule {
            NeighbourRule::FourWay => Vec::new(),
            NeighbourRule::RightUp => vec![0; grid.nodes() as usize],
        };
        let (components, open) = (Components::default(), Vec::new());
        NeighbourGrowth { grid, rule, components, marks, flood: 0, open, work: Work::default() }
    }

    /// Takes note of a state, before the questions in that state. Returns the number of nodes of
    /// the largest component, beyond which nothing can grow. O(N/64) and O(runs of free nodes).
    pub(crate) fn prepare(&mut self, free: &Occupancy) -> u32 {
        self.work.words += u64::from(self.grid.nodes().div_ceil(64));
        self.components.load(&self.grid, free);
        self.work.boxes += self.components.runs();
        self.components.largest()
    }

    /// Whether a free nucleus can grow to `nodes` nodes. O(log runs) four-way, O(nodes) right-up.
    pub(crate) fn reaches(&mut self, free: &Occupancy, nucleus: &Cuboid, nodes: u32) -> bool {
        self.work.boxes += 1;
        if self.rule == NeighbourRule::FourWay {
            return self.components.size(self.grid.id(nucleus.base)) >= nodes;
        }
        self.flood += 1;
        self.open.clear();
        self.open.extend(nucleus.nodes(&self.grid));
        for node in &self.open {
            self.marks[node.index()] = self.flood;
        }
        let mut next = 0;
        while let Some(&node) = self.open.get(next) {
            if self.open.len() as u32 >= nodes {
                return true;
            }
            next += 1;
            self.work.boxes += 1;
            for beside in neighbours(&self.grid, self.rule, node) {
                let mark = &mut self.marks[beside.index()];
                if free.is_node_free(beside) && *mark != self.flood {
                    *mark = self.flood;
                    self.open.push(beside);
                }
            }
        }
        false
    }

    /// Grows a free nucleus to `nodes` nodes, and returns those added in row-major order. The next
    /// one is the free neighbour with most allocated neighbours, the first in row-major order of
    /// equals. Where no neighbour is left, it is the nearest free node. Enough nodes are free.
    pub(crate) fn grow(&mut self, free: &Occupancy, nucleus: &Cuboid, nodes: u32) -> Vec<NodeId> {
        let mut allocated = Allocated::new(self.grid, self.rule, free);
        for node in nucleus.nodes(&self.grid) {
            allocated.add(node);
        }
        let mut added = Vec::new();
        while nucleus.volume() + (added.len() as u32) < nodes {
            let node = match allocated.fullest() {
                Some(node) => node,
                None => allocated.nearest(),
            };
            allocated.add(node);
            added.push(node);
        }
        self.work.boxes += allocated.visited;
        added.sort_unstable();
        added
    }

    /// Boxes: nodes looked at one by one, and runs joined to components. Words: those that runs
    /// were read from.
    pub(crate) fn work(&self) -> Work {
        self.work
    }
}

/// The neighbours of a node, by a rule.
fn neighbours(
    grid: &Grid,
    rule: NeighbourRule,
    node: NodeId,
) -> impl Iterator<Item = NodeId> + use<> {
    let ([w, d, _], [x, y, _]) = (grid.sides(), grid.point(node));
    let (wide, four) = (u32::from(w), rule == NeighbourRule::FourWay);
    let steps = [
        (x + 1 < w).then(|| NodeId(node.0 + 1)),
        (y + 1 < d).then(|| NodeId(node.0 + wide)),
        (four && x > 0).then(|| NodeId(node.0.wrapping_sub(1))),
        (four && y > 0).then(|| NodeId(node.0.wrapping_sub(wide))),
    ];
    steps.into_iter().flatten()
}

/// The nodes allocated so far, and their free neighbours.
struct Allocated<'a> {
    grid: Grid,
    rule: NeighbourRule,
    free: &'a Occupancy,
    /// By node: whether it is allocated, and how many allocated neighbours it has.
    owned: Vec<bool>,
    touched: Vec<u8>,
    /// The free neighbours, by their number of allocated neighbours.
    neighbours: [NodeSet; 5],
    /// Nodes looked at.
    visited: u64,
}

/// A set of nodes that knows its first one in row-major order.
struct NodeSet {
    nodes: BitSet,
    /// No node before this one is in it.
    low: u32,
}

impl NodeSet {
    fn new(nodes: u32) -> NodeSet {
        NodeSet { nodes: BitSet::new(nodes), low: 0 }
    }

    fn insert(&mut self, node: NodeId) {
        self.low = if self.nodes.len() == 0 { node.0 } else { self.low.min(node.0) };
        self.nodes.insert(node.0);
    }

    fn remove(&mut self, node: NodeId) {
        self.nodes.remove(node.0);
    }

    fn first(&mut self) -> Option<NodeId> {
        if self.nodes.len() == 0 {
            return None;
        }
        self.low = self.nodes.next(self.low)?;
        Some(NodeId(self.low))
    }
}

impl<'a> Allocated<'a> {
    fn new(grid: Grid, rule: NeighbourRule, free: &'a Occupancy) -> Self {
        let nodes = grid.nodes() as usize;
        let (owned, touched) = (vec![false; nodes], vec![0; nodes]);
        let neighbours = std::array::from_fn(|_| NodeSet::new(grid.nodes()));
        Allocated { grid, rule, free, owned, touched, neighbours, visited: 0 }
    }

    fn add(&mut self, node: NodeId) {
        self.owned[node.index()] = true;
        self.neighbours[usize::from(self.touched[node.index()])].remove(node);
        for beside in neighbours(&self.grid, self.rule, node) {
            self.visited += 1;
            if self.free.is_node_free(beside) && !self.owned[beside.index()] {
                let touched = &mut self.touched[beside.index()];
                self.neighbours[usize::from(*touched)].remove(beside);
                *touched += 1;
                self.neighbours[usize::from(*touched)].insert(beside);
            }
        }
    }

    /// The free neighbour with most allocated neighbours.
    fn fullest(&mut self) -> Option<NodeId> {
        self.neighbours.iter_mut().rev().find_map(NodeSet::first)
    }

    /// The free node with the fewest hops to an allocated one, the first in row-major order of
    /// those.
    fn nearest(&mut self) -> NodeId {
        let grid = &self.grid;
        self.visited += u64::from(grid.nodes());
        let mut hops = vec![u32::MAX; self.owned.len()];
        let mut open: VecDeque<NodeId> =
            (0..grid.nodes()).map(NodeId).filter(|node| self.owned[node.index()]).collect();
        for node in &open {
            hops[node.index()] = 0;
        }
        while let Some(node) = open.pop_front() {
            for beside in neighbours(grid, NeighbourRule::FourWay, node) {
                if hops[beside.index()] == u32::MAX {
                    hops[beside.index()] = hops[node.index()] + 1;
                    open.push_back(beside);
                }
            }
        }
        let open = self.free.iter().filter(|node| !self.owned[node.index()]);
        open.min_by_key(|node| (hops[node.index()], *node)).expect("enough nodes are free")
    }
}
