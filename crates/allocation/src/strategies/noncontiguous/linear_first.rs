//! First Fit along a curve: take the first run of consecutive free nodes that is long enough. If no
//! run is long enough, take the window of free nodes with the smallest span.
//!
//! The strategy succeeds if and only if enough nodes are free.
//!
//! ```text
//!   rank     0 1 2 3 4 5 6 7 8 9
//!   free     . . # . . . # . . .     3 nodes: ranks 3 4 5, the first run of three;
//!            a a # a a . # . . .     4 nodes: 0 1 3 4, span 4 (the first of that span)
//! ```
//!
//! Both cases follow the same rule, because the first run that is long enough contains the first
//! window with the smallest possible span, n - 1. The code is [`Packing::MinSpan`], which is also
//! the fallback in `linear-best` and `mip`.
//!
//! Cost: O(N + n log n) for n of N nodes.
//!
//! Source: same as for [`linear_sorted`](super::linear_sorted).

use crate::kind::{Entry, StrategyKind};
use crate::strategies::shared::linear_order::{self, Linear, Packing};

pub(crate) static ENTRY: Entry = Entry {
    name: "linear-first",
    title: "First Fit along a Curve",
    source: "Leung, Arkin, Bender, Bunde et al. 2002",
    options: &[linear_order::ORDER],
    variants: &["", "snake", "hilbert"],
    does: StrategyKind::noncontiguous(|grid, options| {
        Linear::boxed(grid, options, Packing::MinSpan)
    })
    .with_supports(linear_order::supports),
};
