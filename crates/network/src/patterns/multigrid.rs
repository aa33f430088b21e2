//! Multigrid: a V-cycle through levels 0, 1, ..., m, ..., 1, 0, where m = floor(log2(longest side -
//! 1)), or 0 if the longest side is 1. At level l, each rank whose coordinates are all multiples of
//! 2^l sends to the ranks ±2^l away on each axis. Levels are separated by barriers.
//!
//! ```text
//!   level 0   o-o-o-o-o        level 1   o---o---o        level 2   o-------o
//! ```
//!
//! Source: the multigrid pattern in Lo, Windisch, Liu & Nitzberg 1997 (NAS kernel MG).

use pavior_kernel::{Options, Stream};

use super::lattice::Lattice;
use super::{BuildPattern, Entry, Needs, Pattern, PatternKind, RankGrid, any_grid};

pub(super) static ENTRY: Entry = Entry {
    name: "multigrid",
    title: "Multigrid",
    source: "Lo, Windisch, Liu & Nitzberg 1997",
    options: &[],
    variants: &[""],
    does: PatternKind {
        meaning: "levels 0..m..0: ranks at multiples of 2^l send ±2^l along each axis",
        quota_only: false,
        objection: any_grid,
        build: BuildPattern::Function(build),
    },
};

#[derive(Debug)]
struct Multigrid {
    lattice: Lattice,
    /// The coarsest level, m.
    coarsest: u32,
}

fn build(shape: &RankGrid, _: &Options, _: &mut Stream) -> Box<dyn Pattern> {
    let longest = shape.sides.into_iter().max().map_or(1, u32::from);
    // If there is more than one rank, at least one side of the grid is longer than 1.
    let coarsest = (longest - 1).checked_ilog2().unwrap_or(0);
    Box::new(Multigrid { lattice: Lattice::new(shape, false), coarsest })
}

impl Multigrid {
    /// Returns the maximum number of messages that a rank sends at one level.
    fn width(&self) -> u32 {
        self.lattice.most_neighbours()
    }
}

impl Pattern for Multigrid {
    fn rounds(&self) -> u32 {
        (2 * self.coarsest + 1) * self.width()
    }

    fn ranks(&self) -> u32 {
        self.lattice.ranks
    }

    fn needs(&self) -> Needs {
        Needs::Stages
    }

    fn stage_end(&self, round: u32) -> u32 {
        (round / self.width() + 1) * self.width()
    }

    fn destination(&self, rank: u32, round: u32) -> Option<u32> {
        let stage = round / self.width();
        let level = self.coarsest - stage.abs_diff(self.coarsest);
        let place = self.lattice.place(rank);
        if place.iter().any(|at| at % (1 << level) != 0) {
            return None;
        }
        self.lattice.neighbours(rank, 1 << level).nth((round % self.width()) as usize)
    }
}
