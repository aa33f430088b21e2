//! All to all: every rank s sends to every other, in the order s+1, s+2, … mod k. k (k - 1)
//! messages an iteration.
//!
//! With a number of messages, and more than one in flight, it goes in rounds: in round r every rank
//! sends to the r-th next one, a round starts when the one before has been delivered, and the job
//! ends with the round in which the number is reached.
//!
//! ```text
//!   round 1:  0>1 1>2 2>3 3>0      round 2:  0>2 1>3 2>0 3>1      round 3:  0>3 1>0 2>1 3>2
//! ```
//!
//! Source: Bani-Mohammad, Ould-Khaoua, Ababneh & Mackenzie 2007, which leaves the order open.

use pavior_kernel::{Options, Stream};

use super::{Pattern, PatternSpec, Shape, any_grid};

pub(super) const SPEC: PatternSpec = PatternSpec {
    name: "all-to-all",
    title: "All to all",
    source: "Bani-Mohammad, Ould-Khaoua, Ababneh & Mackenzie 2007",
    meaning: "every rank s sends to every other: s+1, s+2, … mod k",
    options: &[],
    variants: &[""],
    quota_only: false,
    objection: any_grid,
    build,
};

#[derive(Debug)]
struct AllToAll {
    ranks: u32,
}

fn build(shape: &Shape, _: &Options, _: &mut Stream) -> Box<dyn Pattern> {
    Box::new(AllToAll { ranks: shape.ranks })
}

impl Pattern for AllToAll {
    fn rounds(&self) -> u32 {
        self.ranks - 1
    }

    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn destination(&self, rank: u32, round: u32) -> Option<u32> {
        (round < self.rounds()).then_some((rank + 1 + round) % self.ranks)
    }

    fn whole_rounds(&self) -> bool {
        true
    }

    fn senders(&self, _round: u32) -> u32 {
        self.ranks
    }

    fn sends_before(&self, _rank: u32, round: u32) -> u64 {
        round.into()
    }
}
