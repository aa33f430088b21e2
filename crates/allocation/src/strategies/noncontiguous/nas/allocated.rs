//! The nodes in a growing nucleus, and the selection of the next free neighbor.
//!
//! Invariant: each free neighbor is in the set for its number of allocated neighbors. The first
//! node in the last nonempty set is therefore the first one with the most allocated neighbors.
//!
//! Cost: O(1) to add a node, and O(words passed) to find the next neighbor, or O(N) if there is
//! none.

use std::collections::VecDeque;

use pavior_mesh::{Grid, NodeId, Occupancy};

use super::neighbour_growth::{NeighbourRule, neighbours};
use crate::strategies::shared::bit_set::BitSet;

/// The nodes allocated so far, and their free neighbors.
pub(super) struct Allocated<'a> {
    grid: Grid,
    rule: NeighbourRule,
    free: &'a Occupancy,
    /// True for each node that is allocated.
    owned: Vec<bool>,
    /// For each node, the number of allocated neighbors.
    touched: Vec<u8>,
    /// The free neighbors, by number of allocated neighbors.
    neighbours: [NodeSet; 5],
    /// The number of nodes visited.
    pub(super) visited: u64,
}

/// A set of nodes that tracks which one is first in row-major order.
struct NodeSet {
    nodes: BitSet,
    /// A lower bound: the set contains no node before this one.
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
    pub(super) fn new(grid: Grid, rule: NeighbourRule, free: &'a Occupancy) -> Self {
        let nodes = grid.nodes() as usize;
        let (owned, touched) = (vec![false; nodes], vec![0; nodes]);
        let neighbours = std::array::from_fn(|_| NodeSet::new(grid.nodes()));
        Allocated { grid, rule, free, owned, touched, neighbours, visited: 0 }
    }

    pub(super) fn add(&mut self, node: NodeId) {
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

    /// Returns the free neighbor with the most allocated neighbors.
    pub(super) fn fullest(&mut self) -> Option<NodeId> {
        self.neighbours.iter_mut().rev().find_map(NodeSet::first)
    }

    /// Returns the free node with the fewest hops to an allocated node. Ties go to the first one in
    /// row-major order.
    pub(super) fn nearest(&mut self) -> NodeId {
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
