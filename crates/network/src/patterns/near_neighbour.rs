//! Near neighbor: every rank sends to its east, west, north and south (and up and down) neighbors
//! on the logical grid, in this order. Ranks at a border have fewer neighbors.
//!
//! ```text
//!        3           +y is north, +x is east; the middle rank's messages are
//!      2 o 1         numbered in the order in which they are sent
//!        4
//! ```
//!
//! Source: Shdefat, Bani-Mohammad & Ababneh 2023 (the NAS paper).

use pavior_kernel::{Options, Stream};

use super::lattice::{Lattice, WRAP};
use super::{BuildPattern, Entry, Pattern, PatternKind, RankGrid, any_grid};

pub(super) static ENTRY: Entry = Entry {
    name: "near-neighbour",
    title: "Near neighbour",
    source: "Shdefat, Bani-Mohammad & Ababneh 2023",
    options: &[WRAP],
    variants: &["", "wrap=yes"],
    does: PatternKind {
        meaning: "every rank sends to its east, west, north, south, up and down neighbors",
        quota_only: false,
        objection: any_grid,
        build: BuildPattern::Function(build),
    },
};

#[derive(Debug)]
struct NearNeighbour {
    lattice: Lattice,
}

fn build(shape: &RankGrid, options: &Options, _: &mut Stream) -> Box<dyn Pattern> {
    Box::new(NearNeighbour { lattice: Lattice::new(shape, options.get("wrap") == "yes") })
}

impl Pattern for NearNeighbour {
    fn rounds(&self) -> u32 {
        self.lattice.most_neighbours()
    }

    fn ranks(&self) -> u32 {
        self.lattice.ranks
    }

    fn destination(&self, rank: u32, round: u32) -> Option<u32> {
        self.lattice.neighbours(rank, 1).nth(round as usize)
    }

    fn messages(&self) -> u64 {
        let sent = |rank| self.lattice.neighbours(rank, 1).count() as u64;
        (0..self.lattice.ranks).map(sent).sum()
    }
}
