//! MC1x1: take the n free nodes nearest to some free node, measuring distance in square shells
//! around that node.
//!
//! The strategy succeeds if and only if enough nodes are free.
//!
//! ```text
//!   2 2 2 2 2
//!   2 1 1 1 2     a node costs its distance from the center, which is the largest
//!   2 1 0 1 2     difference in any coordinate; the cheapest center wins
//!   2 1 1 1 2
//!   2 2 2 2 2
//! ```
//!
//! The rule, code and cost are the same as for [`mc`](super), with a single node as the box.
//!
//! Source: Bender, Bunde, Demaine, Fekete, Leung, Meijer & Phillips, "Communication-aware processor
//! allocation for supercomputers", WADS 2005 and Algorithmica 50(2), 2008. The behavior matches
//! SST's scheduler element, with two departures: a busy center is never granted, and the last shell
//! is taken in the order z, y, x.

use pavior_kernel::Options;
use pavior_mesh::Grid;

use super::{Around, build_around};
use crate::kind::{BoxedStrategy, Entry, StrategyKind};
use crate::strategies::shared::base_search::ENGINE;

pub(crate) static ENTRY: Entry = Entry {
    name: "mc1x1",
    title: "Minimizing Contention, from a Single Node",
    source: "Bender, Bunde, Demaine, Fekete, Leung, Meijer & Phillips 2005, 2008",
    options: &[ENGINE],
    variants: &["", "plain"],
    does: StrategyKind::noncontiguous(build),
};

fn build(grid: &Grid, options: &Options) -> BoxedStrategy {
    build_around(grid, options, Around::Node)
}
