//! Naive: take the first free nodes in row-major order.
//!
//! The strategy succeeds if and only if enough nodes are free.
//!
//! ```text
//!   . . . .      a request for 5 nodes: the lowest rows are filled
//!   a # a .      from left to right, around busy nodes
//!   a a # a
//! ```
//!
//! The rule is the same as in `paging:0:row-major` and `linear-sorted:row-major`, under the name
//! used in the 1994 paper. The code is
//! [`LinearOrder`](crate::strategies::shared::linear_order::LinearOrder).
//!
//! Cost: O(N/64 + n) for n of N nodes. With `free=fifo` and `free=lifo`, nodes are taken by release
//! time, as in [`paging`](super::paging).
//!
//! Source: Liu, Lo, Windisch & Nitzberg, "Non-contiguous processor allocation algorithms for
//! distributed memory multicomputers", Supercomputing '94.

use pavior_kernel::Options;
use pavior_mesh::{Grid, order};

use super::paging;
use crate::kind::{BoxedStrategy, Entry, StrategyKind};
use crate::strategies::shared::free_set::{FREE, FreeOrder};
use crate::strategies::shared::linear_order::{Linear, Packing};

pub(crate) static ENTRY: Entry = Entry {
    name: "naive",
    title: "Naive",
    source: "Liu, Lo, Windisch & Nitzberg 1994",
    options: &[FREE],
    variants: &["", "free=fifo", "free=lifo"],
    does: StrategyKind::noncontiguous(build),
};

fn build(grid: &Grid, options: &Options) -> BoxedStrategy {
    match FreeOrder::of(options) {
        FreeOrder::Sorted => Box::new(Linear::new(*grid, order::row_major(grid), Packing::Sorted)),
        order => paging::single_nodes(grid, order),
    }
}
