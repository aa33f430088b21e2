//! Grows NAS's nuclei, neighbor by neighbor, to the requested number of nodes.
//!
//! `reaches` tests whether a nucleus can grow to a given number of nodes, and `grow` grows it. With
//! four-way neighbors, a nucleus can reach every node in its component, so checking the component's
//! size is enough. With right-up neighbors, `reaches` runs a flood fill.
//!
//! Invariant: `reaches` returns true if and only if `grow` can reach the requested number by adding
//! only neighbors. Otherwise, `grow` continues from the nearest free node.
//!
//! Cost: O(N/64), plus O(r log r), per state with r runs of free nodes. `reaches` takes O(log r)
//! with four-way neighbors and O(n) with right-up neighbors. `grow` takes O(n log n), and O(N) if
//! no neighbor remains.

use pavior_mesh::{Cuboid, Grid, NodeId, Occupancy};

use super::allocated::Allocated;
use crate::Work;
use crate::strategies::shared::components::Components;

/// The nodes that count as neighbors of an allocated node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NeighbourRule {
    /// The neighbors at x + 1 and at y + 1.
    RightUp,
    FourWay,
}

/// State for growing nuclei on a two-dimensional mesh, including scratch buffers.
#[derive(Clone)]
pub(crate) struct NeighbourGrowth {
    grid: Grid,
    rule: NeighbourRule,
    components: Components,
    /// For each node, the last flood that reached it. Used only with right-up neighbors.
    marks: Vec<u32>,
    /// The number of the current flood fill.
    flood: u32,
    /// Scratch space for the nodes that the current flood has reached.
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

    /// Loads the state for later queries. Returns the size of the largest component, which limits
    /// any growth. Takes O(N/64) time for N nodes, plus O(runs of free nodes).
    pub(crate) fn prepare(&mut self, free: &Occupancy) -> u32 {
        self.work.words += u64::from(self.grid.nodes().div_ceil(64));
        self.components.load(&self.grid, free);
        self.work.boxes += self.components.runs();
        self.components.largest()
    }

    /// Returns true if a free nucleus can grow to `nodes` nodes. Takes O(log runs) time with
    /// four-way neighbors, and O(nodes) time with right-up neighbors.
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

    /// Grows a free nucleus to `nodes` nodes. Returns the added nodes in row-major order. The next
    /// node is the free neighbor with the most allocated neighbors; ties go to the first one in
    /// row-major order. If there is no free neighbor, the next node is the nearest free node.
    /// Enough nodes must be free.
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

    /// Returns the work done so far. `boxes` counts the nodes visited individually and the runs
    /// joined into components. `words` counts the words read to find runs.
    pub(crate) fn work(&self) -> Work {
        self.work
    }
}

/// Returns a node's neighbors under the given rule.
pub(super) fn neighbours(
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
