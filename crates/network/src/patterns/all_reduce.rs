//! All-reduce on a ring, in 2 (k - 1) rounds: k - 1 rounds of reduce-scatter, followed by k - 1
//! rounds of all-gather. In each round, rank i sends the data it received in the previous round to
//! i + 1 mod k.
//!
//! ```text
//!   round 0:  0>1 1>2 2>3 3>0   a rank starts round 1 when its round-0 message has arrived
//! ```
//!
//! Source: Patarasuk & Yuan 2009. The pattern is common in data-parallel training.

use pavior_kernel::{Options, Stream};

use super::{BuildPattern, Entry, Needs, Pattern, PatternKind, RankGrid, any_grid};

pub(super) static ENTRY: Entry = Entry {
    name: "all-reduce",
    title: "All-reduce on a ring",
    source: "Patarasuk & Yuan 2009",
    options: &[],
    variants: &[""],
    does: PatternKind {
        meaning: "2(k-1) ring steps, each after the previous step's message arrives",
        quota_only: false,
        objection: any_grid,
        build: BuildPattern::Function(build),
    },
};

#[derive(Debug)]
struct AllReduce {
    ranks: u32,
}

fn build(shape: &RankGrid, _: &Options, _: &mut Stream) -> Box<dyn Pattern> {
    Box::new(AllReduce { ranks: shape.ranks })
}

impl Pattern for AllReduce {
    fn rounds(&self) -> u32 {
        2 * (self.ranks - 1)
    }

    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn needs(&self) -> Needs {
        Needs::Received
    }

    fn destination(&self, rank: u32, round: u32) -> Option<u32> {
        (round < self.rounds()).then_some((rank + 1) % self.ranks)
    }

    fn source(&self, rank: u32, round: u32) -> Option<u32> {
        (round < self.rounds()).then_some((rank + self.ranks - 1) % self.ranks)
    }

    fn senders(&self, _round: u32) -> u32 {
        self.ranks
    }

    fn sends_before(&self, _rank: u32, round: u32) -> u64 {
        round.into()
    }
}
