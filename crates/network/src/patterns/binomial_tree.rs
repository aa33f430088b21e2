//! Binomial tree (divide and conquer): in round r, each rank i < 2^r sends to rank i + 2^r, if it
//! exists. Every receiver then replies to its sender, with the rounds in reverse order. There are 2
//! (k - 1) messages per iteration. With `--rounds barrier`, each round waits for the previous one;
//! otherwise, a rank is delayed only by the sending discipline.
//!
//! ```text
//!   0 > 1         round 0            and back:   4>0 5>1 6>2 7>3
//!   0>2 1>3       round 1                        2>0 3>1
//!   0>4 1>5 2>6 3>7                              1>0
//! ```
//!
//! Source: the divide-and-conquer pattern in Lo, Windisch, Liu & Nitzberg 1997.

use pavior_kernel::{Options, Stream};

use super::{BuildPattern, Entry, Pattern, PatternKind, RankGrid, any_grid};

pub(super) static ENTRY: Entry = Entry {
    name: "binomial-tree",
    title: "Binomial tree (divide and conquer)",
    source: "Lo, Windisch, Liu & Nitzberg 1997",
    options: &[],
    variants: &[""],
    does: PatternKind {
        meaning: "in round r, rank i < 2^r sends to i+2^r; then the same in reverse",
        quota_only: false,
        objection: any_grid,
        build: BuildPattern::Function(build),
    },
};

#[derive(Debug)]
struct BinomialTree {
    ranks: u32,
    /// The number of levels in the tree: ceil(log2 k).
    levels: u32,
}

fn build(shape: &RankGrid, _: &Options, _: &mut Stream) -> Box<dyn Pattern> {
    let levels = shape.ranks.next_power_of_two().ilog2();
    Box::new(BinomialTree { ranks: shape.ranks, levels })
}

impl BinomialTree {
    fn child(&self, rank: u32, level: u32) -> Option<u32> {
        let child = rank + (1 << level);
        (rank < 1 << level && child < self.ranks).then_some(child)
    }

    fn parent(rank: u32, level: u32) -> Option<u32> {
        (1 << level..2 << level).contains(&rank).then(|| rank - (1 << level))
    }

    /// Returns a round's level, and true if the round's messages go down the tree.
    fn level(&self, round: u32) -> (u32, bool) {
        if round < self.levels { (round, true) } else { (2 * self.levels - 1 - round, false) }
    }
}

impl Pattern for BinomialTree {
    fn rounds(&self) -> u32 {
        2 * self.levels
    }

    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn destination(&self, rank: u32, round: u32) -> Option<u32> {
        match self.level(round) {
            (level, true) => self.child(rank, level),
            (level, false) => Self::parent(rank, level),
        }
    }
}
