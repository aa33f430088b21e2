//! Sorted free list: take the first free nodes along a line through the machine.
//!
//! The strategy succeeds if and only if enough nodes are free.
//!
//! ```text
//!   order=snake, 5 nodes:   . . . .
//!                           a # a a     the second row runs backwards
//!                           . # # a     (the first node of the line is busy too)
//!                           # # # #
//! ```
//!
//! With `order=row-major`, the strategy is identical to `naive` and `paging:0:row-major`. With any
//! other order, it is identical to `paging:0` with that order. All of these strategies use
//! [`LinearOrder`](crate::strategies::shared::linear_order::LinearOrder).
//!
//! Cost: O(N + n log n) for n of N nodes; O(N/64 + n) in row-major order.
//!
//! Source: Leung, Arkin, Bender, Bunde, Johnston, Lal, Mitchell, Phillips & Seiden, "Processor
//! allocation on Cplant: achieving general processor locality using one-dimensional allocation
//! strategies", CLUSTER 2002. The behavior matches SST's scheduler element, except that
//! node-by-node orders are given in options rather than in files.

use crate::kind::{Entry, StrategyKind};
use crate::strategies::shared::linear_order::{self, Linear, Packing};

pub(crate) static ENTRY: Entry = Entry {
    name: "linear-sorted",
    title: "Sorted Free List along a Curve",
    source: "Leung, Arkin, Bender, Bunde et al. 2002",
    options: &[linear_order::ORDER],
    variants: &["", "snake", "hilbert"],
    does: StrategyKind::noncontiguous(|grid, options| {
        Linear::boxed(grid, options, Packing::Sorted)
    })
    .with_supports(linear_order::supports),
};
