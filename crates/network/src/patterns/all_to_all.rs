//! All to all: every rank s sends to every other rank, in the order s+1, s+2, … mod k. With
//! `from-zero`, the order is 0, 1, 2, …, skipping s. There are k (k - 1) messages per iteration.
//!
//! If a job sends a given number of messages and several may be in flight, the pattern runs in
//! rounds. In round r, every rank sends to the r-th destination in its order. Each round starts
//! when all messages in the previous round have been delivered. The job ends after the round in
//! which the number of messages sent reaches the requested number.
//!
//! ```text
//!   round 1:  0>1 1>2 2>3 3>0      round 2:  0>2 1>3 2>0 3>1      round 3:  0>3 1>0 2>1 3>2
//! ```
//!
//! With `senders=in-turn`, rank 0 sends all its messages, then rank 1 does, and so on, with one
//! message per round. With `quota=rank`, the requested number of messages is per rank, not per job.
//!
//! Source: Bani-Mohammad, Ould-Khaoua, Ababneh & Mackenzie 2007. The paper specifies neither the
//! order nor whether the number of messages is per job or per rank.

use pavior_kernel::{OptionSpec, Options, Stream, Values};
use pavior_mesh::Grid;

use super::{BuildPattern, Entry, Pattern, PatternKind, RankGrid};

pub(super) static ENTRY: Entry = Entry {
    name: "all-to-all",
    title: "All to all",
    source: "Bani-Mohammad, Ould-Khaoua, Ababneh & Mackenzie 2007",
    options: &[
        OptionSpec {
            key: "order",
            values: Values::OneOf(&["from-source", "from-zero"]),
            default: "from-source",
            meaning: "the order of destinations: s+1, s+2, … mod k, or 0, 1, 2, … except s",
            bare: true,
        },
        OptionSpec {
            key: "senders",
            values: Values::OneOf(&["together", "in-turn"]),
            default: "together",
            meaning: "the order in which ranks send: one message each per round, or all messages \
                      of one rank before those of the next",
            bare: false,
        },
        OptionSpec {
            key: "quota",
            values: Values::OneOf(&["job", "rank"]),
            default: "job",
            meaning: "the scope of the message count: the whole job, or each rank",
            bare: false,
        },
    ],
    variants: &["", "from-zero", "senders=in-turn", "from-zero:senders=in-turn", "quota=rank"],
    does: PatternKind {
        meaning: "every rank s sends to all others: s+1, s+2, … mod k",
        quota_only: false,
        objection,
        build: BuildPattern::Function(build),
    },
};

/// Rejects machines so large that the number of rounds when senders take turns, k (k - 1), might
/// not fit in 32 bits.
fn objection(grid: &Grid, options: &Options) -> Option<String> {
    let too_many = options.get("senders") == "in-turn" && grid.nodes() > 1 << 16;
    too_many.then(|| format!("requires a machine with at most 65536 nodes, but {grid} has more"))
}

#[derive(Debug)]
struct AllToAll {
    ranks: u32,
    from_zero: bool,
    in_turn: bool,
    quota_of_rank: bool,
}

fn build(shape: &RankGrid, options: &Options, _: &mut Stream) -> Box<dyn Pattern> {
    Box::new(AllToAll {
        ranks: shape.ranks,
        from_zero: options.get("order") == "from-zero",
        in_turn: options.get("senders") == "in-turn",
        quota_of_rank: options.get("quota") == "rank",
    })
}

impl AllToAll {
    /// Returns the first of the k - 1 consecutive rounds in which a rank sends.
    fn first_round(&self, rank: u32) -> u32 {
        if self.in_turn { rank * (self.ranks - 1) } else { 0 }
    }
}

impl Pattern for AllToAll {
    fn rounds(&self) -> u32 {
        if self.in_turn { self.ranks * (self.ranks - 1) } else { self.ranks - 1 }
    }

    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn destination(&self, rank: u32, round: u32) -> Option<u32> {
        let place = round.checked_sub(self.first_round(rank))?;
        let to = if self.from_zero {
            place + u32::from(place >= rank)
        } else {
            (rank + 1 + place % self.ranks) % self.ranks
        };
        (place < self.ranks - 1).then_some(to)
    }

    fn whole_rounds(&self) -> bool {
        true
    }

    fn quota(&self, count: u64) -> u64 {
        if self.quota_of_rank { count.saturating_mul(self.ranks.into()) } else { count }
    }

    fn next_send(&self, rank: u32, from: u32, until: u32) -> Option<(u32, u32)> {
        let round = from.max(self.first_round(rank));
        let to = self.destination(rank, round)?;
        (round < until).then_some((round, to))
    }

    fn next_sender(&self, round: u32, from: u32) -> Option<(u32, u32)> {
        let rank = if self.in_turn { round / (self.ranks - 1) } else { from };
        let to = (from <= rank && rank < self.ranks).then(|| self.destination(rank, round));
        to.flatten().map(|to| (rank, to))
    }

    fn senders(&self, _round: u32) -> u32 {
        if self.in_turn { 1 } else { self.ranks }
    }

    fn sends_before(&self, rank: u32, round: u32) -> u64 {
        round.saturating_sub(self.first_round(rank)).min(self.ranks - 1).into()
    }

    fn messages(&self) -> u64 {
        u64::from(self.ranks) * u64::from(self.ranks - 1)
    }
}
