//! Growth of compact sets in a component, node by node.

use std::mem::take;

use pavior_mesh::{Coordinates, Grid};

use super::component::ComponentGraph;
use super::frontier::{Frontier, nearest_in};
use super::hop_bound::HopBound;
use super::hop_sums::HopSums;

/// Which free neighbour is taken next; of equals the first in row-major order.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// The one with most neighbours in the set, of those the nearest to all nodes of the set.
    Fullest,
    /// The nearest to all nodes of the set, of those the one with most neighbours in it.
    Nearest,
}

/// The mark of a node of the set. The mark of another node is the number of its neighbours there.
const TAKEN: u8 = 128;

/// What a node adds to the key of a set. Different sets seldom have the same key.
fn key_of(node: u32) -> u64 {
    let mixed = u64::from(node + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ mixed >> 29
}

/// The growth, with its scratch memory.
#[derive(Clone, Default)]
pub(super) struct CompactGrowth {
    /// By node: its mark; 0 between questions.
    marks: Vec<u8>,
    /// The growths in this component, the first `begun` of them. The next node depends on the set
    /// alone, so that a growth that comes to a set of an earlier one would end as that did.
    growths: Vec<Grown>,
    begun: usize,
    /// For [`Next::Fullest`]: the free neighbours of the set, by mark. One whose mark changes is
    /// listed again.
    by_mark: [Vec<(u32, Coordinates)>; 7],
    /// For [`Next::Nearest`]: the free neighbours of the set.
    frontier: Frontier,
    bound: HopBound,
    looked: u64,
}

/// A growth: its nodes in the order in which they were taken, and for each the key of the set up to
/// it.
#[derive(Clone)]
struct Grown {
    next: Next,
    nodes: Vec<u32>,
    keys: Vec<u64>,
}

impl CompactGrowth {
    /// Begins with a component.
    pub(super) fn begin(&mut self, component: &ComponentGraph) {
        self.begun = 0;
        if self.marks.len() < component.count() {
            self.marks.resize(component.count(), 0);
        }
    }

    /// Grows a set of `nodes` nodes from `seed`, in no order. `hop_sums` is left with the set in
    /// it. None as soon as the set cannot have a sum of hops of `most` or less, or a growth before
    /// came to the same set.
    ///
    /// The component is the one that was begun, and has enough nodes. From one growth to the next
    /// `most` does not increase.
    ///
    /// O(1) a free neighbour compared, [`HopSums::add`] a node, O(1) a growth before, and
    /// [`HopBound::is_passed`].
    pub(super) fn grow(
        &mut self,
        grid: &Grid,
        component: &ComponentGraph,
        hop_sums: &mut HopSums,
        (seed, next): (u32, Next),
        nodes: u32,
        most: u64,
    ) -> Option<&[u32]> {
        let mut grown = self.empty(next);
        hop_sums.clear();
        match next {
            Next::Fullest => self.by_mark[0].push((seed, component.point(seed))),
            Next::Nearest => self.frontier.add(hop_sums, seed, component.point(seed)),
        }
        let nodes = nodes as usize;
        self.bound.begin(most, component, nodes);
        let (mut key, mut over) = (0_u64, false);
        while grown.nodes.len() < nodes && !over {
            let node = match next {
                Next::Fullest => self.fullest(hop_sums),
                Next::Nearest => self.nearest(hop_sums),
            };
            let node = node.expect("the component has enough nodes");
            self.marks[node as usize] = TAKEN;
            hop_sums.add(component.point(node));
            key = key.wrapping_add(key_of(node));
            grown.nodes.push(node);
            grown.keys.push(key);
            self.list_beside(component, hop_sums, node, next);
            let is_taken = |node: u32| self.marks[node as usize] == TAKEN;
            over = self.bound.is_passed(grid, component, hop_sums, is_taken)
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

    /// Whether a growth before came to the same set, and then went on by the same rule or was done.
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
        for node in by_mark.chain(self.frontier.nodes()).chain(set.iter().copied()) {
            self.marks[node as usize] = 0;
        }
        self.by_mark.iter_mut().for_each(Vec::clear);
        self.frontier.clear();
    }

    /// Lists the free neighbours of a node that was taken.
    fn list_beside(
        &mut self,
        component: &ComponentGraph,
        hop_sums: &HopSums,
        node: u32,
        next: Next,
    ) {
        for &beside in component.beside(node) {
            let mark = &mut self.marks[beside as usize];
            if *mark == TAKEN {
                continue;
            }
            *mark += 1;
            let point = component.point(beside);
            match next {
                Next::Fullest => self.by_mark[usize::from(*mark)].push((beside, point)),
                Next::Nearest if *mark == 1 => self.frontier.add(hop_sums, beside, point),
                Next::Nearest => {}
            }
        }
    }

    /// Takes the next node by [`Next::Fullest`].
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

    /// Takes the next node by [`Next::Nearest`].
    fn nearest(&mut self, hop_sums: &HopSums) -> Option<u32> {
        let alone = |node: u32| TAKEN - self.marks[node as usize];
        self.frontier.take_nearest(hop_sums, |_| true, |node| (alone(node), node))
    }

    /// Free neighbours and nodes of the component that were looked at.
    pub(super) fn looked(&self) -> u64 {
        self.looked + self.frontier.looked() + self.bound.looked()
    }
}
