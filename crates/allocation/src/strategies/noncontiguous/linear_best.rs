//! Best Fit along a curve: take the first nodes in the shortest run of consecutive free nodes that
//! is long enough. If no run is long enough, take the window of free nodes with the smallest span.
//!
//! The strategy succeeds if and only if enough nodes are free.
//!
//! ```text
//!   rank     0 1 2 3 4 5 6 7 8 9
//!   free     . . . # . . # . . .     2 nodes: ranks 4 5, which leaves both runs of three intact
//! ```
//!
//! `hilbert` is this strategy with `order=hilbert`.
//!
//! Cost: O(N + n log n) for n of N nodes.
//!
//! Source: same as for [`linear_sorted`](super::linear_sorted). Ties in length or span go to the
//! first run or window.

use crate::kind::{Entry, StrategyKind};
use crate::strategies::shared::linear_order::{self, Linear, Packing};

pub(crate) static ENTRY: Entry = Entry {
    name: "linear-best",
    title: "Best Fit along a Curve",
    source: "Leung, Arkin, Bender, Bunde et al. 2002",
    options: &[linear_order::ORDER],
    variants: &["", "snake", "hilbert"],
    does: StrategyKind::noncontiguous(|grid, options| Linear::boxed(grid, options, Packing::Best))
        .with_supports(linear_order::supports),
};
