//! One to all: a random root, drawn once per job, sends to every other rank, in the order root+1,
//! root+2, … mod k. With `from-zero`, the order is 0, 1, 2, …, skipping the root. There are k - 1
//! messages per iteration.
//!
//! ```text
//!   root r:  r+1   r+2   ...   k-1   0   ...   r-1
//! ```
//!
//! Source: Bani-Mohammad, Ould-Khaoua, Ababneh & Mackenzie 2007 (the GABL paper), which does not
//! specify the order of destinations.

use pavior_kernel::{OptionSpec, Options, Stream, Values};

use super::{BuildPattern, Entry, Pattern, PatternKind, RankGrid, any_grid};

pub(super) static ENTRY: Entry = Entry {
    name: "one-to-all",
    title: "One to all",
    source: "Bani-Mohammad, Ould-Khaoua, Ababneh & Mackenzie 2007",
    options: &[OptionSpec {
        key: "order",
        values: Values::OneOf(&["from-root", "from-zero"]),
        default: "from-root",
        meaning: "the order of destinations: root+1, root+2, … mod k, or 0, 1, 2, … except the \
                  root",
        bare: true,
    }],
    variants: &["", "from-zero"],
    does: PatternKind {
        meaning: "a random root, drawn once per job, sends to every other rank",
        quota_only: false,
        objection: any_grid,
        build: BuildPattern::Function(build),
    },
};

#[derive(Debug)]
struct OneToAll {
    ranks: u32,
    root: u32,
    from_zero: bool,
}

fn build(shape: &RankGrid, options: &Options, draw: &mut Stream) -> Box<dyn Pattern> {
    let ranks = shape.ranks;
    let root = draw.below(ranks.into()) as u32;
    Box::new(OneToAll { ranks, root, from_zero: options.get("order") == "from-zero" })
}

impl Pattern for OneToAll {
    fn rounds(&self) -> u32 {
        self.ranks - 1
    }

    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn destination(&self, rank: u32, round: u32) -> Option<u32> {
        let to = if self.from_zero {
            round + u32::from(round >= self.root)
        } else {
            (self.root + 1 + round) % self.ranks
        };
        (rank == self.root && round < self.rounds()).then_some(to)
    }

    fn next_send(&self, rank: u32, from: u32, until: u32) -> Option<(u32, u32)> {
        let to = self.destination(rank, from)?;
        (from < until).then_some((from, to))
    }

    fn next_sender(&self, round: u32, from: u32) -> Option<(u32, u32)> {
        (from <= self.root)
            .then(|| self.destination(self.root, round).map(|to| (self.root, to)))
            .flatten()
    }

    fn senders(&self, _round: u32) -> u32 {
        1
    }

    fn sends_before(&self, rank: u32, round: u32) -> u64 {
        if rank == self.root { round.into() } else { 0 }
    }
}
