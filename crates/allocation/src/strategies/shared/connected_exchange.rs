//! Exchanging nodes of a set for nodes that it cuts off: `connected`.

use std::cmp::Reverse;

use super::connected_cuts::Floods;
use super::connected_region::Region;
use super::spread::Spread;

/// What bounds an exchange: nodes that are given back times nodes of the set.
const EXCHANGING: u64 = 1 << 22;

/// The mark of a node of the set.
const TAKEN: u8 = 1;
/// The mark of a node of the set that is a neighbour of the rest.
const EDGE: u8 = 2;
/// The mark of a node of the rest.
const REST: u8 = 3;

/// Scratch memory.
#[derive(Clone, Default)]
pub(super) struct Exchange {
    /// By number of the region: its mark; 0 between questions.
    marks: Vec<u8>,
    /// The nodes marked as edge.
    edge: Vec<u32>,
    looked: u64,
}

/// A set, in row-major order, with what it cuts off and its sum of hops.
pub(super) struct Exchanged {
    pub(super) nodes: Vec<u32>,
    pub(super) cut: u32,
    /// None if it is the set that was there before.
    pub(super) distance: Option<u64>,
}

impl Exchange {
    /// Takes what a set cuts off into it and gives as many nodes back to the largest rest, as long as
    /// both stay connected: the farthest first.
    pub(super) fn exchange(
        &mut self,
        region: &Region,
        spread: &mut Spread,
        floods: &mut Floods,
        nodes: Vec<u32>,
    ) -> Exchanged {
        if self.marks.len() < region.count() {
            self.marks.resize(region.count(), 0);
        }
        let mut set = Exchanged { nodes, cut: 0, distance: None };
        loop {
            let rests = self.rests(region, &set.nodes);
            set.cut = rests.iter().skip(1).map(|rest| rest.len() as u32).sum();
            let [rest, .., fragment] = &rests[..] else { return set };
            if fragment.len() as u64 * set.nodes.len() as u64 > EXCHANGING {
                return set;
            }
            let mut nodes = [&set.nodes[..], fragment].concat();
            self.mark(&nodes, TAKEN);
            self.mark(rest, REST);
            spread.clear();
            for &node in &nodes {
                spread.add(region.point(node));
            }
            let exchanged = self.give_back(region, spread, floods, &nodes, fragment.len());
            nodes.retain(|&node| self.marks[node as usize] != REST);
            for marked in [&set.nodes, rest, fragment] {
                self.mark(marked, 0);
            }
            if !exchanged {
                return set;
            }
            nodes.sort_unstable();
            (set.nodes, set.distance) = (nodes, Some(spread.total()));
        }
    }

    fn mark(&mut self, nodes: &[u32], mark: u8) {
        for &node in nodes {
            self.marks[node as usize] = mark;
        }
    }

    /// The connected rests of the region without a set of its nodes, larger ones first, then in
    /// row-major order. O(nodes of the region).
    fn rests(&mut self, region: &Region, set: &[u32]) -> Vec<Vec<u32>> {
        self.looked += region.count() as u64;
        self.mark(set, TAKEN);
        let mut rests: Vec<Vec<u32>> = Vec::new();
        for start in 0..region.count() as u32 {
            if self.marks[start as usize] != 0 {
                continue;
            }
            self.marks[start as usize] = REST;
            let (mut rest, mut next) = (vec![start], 0);
            while let Some(&node) = rest.get(next) {
                next += 1;
                for &beside in region.beside(node) {
                    if self.marks[beside as usize] == 0 {
                        self.marks[beside as usize] = REST;
                        rest.push(beside);
                    }
                }
            }
            rests.push(rest);
        }
        self.marks[..region.count()].fill(0);
        rests.sort_by_key(|rest| Reverse(rest.len()));
        rests
    }

    /// Gives so many of these connected nodes to the connected rest beside them, both staying
    /// connected; says whether it could. Leaves marks.
    fn give_back(
        &mut self,
        region: &Region,
        spread: &mut Spread,
        floods: &mut Floods,
        nodes: &[u32],
        count: usize,
    ) -> bool {
        self.edge.clear();
        for &node in nodes {
            if region.beside(node).iter().any(|&beside| self.marks[beside as usize] == REST) {
                self.marks[node as usize] = EDGE;
                self.edge.push(node);
            }
        }
        (0..count).all(|_| {
            let Some(node) = self.leaving(region, spread, floods) else { return false };
            self.marks[node as usize] = REST;
            spread.remove(region.point(node));
            for &beside in region.beside(node) {
                if self.marks[beside as usize] == TAKEN {
                    self.marks[beside as usize] = EDGE;
                    self.edge.push(beside);
                }
            }
            true
        })
    }

    /// Takes the farthest node without which the set stays connected out of the edge.
    fn leaving(&mut self, region: &Region, spread: &Spread, floods: &mut Floods) -> Option<u32> {
        // Those before this one are needed.
        let mut needed = 0;
        while needed < self.edge.len() {
            let farthest = |&index: &usize| {
                let node = self.edge[index];
                (Reverse(spread.of(region.point(node))), node)
            };
            let index = (needed..self.edge.len()).min_by_key(farthest)?;
            let node = self.edge[index];
            self.looked += (self.edge.len() - needed) as u64;
            let is_in = |node: u32| matches!(self.marks[node as usize], TAKEN | EDGE);
            if floods.stays_connected(region, node, is_in) {
                self.edge.swap_remove(index);
                return Some(node);
            }
            self.edge.swap(needed, index);
            needed += 1;
        }
        None
    }

    /// Nodes of the floods and of the edges that were compared.
    pub(super) fn looked(&self) -> u64 {
        self.looked
    }
}
