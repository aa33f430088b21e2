//! Components of the free nodes, represented as graphs of numbered nodes and their links.
//!
//! A component's graph is built when a query first needs it. All queries reuse the same memory.
//!
//! Invariant: the nodes in a graph are numbered in row-major order, and every link is stored at
//! both ends.
//!
//! Cost: O(C) for a component of C nodes, and O(r log r) for the r runs in the state.

use pavior_mesh::{Coordinates, Grid, NodeId, Occupancy};

use crate::strategies::shared::components::Components;

/// The components that a query uses.
#[derive(Clone)]
pub(super) struct ComponentGraphs {
    grid: Grid,
    /// For each node, its number within its component. Valid only for components whose graph has
    /// been built.
    numbers: Vec<u32>,
    /// The graphs. The first `count` belong to the current query.
    kept: Vec<ComponentGraph>,
    count: usize,
}

/// A component. Its nodes are numbered in row-major order.
#[derive(Clone, Default)]
pub(super) struct ComponentGraph {
    /// The component's number among all components.
    number: usize,
    nodes: Vec<NodeId>,
    points: Vec<Coordinates>,
    links: Vec<Links>,
    /// The first and last node of each run along x.
    runs: Vec<[u32; 2]>,
}

/// A node's free neighbors.
#[derive(Clone, Copy, Default)]
struct Links {
    count: usize,
    ends: [u32; 6],
}

impl ComponentGraphs {
    pub(super) fn new(grid: Grid) -> ComponentGraphs {
        ComponentGraphs { grid, numbers: Vec::new(), kept: Vec::new(), count: 0 }
    }

    /// Clears the previous query's components.
    pub(super) fn clear(&mut self) {
        self.count = 0;
    }

    /// Returns the index of a component's graph, building the graph if necessary. That takes
    /// O(nodes), plus O(r log r) for r runs.
    pub(super) fn look_at(
        &mut self,
        components: &Components,
        number: usize,
        free: &Occupancy,
    ) -> usize {
        let known = self.kept[..self.count].iter().position(|component| component.number == number);
        known.unwrap_or_else(|| {
            self.numbers.resize(self.grid.nodes() as usize, 0);
            if self.count == self.kept.len() {
                self.kept.push(ComponentGraph::default());
            }
            let component = &mut self.kept[self.count];
            component.load(&self.grid, components, number, &mut self.numbers);
            component.link(&self.grid, free, &self.numbers);
            self.count += 1;
            self.count - 1
        })
    }

    pub(super) fn get(&self, index: usize) -> &ComponentGraph {
        &self.kept[index]
    }

    /// Returns a free node's number in its component. The component's graph must have been built.
    pub(super) fn number(&self, node: NodeId) -> u32 {
        self.numbers[node.index()]
    }
}

impl ComponentGraph {
    fn load(&mut self, grid: &Grid, components: &Components, number: usize, numbers: &mut [u32]) {
        self.number = number;
        self.nodes.clear();
        self.points.clear();
        self.runs.clear();
        for run in components.runs_of(number) {
            let first = self.nodes.len() as u32;
            let [x, y, z] = grid.point(NodeId(run.start));
            for (node, x) in run.zip(x..) {
                numbers[node as usize] = self.nodes.len() as u32;
                self.nodes.push(NodeId(node));
                self.points.push([x, y, z]);
            }
            self.runs.push([first, self.nodes.len() as u32 - 1]);
        }
    }

    /// Records the links between nodes. Each link is found from its end with the higher coordinate
    /// or, if it closes a ring, from its end at coordinate 0.
    fn link(&mut self, grid: &Grid, free: &Occupancy, numbers: &[u32]) {
        self.links.clear();
        self.links.resize(self.nodes.len(), Links::default());
        let [w, d, _] = grid.sides().map(u32::from);
        for (axis, stride) in [1, w, w * d].into_iter().enumerate() {
            let n = u32::from(grid.side(axis));
            if n == 1 {
                continue;
            }
            for number in 0..self.nodes.len() {
                let node = self.nodes[number].0;
                let before = if self.points[number][axis] > 0 {
                    node - stride
                } else if grid.wraps(axis) && n > 2 {
                    node + (n - 1) * stride
                } else {
                    continue;
                };
                if free.is_node_free(NodeId(before)) {
                    let other = numbers[before as usize];
                    self.links[number].add(other);
                    self.links[other as usize].add(number as u32);
                }
            }
        }
    }

    pub(super) fn count(&self) -> usize {
        self.nodes.len()
    }

    pub(super) fn node(&self, number: u32) -> NodeId {
        self.nodes[number as usize]
    }

    pub(super) fn point(&self, number: u32) -> Coordinates {
        self.points[number as usize]
    }

    /// Returns the numbers of a node's free neighbors.
    #[inline]
    pub(super) fn beside(&self, number: u32) -> &[u32] {
        let links = &self.links[number as usize];
        &links.ends[..links.count]
    }

    /// Returns the nodes from which growth starts: the node with the fewest free neighbors, and the
    /// outermost node toward each corner of the machine. Ties go to the first one in row-major
    /// order.
    pub(super) fn seeds(&self, grid: &Grid) -> Vec<u32> {
        let fewest = (0..self.count()).min_by_key(|&number| self.links[number].count);
        let mut seeds: Vec<u32> = fewest.into_iter().map(|number| number as u32).collect();
        for corner in 0..8 {
            let up = |axis: usize| corner >> axis & 1 == 1;
            // On an axis with only one node, both corners coincide.
            if (0..3).any(|axis| up(axis) && grid.side(axis) == 1) {
                continue;
            }
            let outwards = |&number: &u32| {
                let along = |(axis, c)| if up(axis) { -i64::from(c) } else { i64::from(c) };
                self.point(number).into_iter().enumerate().map(along).sum::<i64>()
            };
            // The outermost node in a run is one of its ends.
            let ends = self.runs.iter().map(|run| run[usize::from(up(0))]);
            let seed = ends.min_by_key(outwards);
            seeds.extend(seed.filter(|seed| !seeds.contains(seed)));
        }
        seeds
    }
}

impl Links {
    fn add(&mut self, end: u32) {
        self.ends[self.count] = end;
        self.count += 1;
    }
}
