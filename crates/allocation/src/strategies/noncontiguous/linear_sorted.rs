//! Sorted free list: the first free nodes along a line through the machine.
//!
//! Misses nothing: it succeeds exactly when enough nodes are free.
//!
//! ```text
//!   order=snake, 5 nodes:   . . . .
//!                           a # a a     the second row runs backwards
//!                           . # # a     (the first node of the line is held too)
//!                           # # # #
//! ```
//!
//! With `order=row-major` it is `naive` and `paging:0:row-major`, with another order `paging:0`
//! with that order; all of them are [`Curve`](super::super::shared::curve::Curve).
//!
//! Cost: O(N + n log n) for n of N nodes; O(N/64 + n) in row-major order.
//!
//! Source: Leung, Arkin, Bender, Bunde, Johnston, Lal, Mitchell, Phillips & Seiden, "Processor
//! allocation on Cplant: achieving general processor locality using one-dimensional allocation
//! strategies", CLUSTER 2002; behaviour as in SST's scheduler element. Orders given node by node
//! take the place of SST's files.

use pavior_kernel::Options;
use pavior_mesh::Grid;

use super::super::shared::curve::{self, Linear, Packing};
use super::by_count;
use crate::Strategy;
use crate::kind::{BuildStrategy, Entry, StrategyKind};

pub(in crate::strategies) static ENTRY: Entry = Entry {
    name: "linear-sorted",
    title: "Sorted Free List along a Curve",
    source: "Leung, Arkin, Bender, Bunde et al. 2002",
    options: &[curve::ORDER],
    variants: &["", "snake", "hilbert"],
    does: StrategyKind {
        contiguous: false,
        turns: false,
        supports: curve::supports,
        claim: by_count,
        build: BuildStrategy::Function(build),
    },
};

fn build(grid: &Grid, options: &Options) -> Box<dyn Strategy> {
    Linear::boxed(grid, options, Packing::Sorted)
}
