//! One-dimensional allocation: a job gets nodes along a linear order of the machine.
//!
//! ```text
//!   free ranks, 3 requested:   0 1 . . 4 5 6 . 8 .
//!   sorted: 0 1 4      min-span and best: 4 5 6
//! ```
//!
//! Invariant: `ranks` is ascending, so a window in `ranks` corresponds to an interval on the line.
//!
//! Cost: O(N) per query, plus O(count log count) to sort the nodes unless they are in row-major
//! order.

use std::sync::Arc;

use pavior_kernel::{OptionSpec, Options, Stream, Values};
use pavior_mesh::{Grid, NodeId, Occupancy, Request, order};

use crate::kind::{BoxedStrategy, Unsupported};
use crate::strategies::shared::runs::runs;
use crate::strategy::MachineStrategy;
use crate::{Placement, Strategy, Work};

pub(crate) const ORDER: OptionSpec = OptionSpec {
    key: "order",
    values: Values::Text(
        "row-major, snake, hilbert, or every node number once, such as 0-1-3-2",
        is_order,
    ),
    default: "row-major",
    meaning: "the order of the nodes, which are numbered in row-major order (x fastest)",
    bare: true,
};

fn is_order(text: &str) -> bool {
    matches!(text, "row-major" | "snake" | "hilbert") || numbers(text).is_some()
}

/// Parses a list of numbers such as `0-1-3-2`.
fn numbers(text: &str) -> Option<Vec<NodeId>> {
    let digits = |number: &str| number.bytes().all(|byte| byte.is_ascii_digit());
    let number = |number: &str| number.parse().ok().filter(|_| digits(number)).map(NodeId);
    text.split('-').map(number).collect()
}

/// Checks that the `order` option suits a grid. A list must name every node exactly once.
pub(crate) fn supports(grid: &Grid, options: &Options) -> Result<(), Unsupported> {
    let Some(mut listed) = numbers(options.get("order")) else { return Ok(()) };
    listed.sort_unstable();
    if listed.into_iter().eq((0..grid.nodes()).map(NodeId)) {
        Ok(())
    } else {
        Err(Unsupported(format!(
            "the order does not list each of the {} nodes exactly once",
            grid.nodes()
        )))
    }
}

fn order_of(grid: &Grid, options: &Options) -> Vec<NodeId> {
    match options.get("order") {
        "row-major" => order::row_major(grid),
        "snake" => order::snake(grid),
        "hilbert" => order::hilbert(grid),
        list => numbers(list).expect("parsing checked the list"),
    }
}

/// The rule for choosing among the free nodes in the linear order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packing {
    /// The first free nodes.
    Sorted,
    /// The window of free nodes with the smallest span. Ties go to the first window.
    MinSpan,
    /// The first nodes in the shortest run of consecutive free nodes that is long enough. Ties go
    /// to the first such run. If no run is long enough, the same as `MinSpan`.
    Best,
}

/// A machine's nodes in a linear order, such as the order along a space-filling curve.
#[derive(Clone, Debug)]
pub(crate) struct LinearOrder {
    grid: Grid,
    /// The nodes by rank. Empty for row-major order, where a node's rank is its ID.
    nodes: Arc<[NodeId]>,
    /// The ranks of the free nodes, in ascending order.
    ranks: Vec<u32>,
    chosen: Vec<NodeId>,
    work: Work,
}

impl LinearOrder {
    pub(crate) fn new(grid: Grid, mut nodes: Vec<NodeId>) -> LinearOrder {
        if nodes.is_sorted() {
            nodes = Vec::new();
        }
        let (ranks, chosen) = (Vec::new(), Vec::new());
        LinearOrder { grid, nodes: nodes.into(), ranks, chosen, work: Work::default() }
    }

    /// Returns `count` free nodes as runs along x, or `None` if fewer nodes are free.
    pub(crate) fn find(
        &mut self,
        free: &Occupancy,
        count: u32,
        packing: Packing,
    ) -> Option<Placement> {
        if count > free.count() {
            return None;
        }
        let count = count as usize;
        let most = if packing == Packing::Sorted { count } else { usize::MAX };
        self.ranks.clear();
        if self.nodes.is_empty() {
            self.ranks.extend(free.iter().map(|node| node.0).take(most));
            let last = self.ranks.last().copied().unwrap_or(0);
            self.work.words += u64::from(last / 64 + 1);
            self.work.boxes += self.ranks.len() as u64;
        } else {
            let mut looked = 0;
            let nodes = (0u32..).zip(self.nodes.iter()).inspect(|_| looked += 1);
            let is_free = |&(_, &node): &(u32, &NodeId)| free.is_node_free(node);
            self.ranks.extend(nodes.filter(is_free).map(|(rank, _)| rank).take(most));
            self.work.boxes += looked;
        }
        if packing != Packing::Sorted {
            self.work.boxes += self.ranks.len() as u64;
        }
        let first = match packing {
            Packing::Sorted => 0,
            Packing::MinSpan => min_span(&self.ranks, count),
            Packing::Best => {
                shortest_run(&self.ranks, count).unwrap_or_else(|| min_span(&self.ranks, count))
            }
        };
        Some(self.place(first, count))
    }

    /// Returns the work done so far. `boxes` counts the nodes visited, once to list the free ones
    /// and once to choose among them. `words` counts the words read to find free nodes.
    pub(crate) fn work(&self) -> Work {
        self.work
    }

    /// Returns the placement of `count` free nodes, starting with the one at `ranks[first]`.
    fn place(&mut self, first: usize, count: usize) -> Placement {
        let ranks = &self.ranks[first..first + count];
        if self.nodes.is_empty() {
            return runs(&self.grid, ranks.iter().map(|&rank| NodeId(rank)));
        }
        self.chosen.clear();
        self.chosen.extend(ranks.iter().map(|&rank| self.nodes[rank as usize]));
        self.chosen.sort_unstable();
        runs(&self.grid, self.chosen.iter().copied())
    }
}

/// Returns the index of the first window of `count` ranks that has the smallest span.
fn min_span(ranks: &[u32], count: usize) -> usize {
    let span = |&first: &usize| ranks[first + count - 1] - ranks[first];
    (0..=ranks.len() - count).min_by_key(span).expect("enough nodes are free")
}

/// Returns the index at which the first of the shortest runs of at least `count` ranks starts.
fn shortest_run(ranks: &[u32], count: usize) -> Option<usize> {
    let mut best: Option<(usize, usize)> = None;
    let mut start = 0;
    for end in 1..=ranks.len() {
        if end == ranks.len() || ranks[end] != ranks[end - 1] + 1 {
            let length = end - start;
            if length >= count && best.is_none_or(|(least, _)| length < least) {
                best = Some((length, start));
            }
            start = end;
        }
    }
    best.map(|(_, start)| start)
}

#[derive(Clone)]
pub(crate) struct Linear {
    order: LinearOrder,
    packing: Packing,
}

impl Linear {
    pub(crate) fn new(grid: Grid, nodes: Vec<NodeId>, packing: Packing) -> Linear {
        Linear { order: LinearOrder::new(grid, nodes), packing }
    }

    /// Creates the strategy with the order that the options specify.
    pub(crate) fn boxed(grid: &Grid, options: &Options, packing: Packing) -> BoxedStrategy {
        Box::new(Linear::new(*grid, order_of(grid, options), packing))
    }
}

impl Strategy for Linear {
    fn find(&mut self, free: &Occupancy, request: &Request, _: &mut Stream) -> Option<Placement> {
        self.order.find(free, request.nodes, self.packing)
    }

    fn work(&self) -> Work {
        self.order.work()
    }

    fn fork(&self) -> Box<dyn Strategy> {
        Box::new(self.clone())
    }
}

impl MachineStrategy for Linear {}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares the rules with brute force for every set of free ranks on a line of ten nodes and
    /// for every count.
    #[test]
    fn spans_and_runs_by_brute_force() {
        for set in 1u32..1 << 10 {
            let ranks: Vec<u32> = (0..10).filter(|rank| set >> rank & 1 == 1).collect();
            for count in 1..=ranks.len() {
                let spans: Vec<u32> =
                    ranks.windows(count).map(|window| window[count - 1] - window[0]).collect();
                let least = *spans.iter().min().unwrap();
                let first = min_span(&ranks, count);
                assert_eq!(spans.iter().position(|&span| span == least), Some(first));

                // A run begins at a rank whose predecessor is not free.
                let begins = |rank: u32| rank == 0 || set >> (rank - 1) & 1 == 0;
                let length = |rank: u32| (set >> rank).trailing_ones() as usize;
                let run = ranks
                    .iter()
                    .filter(|&&rank| begins(rank) && length(rank) >= count)
                    .min_by_key(|&&rank| length(rank))
                    .map(|&rank| ranks.iter().position(|&other| other == rank).unwrap());
                assert_eq!(shortest_run(&ranks, count), run);
                // The first long-enough run begins at the first window with the smallest span.
                let fits = |&&rank: &&u32| length(rank) >= count;
                if let Some(rank) = ranks.iter().find(fits) {
                    assert_eq!(ranks[first], *rank);
                }
            }
        }
    }
}
