//! Random: every message has a uniformly random source and a uniformly random destination other
//! than the source. The pattern has no iterations, so jobs must request a number of messages.
//!
//! The n-th message is a function of n and a random value drawn for the job. Every sending
//! discipline therefore sends the same messages, and no message needs to be stored.
//!
//! Source: the ProcSimity simulator (Windisch, Miller & Lo 1995).

use pavior_kernel::{Options, Stream};

use super::{BuildPattern, Entry, Pattern, PatternKind, RankGrid, any_grid};

pub(super) static ENTRY: Entry = Entry {
    name: "random",
    title: "Random",
    source: "Windisch, Miller & Lo 1995",
    options: &[],
    variants: &[""],
    does: PatternKind {
        meaning: "each message has a random source and destination; requires a message count",
        quota_only: true,
        objection: any_grid,
        build: BuildPattern::Function(build),
    },
};

#[derive(Debug)]
struct Random {
    ranks: u32,
    seed: u64,
}

fn build(shape: &RankGrid, _: &Options, draw: &mut Stream) -> Box<dyn Pattern> {
    Box::new(Random { ranks: shape.ranks, seed: draw.next_u64() })
}

impl Random {
    fn message(&self, round: u32) -> (u32, u32) {
        let mut draw = Stream::new(self.seed, u64::from(round), "random pattern");
        let from = draw.below(self.ranks.into()) as u32;
        let ahead = 1 + draw.below(u64::from(self.ranks) - 1) as u32;
        (from, (from + ahead) % self.ranks)
    }
}

impl Pattern for Random {
    fn rounds(&self) -> u32 {
        u32::MAX
    }

    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn destination(&self, rank: u32, round: u32) -> Option<u32> {
        let (from, to) = self.message(round);
        (from == rank).then_some(to)
    }

    fn next_sender(&self, round: u32, from: u32) -> Option<(u32, u32)> {
        Some(self.message(round)).filter(|&(rank, _)| rank >= from)
    }

    fn senders(&self, _round: u32) -> u32 {
        1
    }

    fn messages(&self) -> u64 {
        u32::MAX.into()
    }
}
