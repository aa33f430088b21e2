//! N-body: after floor((k - 1) / 2) shifts around a ring, every rank i sends to i + floor(k/2) mod
//! k. The shifts cover half the ring, which is enough for every pair of bodies to interact, and the
//! last messages return the forces. With `--rounds barrier`, each shift waits for the previous one;
//! otherwise, a rank is delayed only by the sending discipline.
//!
//! ```text
//!   i > i+1 > i+2 > ...   floor((k-1)/2) times,   then   i --> i + floor(k/2)
//! ```
//!
//! Source: the n-body pattern in Lo, Windisch, Liu & Nitzberg 1997.

use pavior_kernel::{Options, Stream};

use super::{BuildPattern, Entry, Pattern, PatternKind, RankGrid, any_grid};

pub(super) static ENTRY: Entry = Entry {
    name: "n-body",
    title: "N-body",
    source: "Lo, Windisch, Liu & Nitzberg 1997",
    options: &[],
    variants: &[""],
    does: PatternKind {
        meaning: "floor((k-1)/2) ring shifts, then rank i sends to i + floor(k/2) mod k",
        quota_only: false,
        objection: any_grid,
        build: BuildPattern::Function(build),
    },
};

#[derive(Debug)]
struct NBody {
    ranks: u32,
}

fn build(shape: &RankGrid, _: &Options, _: &mut Stream) -> Box<dyn Pattern> {
    Box::new(NBody { ranks: shape.ranks })
}

impl NBody {
    fn distance(&self, round: u32) -> Option<u32> {
        match round {
            _ if round + 1 < self.rounds() => Some(1),
            _ if round + 1 == self.rounds() => Some(self.ranks / 2),
            _ => None,
        }
    }
}

impl Pattern for NBody {
    fn rounds(&self) -> u32 {
        (self.ranks - 1) / 2 + 1
    }

    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn destination(&self, rank: u32, round: u32) -> Option<u32> {
        self.distance(round).map(|distance| (rank + distance) % self.ranks)
    }

    fn senders(&self, _round: u32) -> u32 {
        self.ranks
    }

    fn sends_before(&self, _rank: u32, round: u32) -> u64 {
        round.into()
    }
}
