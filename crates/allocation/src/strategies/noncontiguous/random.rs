//! Random: take free nodes uniformly at random, regardless of their positions.
//!
//! The strategy succeeds if and only if enough nodes are free. It is the baseline for measuring the
//! cost of dispersal.
//!
//! ```text
//!   . # . .      a request for 4 nodes on an empty 4x4 mesh: each of the
//!   . . . #      C(16,4) sets of nodes is as likely as any other
//!   # . . .
//!   . . # .
//! ```
//!
//! Cost: O(F) for F free nodes, and O(n log n) to sort n nodes into row-major order. A granted
//! request draws exactly n random numbers, and a refused one draws none.
//!
//! Source: Liu, Lo, Windisch & Nitzberg, "Non-contiguous processor allocation algorithms for
//! distributed memory multicomputers", Supercomputing '94. Our choices: the nodes are drawn by the
//! first n steps of a Fisher-Yates shuffle of the free nodes. They are granted in row-major order
//! rather than in draw order, because strategies map processes in row-major order.

use pavior_kernel::{Options, Stream};
use pavior_mesh::{Grid, NodeId, Occupancy, Request};

use crate::kind::{BoxedStrategy, Entry, StrategyKind};
use crate::strategies::shared::runs::runs;
use crate::strategy::MachineStrategy;
use crate::{Placement, Strategy, Work};

pub(crate) static ENTRY: Entry = Entry {
    name: "random",
    title: "Random",
    source: "Liu, Lo, Windisch & Nitzberg 1994",
    options: &[],
    variants: &[""],
    does: StrategyKind::noncontiguous(build),
};

fn build(grid: &Grid, _: &Options) -> BoxedStrategy {
    Box::new(Random { grid: *grid, nodes: Vec::new(), work: Work::default() })
}

#[derive(Clone)]
struct Random {
    grid: Grid,
    /// Scratch space for the free nodes, with those drawn so far at the front.
    nodes: Vec<NodeId>,
    /// The number of free nodes listed, and the number of words read to list them.
    work: Work,
}

impl Strategy for Random {
    fn find(
        &mut self,
        free: &Occupancy,
        request: &Request,
        draw: &mut Stream,
    ) -> Option<Placement> {
        if request.nodes > free.count() {
            return None;
        }
        self.nodes.clear();
        self.nodes.extend(free.iter());
        self.work.boxes += self.nodes.len() as u64;
        self.work.words += u64::from(self.grid.nodes().div_ceil(64));
        let drawn = draw.sample(&mut self.nodes, request.nodes as usize);
        drawn.sort_unstable();
        Some(runs(&self.grid, drawn.iter().copied()))
    }

    fn work(&self) -> Work {
        self.work
    }

    fn fork(&self) -> Box<dyn Strategy> {
        Box::new(self.clone())
    }
}

impl MachineStrategy for Random {
    fn reset(&mut self, _free: &Occupancy) -> bool {
        true
    }
}
