//! Components of the free nodes: maximal sets connected by the machine's links. NAS and `connected`
//! grow sets within components.
//!
//! ```text
//!   row 1:   ===.=====..       runs along x are found word by word; runs in adjacent rows
//!   row 0:   ..===..==.=       that share a column are joined, by union-find
//! ```
//!
//! Wraparound links also join runs.
//!
//! Invariant: two free nodes have the same root if and only if a path of free nodes connects them.
//!
//! Cost: O(N/64), plus O(r log r) for r runs.

use std::ops::Range;

use pavior_mesh::{Grid, NodeId, Occupancy};

/// The connected components of the free nodes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Components {
    runs: Vec<Run>,
    /// The index of each row's first run, followed by the total number of runs.
    rows: Vec<usize>,
    largest: u32,
}

/// A run of free nodes.
#[derive(Clone, Copy, Debug)]
struct Run {
    first: u32,
    /// The node after the run's last node.
    end: u32,
    /// The next run on the path to the component's root, or the run itself if it is the root.
    parent: u32,
    /// For a root, the number of nodes in the component.
    size: u32,
}

impl Components {
    pub(crate) fn load(&mut self, grid: &Grid, free: &Occupancy) {
        self.runs.clear();
        self.rows.clear();
        let [w, d, h] = grid.sides().map(u32::from);
        for row in 0..d * h {
            self.rows.push(self.runs.len());
            self.list_row(free, row * w, w);
        }
        self.rows.push(self.runs.len());
        for row in 0..d * h {
            if grid.wraps(0) {
                self.close_ring(row, w);
            }
            // The previous rows along y and z. On a ring, the last row comes before the first.
            let (y, z) = (row % d, row / d);
            let before_y = if y > 0 { Some(row - 1) } else { Some(row + d - 1) };
            let before_z = if z > 0 { Some(row - d) } else { Some(row + d * (h - 1)) };
            for other in [
                before_y.filter(|_| y > 0 || grid.wraps(1)),
                before_z.filter(|_| z > 0 || grid.wraps(2)),
            ] {
                if let Some(other) = other.filter(|&other| other != row) {
                    self.join_rows([other, row], w);
                }
            }
        }
        self.largest = self.runs.iter().map(|run| run.size).max().unwrap_or(0);
    }

    pub(crate) fn runs(&self) -> u64 {
        self.runs.len() as u64
    }

    /// Returns the number of nodes in the largest component.
    pub(crate) fn largest(&self) -> u32 {
        self.largest
    }

    /// Returns the number of nodes in a free node's component.
    pub(crate) fn size(&self, node: NodeId) -> u32 {
        self.runs[self.of(node)].size
    }

    /// Returns the number that identifies a free node's component.
    pub(crate) fn of(&self, node: NodeId) -> usize {
        self.root(self.runs.partition_point(|run| run.end <= node.0))
    }

    /// Collects the components with at least `nodes` nodes, smallest first. Components of equal
    /// size are in row-major order of their roots.
    pub(crate) fn at_least(&self, nodes: u32, found: &mut Vec<usize>) {
        let stands = |&index: &usize| self.runs[index].parent as usize == index;
        found.clear();
        found.extend((0..self.runs.len()).filter(stands));
        found.retain(|&number| self.runs[number].size >= nodes);
        found.sort_by_key(|&number| self.runs[number].size);
    }

    /// Returns a component's runs in row-major order, each as a range of node ids. Takes O(r log r)
    /// time.
    pub(crate) fn runs_of(&self, number: usize) -> impl Iterator<Item = Range<u32>> {
        let own = (0..self.runs.len()).filter(move |&index| self.root(index) == number);
        own.map(|index| self.runs[index].first..self.runs[index].end)
    }

    fn list_row(&mut self, free: &Occupancy, from: u32, w: u32) {
        let start = self.runs.len();
        for first in (0..w).step_by(64) {
            let mut word = free.window(NodeId(from + first), (w - first).min(64) as u16);
            let mut at = from + first;
            while word != 0 {
                let gap = word.trailing_zeros();
                let length = (!(word >> gap)).trailing_zeros();
                let (begin, end) = (at + gap, at + gap + length);
                match self.runs[start..].last_mut() {
                    Some(run) if run.end == begin => {
                        (run.end, run.size) = (end, end - run.first);
                    }
                    _ => {
                        let parent = self.runs.len() as u32;
                        self.runs.push(Run { first: begin, end, parent, size: length });
                    }
                }
                at = end;
                word = word.checked_shr(gap + length).unwrap_or(0);
            }
        }
    }

    /// Joins the two ends of a row.
    fn close_ring(&mut self, row: u32, w: u32) {
        let own = self.rows[row as usize]..self.rows[row as usize + 1];
        if let (Some(first), Some(last)) = (own.clone().next(), own.last())
            && self.runs[first].first == row * w
            && self.runs[last].end == (row + 1) * w
        {
            self.join(first, last);
        }
    }

    /// Joins runs in two rows if they share a column.
    fn join_rows(&mut self, rows: [u32; 2], w: u32) {
        let [mut other, mut one] = rows.map(|row| self.rows[row as usize]);
        let [other_end, one_end] = rows.map(|row| self.rows[row as usize + 1]);
        let columns = |run: &Run, row: u32| (run.first - row * w, run.end - row * w);
        while other < other_end && one < one_end {
            let (a, a_end) = columns(&self.runs[other], rows[0]);
            let (b, b_end) = columns(&self.runs[one], rows[1]);
            if a < b_end && b < a_end {
                self.join(one, other);
            }
            if a_end <= b_end {
                other += 1;
            } else {
                one += 1;
            }
        }
    }

    fn root(&self, mut index: usize) -> usize {
        while self.runs[index].parent as usize != index {
            index = self.runs[index].parent as usize;
        }
        index
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        if a != b {
            let (large, small) =
                if self.runs[a].size >= self.runs[b].size { (a, b) } else { (b, a) };
            self.runs[large].size += self.runs[small].size;
            self.runs[small].parent = large as u32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pavior_kernel::Stream;

    /// Returns the nodes connected to a node. Computes them directly from the definition, by a
    /// flood fill that spreads between nodes at distance 1.
    fn flood(free: &Occupancy, from: NodeId) -> Vec<NodeId> {
        let grid = free.grid();
        let (mut set, mut next) = (vec![from], 0);
        while next < set.len() {
            let at = grid.point(set[next]);
            next += 1;
            let beside = |node: &NodeId| grid.distance(grid.point(*node), at) == 1;
            let fresh: Vec<NodeId> =
                free.iter().filter(beside).filter(|node| !set.contains(node)).collect();
            set.extend(fresh);
        }
        set.sort_unstable();
        set
    }

    #[test]
    fn the_sets_are_those_of_a_flood() {
        let mut dice = Stream::new(5, 0, "sets");
        let names =
            ["mesh:9x7", "torus:5x6", "grid:66wx2", "mesh:4x3x3", "torus:3x4x3", "torus:2x2x2"];
        for grid in names.map(|name| name.parse::<Grid>().unwrap()) {
            let mut sets = Components::default();
            for _ in 0..25 {
                let mut free = Occupancy::all_free(grid);
                let busy = dice.below(u64::from(grid.nodes()));
                for _ in 0..busy {
                    free.take_node(NodeId(dice.below(u64::from(grid.nodes())) as u32));
                }
                sets.load(&grid, &free);
                let (mut large, mut seen) = (Vec::new(), 0);
                sets.at_least(1, &mut large);
                for &set in &large {
                    let nodes: Vec<NodeId> = sets.runs_of(set).flatten().map(NodeId).collect();
                    assert_eq!(nodes, flood(&free, nodes[0]), "{grid}");
                    assert_eq!(sets.size(nodes[0]), nodes.len() as u32);
                    seen += nodes.len() as u32;
                }
                assert_eq!(seen, free.count());
            }
        }
    }
}
