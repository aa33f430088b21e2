//! Exchanging nodes of a set for nodes that it cuts off: `connected`.

use std::cmp::Reverse;

use super::connected_cuts::Floods;
use super::connected_region::Region;
use super::spread::Spread;

/// What bounds an exchange: nodes that are given back times nodes of the set.
const EXCHANGING: u64 = 1 << 22;

/// The mark of a node of the rest to which nodes are given back.
const REST: u8 = 0;
/// The mark of a node of the set.
const TAKEN: u8 = 1;
/// The mark of a node of the set that is a neighbour of the rest.
const EDGE: u8 = 2;
/// The mark of a node of another rest.
const OTHER: u8 = 3;

/// Scratch memory.
#[derive(Clone, Default)]
pub(super) struct Exchange {
    /// By number of the region: its mark; all are [`REST`] between questions.
    marks: Vec<u8>,
    /// The nodes marked as edge.
    edge: Vec<Edge>,
    looked: u64,
}

/// A node that may be given back.
#[derive(Clone)]
struct Edge {
    node: u32,
    /// Two of its neighbours that were apart without it, as they are for as long as both are in the set, which
    /// only loses nodes.
    parted: Option<[u32; 2]>,
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
            self.marks.resize(region.count(), REST);
        }
        let mut set = Exchanged { nodes, cut: 0, distance: None };
        loop {
            let mut fragments = floods.fragments(region, &set.nodes);
            set.cut = fragments.iter().map(|fragment| fragment.len() as u32).sum();
            let Some(fragment) = fragments.pop() else { return set };
            if fragment.len() as u64 * set.nodes.len() as u64 > EXCHANGING {
                return set;
            }
            let mut nodes = [&set.nodes[..], &fragment].concat();
            self.mark(&nodes, TAKEN);
            for other in &fragments {
                self.mark(other, OTHER);
            }
            spread.load(&nodes.iter().map(|&node| region.point(node)));
            let exchanged = self.give_back(region, spread, floods, &nodes, fragment.len());
            nodes.retain(|&node| self.marks[node as usize] != REST);
            for marked in fragments.iter().chain([&set.nodes, &fragment]) {
                self.mark(marked, REST);
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
                self.edge.push(Edge { node, parted: None });
            }
        }
        (0..count).all(|_| {
            let Some(node) = self.leaving(region, spread, floods) else { return false };
            self.marks[node as usize] = REST;
            spread.remove(region.point(node));
            for &beside in region.beside(node) {
                if self.marks[beside as usize] == TAKEN {
                    self.marks[beside as usize] = EDGE;
                    self.edge.push(Edge { node: beside, parted: None });
                }
            }
            true
        })
    }

    /// Takes the farthest node without which the set stays connected out of the edge.
    fn leaving(&mut self, region: &Region, spread: &Spread, floods: &mut Floods) -> Option<u32> {
        let is_in = |node: u32| matches!(self.marks[node as usize], TAKEN | EDGE);
        loop {
            self.looked += self.edge.len() as u64;
            let is_needed =
                |edge: &Edge| edge.parted.is_some_and(|both| both.into_iter().all(is_in));
            let farthest = |&index: &usize| {
                let node = self.edge[index].node;
                (Reverse(spread.of(region.point(node))), node)
            };
            let open = (0..self.edge.len()).filter(|&index| !is_needed(&self.edge[index]));
            let index = open.min_by_key(farthest)?;
            let node = self.edge[index].node;
            match floods.parted(region, node, is_in) {
                None => {
                    self.edge.swap_remove(index);
                    return Some(node);
                }
                parted => self.edge[index].parted = parted,
            }
        }
    }

    /// Nodes of the floods and of the edges that were compared.
    pub(super) fn looked(&self) -> u64 {
        self.looked
    }
}
