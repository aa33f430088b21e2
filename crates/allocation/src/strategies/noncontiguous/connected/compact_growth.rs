//! Growing compact sets in a connected set of free nodes: `connected`.

use std::mem::take;

use pavior_mesh::{Coordinates, Grid};

use super::component::Region;
use super::frontier::{Fringe, nearest_in};
use super::hop_bound::SpreadBound;
use super::hop_sums::Spread;

/// Which free neighbour growth takes next; of equals the first in row-major order.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// The one with most neighbours in the set, of those the nearest to all nodes of the set.
    Fullest,
    /// The nearest to all nodes of the set, of those the one with most neighbours in it.
    Nearest,
}

/// The mark of a node of the set; other marks are the number of a node's neighbours in the set.
const TAKEN: u8 = 128;

/// What a node adds to the key of a set: sets of equal keys are equal as a rule.
fn key_of(node: u32) -> u64 {
    let mixed = u64::from(node + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ mixed >> 29
}

/// Scratch memory.
#[derive(Clone, Default)]
pub(super) struct SetGrowth {
    /// By number of the region: its mark; 0 between questions.
    marks: Vec<u8>,
    /// The growths in this region, `begun` of them: which node is next depends on the set alone, so
    /// that a growth that comes to the set of an earlier one ends as it did.
    growths: Vec<Grown>,
    begun: usize,
    /// For [`Next::Fullest`] the free neighbours of the set by the mark that they had: one whose
    /// mark has changed since is listed again.
    by_mark: [Vec<(u32, Coordinates)>; 7],
    /// For [`Next::Nearest`] the free neighbours of the set.
    fringe: Fringe,
    bound: SpreadBound,
    looked: u64,
}

/// A growth: its nodes in the order in which they were taken, and for each the sum of the keys up
/// to it.
#[derive(Clone)]
struct Grown {
    next: Next,
    nodes: Vec<u32>,
    keys: Vec<u64>,
}

impl SetGrowth {
    /// Forgets the growths of the region before.
    pub(super) fn begin(&mut self, region: &Region) {
        self.begun = 0;
        if self.marks.len() < region.count() {
            self.marks.resize(region.count(), 0);
        }
    }

    /// Grows a set of so many nodes from a node of the region that was begun, which has enough; its
    /// spread is left in `spread`, its nodes are in no order. None if its sum of hops is above
    /// `most`, or a growth before came to the same set, and as soon as it is seen that it will be.
    /// No `most` may be above one before. O(1) a free neighbour that is compared, [`Spread::add`] a
    /// node, O(1) a growth before, and twice O(nodes of the region) for bounds, if it has few more
    /// nodes.
    pub(super) fn grow(
        &mut self,
        grid: &Grid,
        region: &Region,
        spread: &mut Spread,
        (seed, next): (u32, Next),
        nodes: u32,
        most: u64,
    ) -> Option<&[u32]> {
        let mut grown = self.empty(next);
        spread.clear();
        match next {
            Next::Fullest => self.by_mark[0].push((seed, region.point(seed))),
            Next::Nearest => self.fringe.add(spread, seed, region.point(seed)),
        }
        let nodes = nodes as usize;
        self.bound.begin(most, region, nodes);
        let (mut key, mut over) = (0_u64, false);
        while grown.nodes.len() < nodes && !over {
            let node = match next {
                Next::Fullest => self.fullest(spread),
                Next::Nearest => self.nearest(spread),
            };
            let node = node.expect("the region has enough nodes");
            self.marks[node as usize] = TAKEN;
            spread.add(region.point(node));
            key = key.wrapping_add(key_of(node));
            grown.nodes.push(node);
            grown.keys.push(key);
            self.list_beside(region, spread, node, next);
            let is_taken = |node: u32| self.marks[node as usize] == TAKEN;
            over = self.bound.is_passed(grid, region, spread, is_taken)
                || self.is_known(&grown, nodes);
        }
        self.clear(&grown.nodes);
        self.growths[self.begun] = grown;
        self.begun += 1;
        (!over).then_some(&self.growths[self.begun - 1].nodes[..])
    }

    /// An empty growth, with the memory of an older one.
    fn empty(&mut self, next: Next) -> Grown {
        if self.begun == self.growths.len() {
            self.growths.push(Grown { next, nodes: Vec::new(), keys: Vec::new() });
        }
        let old = &mut self.growths[self.begun];
        let (mut nodes, mut keys) = (take(&mut old.nodes), take(&mut old.keys));
        nodes.clear();
        keys.clear();
        Grown { next, nodes, keys }
    }

    /// Whether a growth before had the same nodes when it had as many, and went on by the same
    /// rule, if it had to go on.
    fn is_known(&self, grown: &Grown, nodes: usize) -> bool {
        let last = grown.nodes.len() - 1;
        let key = grown.keys[last];
        self.growths[..self.begun].iter().any(|other| {
            other.keys.get(last) == Some(&key)
                && (other.next == grown.next || last + 1 == nodes)
                && other.nodes[..=last].iter().all(|&node| self.marks[node as usize] == TAKEN)
        })
    }

    fn clear(&mut self, set: &[u32]) {
        let by_mark = self.by_mark.iter().flatten().map(|&(node, _)| node);
        for node in by_mark.chain(self.fringe.nodes()).chain(set.iter().copied()) {
            self.marks[node as usize] = 0;
        }
        self.by_mark.iter_mut().for_each(Vec::clear);
        self.fringe.clear();
    }

    /// Lists the free neighbours of a node that was taken.
    fn list_beside(&mut self, region: &Region, spread: &Spread, node: u32, next: Next) {
        for &beside in region.beside(node) {
            let mark = &mut self.marks[beside as usize];
            if *mark == TAKEN {
                continue;
            }
            *mark += 1;
            let point = region.point(beside);
            match next {
                Next::Fullest => self.by_mark[usize::from(*mark)].push((beside, point)),
                Next::Nearest if *mark == 1 => self.fringe.add(spread, beside, point),
                Next::Nearest => {}
            }
        }
    }

    /// Takes the next node.
    fn fullest(&mut self, spread: &Spread) -> Option<u32> {
        for (mark, list) in self.by_mark.iter_mut().enumerate().rev() {
            let is_current = |node: u32| usize::from(self.marks[node as usize]) == mark;
            let nearest = nearest_in(list, spread, is_current, |node| node);
            self.looked += list.len() as u64;
            if let Some((_, at)) = nearest {
                return Some(list.swap_remove(at).0);
            }
        }
        None
    }

    /// Takes the next node.
    fn nearest(&mut self, spread: &Spread) -> Option<u32> {
        let alone = |node: u32| TAKEN - self.marks[node as usize];
        self.fringe.take_nearest(spread, |_| true, |node| (alone(node), node))
    }

    /// Free neighbours and nodes of the region that were looked at.
    pub(super) fn looked(&self) -> u64 {
        self.looked + self.fringe.looked() + self.bound.looked()
    }
}
