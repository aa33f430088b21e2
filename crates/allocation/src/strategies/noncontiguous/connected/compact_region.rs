//! Grows a compact region by adding one free neighbor at a time.
//!
//! ```text
//!   . 1 . .      fullest: the neighbor with the most neighbors in the set o, here 2
//!   1 o 2 .      nearest: the neighbor with the smallest sum of hops to all nodes in the set
//!   . o o 1
//! ```
//!
//! The next node depends only on the set. Growth therefore stops at a set that was reached before,
//! because the result would be the same.
//!
//! Invariant: marks and lists are empty between calls to `grow`.
//!
//! Cost: O(1) per free neighbor compared, [`HopSums::add`] per node, and O(1) per earlier region.

use std::mem::take;

use pavior_mesh::Coordinates;

use super::component::ComponentGraph;
use super::frontier::{Frontier, nearest_in};
use super::hop_sums::HopSums;

/// The rule for choosing the next free neighbor. Ties go to the first one in row-major order.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum NextNode {
    /// The neighbor with the most neighbors in the set. Ties go to the one nearest to all nodes in
    /// the set.
    Fullest,
    /// The neighbor nearest to all nodes in the set. Ties go to the one with the most neighbors in
    /// the set.
    Nearest,
}

/// The mark of a node in the set. Any other node's mark is its number of neighbors in the set.
const TAKEN: u8 = 128;

/// Returns a node's contribution to a set's hash, which does not depend on node order.
fn hash_of(node: u32) -> u64 {
    let mixed = u64::from(node + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ mixed >> 29
}

/// State for growing one region after another, including scratch buffers.
#[derive(Clone, Default)]
pub(super) struct CompactRegions {
    /// The mark of each node. All marks are 0 between queries.
    marks: Vec<u8>,
    /// The regions, of which only the first `count` were grown in the current component.
    regions: Vec<Region>,
    count: usize,
    /// For [`NextNode::Fullest`]: the set's free neighbors, by mark. A neighbor whose mark changes
    /// is listed again under its new mark.
    by_mark: [Vec<(u32, Coordinates)>; 7],
    /// For [`NextNode::Nearest`]: the set's free neighbors.
    frontier: Frontier,
    looked: u64,
}

/// A grown region.
#[derive(Clone)]
struct Region {
    next: NextNode,
    /// The nodes, in the order in which they were taken.
    nodes: Vec<u32>,
    /// For each node, the hash of the set of nodes up to and including that node.
    hashes: Vec<u64>,
}

impl CompactRegions {
    pub(super) fn begin(&mut self, component: &ComponentGraph) {
        self.count = 0;
        if self.marks.len() < component.count() {
            self.marks.resize(component.count(), 0);
        }
    }

    /// Grows a set of `nodes` nodes that contains `seed`. Returns the set's nodes in no particular
    /// order, and leaves the set in `hop_sums`. Returns `None` once the set's sum of hops exceeds
    /// `most` or the set equals one that an earlier call reached.
    ///
    /// The component must be the most recently started one, and must have enough nodes. `most` must
    /// not increase from one call to the next.
    pub(super) fn grow(
        &mut self,
        component: &ComponentGraph,
        hop_sums: &mut HopSums,
        (seed, next): (u32, NextNode),
        nodes: u32,
        most: u64,
    ) -> Option<&[u32]> {
        let mut region = self.empty(next);
        hop_sums.clear();
        match next {
            NextNode::Fullest => self.by_mark[0].push((seed, component.point(seed))),
            NextNode::Nearest => self.frontier.add(hop_sums, seed, component.point(seed)),
        }
        let nodes = nodes as usize;
        let (mut hash, mut over) = (0_u64, false);
        while region.nodes.len() < nodes && !over {
            let node = match next {
                NextNode::Fullest => self.fullest(hop_sums),
                NextNode::Nearest => self.nearest(hop_sums),
            };
            let node = node.expect("the component has enough nodes");
            self.marks[node as usize] = TAKEN;
            hop_sums.add(component.point(node));
            hash = hash.wrapping_add(hash_of(node));
            region.nodes.push(node);
            region.hashes.push(hash);
            self.list_beside(component, hop_sums, node, next);
            over = hop_sums.total() > most || self.is_known(&region, nodes);
        }
        self.clear(&region.nodes);
        self.regions[self.count] = region;
        self.count += 1;
        (!over).then_some(&self.regions[self.count - 1].nodes[..])
    }

    /// Returns an empty region that reuses the memory of an older one.
    fn empty(&mut self, next: NextNode) -> Region {
        if self.count == self.regions.len() {
            self.regions.push(Region { next, nodes: Vec::new(), hashes: Vec::new() });
        }
        let old = &mut self.regions[self.count];
        let (mut nodes, mut hashes) = (take(&mut old.nodes), take(&mut old.hashes));
        nodes.clear();
        hashes.clear();
        Region { next, nodes, hashes }
    }

    /// Returns true if an earlier call reached the same set, and either the set is complete or that
    /// call used the same rule.
    fn is_known(&self, region: &Region, nodes: usize) -> bool {
        let last = region.nodes.len() - 1;
        let hash = region.hashes[last];
        self.regions[..self.count].iter().any(|other| {
            other.hashes.get(last) == Some(&hash)
                && (other.next == region.next || last + 1 == nodes)
                && other.nodes[..=last].iter().all(|&node| self.marks[node as usize] == TAKEN)
        })
    }

    fn clear(&mut self, set: &[u32]) {
        let by_mark = self.by_mark.iter().flatten().map(|&(node, _)| node);
        for node in by_mark.chain(self.frontier.nodes()).chain(set.iter().copied()) {
            self.marks[node as usize] = 0;
        }
        self.by_mark.iter_mut().for_each(Vec::clear);
        self.frontier.clear();
    }

    /// Lists the free neighbors of a node that has just been added to the set.
    fn list_beside(
        &mut self,
        component: &ComponentGraph,
        hop_sums: &HopSums,
        node: u32,
        next: NextNode,
    ) {
        for &beside in component.beside(node) {
            let mark = &mut self.marks[beside as usize];
            if *mark == TAKEN {
                continue;
            }
            *mark += 1;
            let point = component.point(beside);
            match next {
                NextNode::Fullest => self.by_mark[usize::from(*mark)].push((beside, point)),
                NextNode::Nearest if *mark == 1 => self.frontier.add(hop_sums, beside, point),
                NextNode::Nearest => {}
            }
        }
    }

    /// Takes the next node according to [`NextNode::Fullest`].
    fn fullest(&mut self, hop_sums: &HopSums) -> Option<u32> {
        for (mark, list) in self.by_mark.iter_mut().enumerate().rev() {
            let is_current = |node: u32| usize::from(self.marks[node as usize]) == mark;
            let nearest = nearest_in(list, hop_sums, is_current, |node| node);
            self.looked += list.len() as u64;
            if let Some((_, at)) = nearest {
                return Some(list.swap_remove(at).0);
            }
        }
        None
    }

    /// Takes the next node according to [`NextNode::Nearest`].
    fn nearest(&mut self, hop_sums: &HopSums) -> Option<u32> {
        let alone = |node: u32| TAKEN - self.marks[node as usize];
        self.frontier.take_nearest(hop_sums, |_| true, |node| (alone(node), node))
    }

    /// Returns the number of free neighbors visited.
    pub(super) fn looked(&self) -> u64 {
        self.looked + self.frontier.looked()
    }
}
