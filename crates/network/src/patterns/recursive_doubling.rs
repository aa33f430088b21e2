//! Recursive doubling (the butterfly in a fast Fourier transform), in log2 p rounds. In round r,
//! rank s exchanges messages with rank s xor 2^r. Here, p is k rounded down to a power of two, and
//! the remaining ranks send nothing. With `--rounds barrier`, each round waits for the previous
//! one; otherwise, a rank is delayed only by the sending discipline.
//!
//! ```text
//!   0 x 1   2 x 3     round 0
//!   0 ≍ 2   1 ≍ 3     round 1
//! ```
//!
//! Source: the FFT among the NAS kernels in Lo, Windisch, Liu & Nitzberg 1997.

use pavior_kernel::{Options, Stream};

use super::{BuildPattern, Entry, Pattern, PatternKind, RankGrid, any_grid};

pub(super) static ENTRY: Entry = Entry {
    name: "recursive-doubling",
    title: "Recursive doubling (FFT)",
    source: "Lo, Windisch, Liu & Nitzberg 1997",
    options: &[],
    variants: &[""],
    does: PatternKind {
        meaning: "floor(log2 k) rounds; in round r, rank s exchanges messages with s xor 2^r",
        quota_only: false,
        objection: any_grid,
        build: BuildPattern::Function(build),
    },
};

#[derive(Debug)]
struct RecursiveDoubling {
    ranks: u32,
    rounds: u32,
}

fn build(shape: &RankGrid, _: &Options, _: &mut Stream) -> Box<dyn Pattern> {
    Box::new(RecursiveDoubling { ranks: shape.ranks, rounds: shape.ranks.ilog2() })
}

impl Pattern for RecursiveDoubling {
    fn rounds(&self) -> u32 {
        self.rounds
    }

    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn destination(&self, rank: u32, round: u32) -> Option<u32> {
        (rank < 1 << self.rounds && round < self.rounds).then(|| rank ^ 1 << round)
    }
}
