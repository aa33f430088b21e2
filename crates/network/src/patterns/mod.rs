//! Communication patterns for jobs, one per file, and their registry.
//!
//! A pattern is a rule, not a list. A rank's destination in a round is computed on demand, so the
//! 65,280 messages of an all-to-all among 256 processors are never in memory all at once.

mod all_reduce;
mod all_to_all;
mod axis_all_to_all;
mod binomial_tree;
mod lattice;
mod multigrid;
mod n_body;
mod near_neighbour;
mod one_to_all;
mod random;
mod recursive_doubling;
mod ring;
mod selection;
mod stencil;

use std::fmt::{self, Debug};
use std::sync::Arc;

use pavior_kernel::{Family, Options, Stream};
use pavior_mesh::{Grid, Sides};

pub(crate) use selection::iteration;
pub use selection::{PatternRegistry, PatternSelection, UnsupportedPattern, supports_iterations};

/// All patterns, in the order used in tables.
const ALL: &[&Entry] = &[
    &one_to_all::ENTRY,
    &all_to_all::ENTRY,
    &near_neighbour::ENTRY,
    &random::ENTRY,
    &ring::ENTRY,
    &all_reduce::ENTRY,
    &recursive_doubling::ENTRY,
    &binomial_tree::ENTRY,
    &n_body::ENTRY,
    &multigrid::ENTRY,
    &stencil::ENTRY,
    &axis_all_to_all::ENTRY,
];

/// A pattern's entry in the registry, with its name, its options and its implementation.
pub type Entry = pavior_kernel::Entry<PatternKind>;

/// The implementation of a pattern.
#[derive(Clone, Debug)]
pub struct PatternKind {
    /// A one-sentence description of an iteration.
    pub meaning: &'static str,
    /// True if the pattern has no iterations, so jobs must request a number of messages.
    pub quota_only: bool,
    /// Returns the reason why a machine cannot support the pattern, or `None` if it can.
    pub objection: fn(&Grid, &Options) -> Option<String>,
    /// The constructor, for jobs with at least two ranks. It draws any random values for the job.
    pub build: BuildPattern,
}

/// A constructor for a job's pattern.
#[derive(Clone)]
pub enum BuildPattern {
    /// A plain function.
    Function(fn(&RankGrid, &Options, &mut Stream) -> Box<dyn Pattern>),
    /// A closure with captured state.
    Closure(Arc<PatternClosure>),
}

/// A closure that constructs a job's pattern.
pub type PatternClosure =
    dyn Fn(&RankGrid, &Options, &mut Stream) -> Box<dyn Pattern> + Send + Sync;

impl fmt::Debug for BuildPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BuildPattern::Function(_) => "Function",
            BuildPattern::Closure(_) => "Closure",
        })
    }
}

impl Family for PatternKind {
    const NOUN: &'static str = "pattern";

    fn builtin() -> &'static [&'static Entry] {
        ALL
    }
}

fn any_grid(_: &Grid, _: &Options) -> Option<String> {
    None
}

/// A job's ranks, and the logical grid on which they are placed in row-major order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RankGrid {
    /// The number of ranks. Building a pattern requires at least 2.
    pub ranks: u32,
    /// The sides of the logical grid, which may have more positions than there are ranks.
    pub sides: Sides,
}

/// A condition that must hold before a rank sends its message in a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// The rank has sent all of its earlier messages.
    Nothing,
    /// The rank has also received all messages sent to it in earlier rounds.
    Received,
    /// All messages in earlier stages have been delivered ([`Pattern::stage_end`]).
    Stages,
}

/// One iteration of a job's communication. It consists of rounds, in each of which a rank sends at
/// most one message.
///
/// A rank with a simple list of destinations sends to the j-th destination in round j. Messages are
/// ordered by round and then rank.
pub trait Pattern: Debug + Send {
    /// Returns the number of rounds per iteration.
    fn rounds(&self) -> u32;

    /// Returns the rank that `rank` sends to in `round`.
    fn destination(&self, rank: u32, round: u32) -> Option<u32>;

    /// Returns the number of ranks.
    fn ranks(&self) -> u32;

    /// Returns the condition that must hold before a rank may send a message.
    fn needs(&self) -> Needs {
        Needs::Nothing
    }

    /// Returns the rank that `rank` receives from in `round`. Used only for patterns with
    /// [`Needs::Received`], in which each rank receives at most one message per round.
    fn source(&self, _rank: u32, _round: u32) -> Option<u32> {
        None
    }

    /// Returns the first round of the stage after the one that contains `round`.
    fn stage_end(&self, round: u32) -> u32 {
        round + 1
    }

    /// Returns true if a requested number of messages is rounded up so that the last round is
    /// complete. The number is not rounded if messages are sent one at a time.
    fn whole_rounds(&self) -> bool {
        false
    }

    /// Returns the number of messages that a job sends when `count` messages are requested.
    fn quota(&self, count: u64) -> u64 {
        count
    }

    /// Finds the first round in `from..until` in which `rank` sends, and the destination.
    fn next_send(&self, rank: u32, from: u32, until: u32) -> Option<(u32, u32)> {
        (from..until).find_map(|round| self.destination(rank, round).map(|to| (round, to)))
    }

    /// Finds the first rank at or after `from` that sends in `round`, and its destination.
    fn next_sender(&self, round: u32, from: u32) -> Option<(u32, u32)> {
        (from..self.ranks()).find_map(|rank| self.destination(rank, round).map(|to| (rank, to)))
    }

    /// Returns the number of ranks that send in a round.
    fn senders(&self, round: u32) -> u32 {
        (0..self.ranks()).filter(|&rank| self.destination(rank, round).is_some()).count() as u32
    }

    /// Returns the number of messages that `rank` sends before `round`.
    fn sends_before(&self, rank: u32, round: u32) -> u64 {
        (0..round).filter(|&round| self.destination(rank, round).is_some()).count() as u64
    }

    /// Returns the number of messages per iteration.
    fn messages(&self) -> u64 {
        (0..self.rounds()).map(|round| u64::from(self.senders(round))).sum()
    }
}

/// Calls `see` with the sender and the receiver of each message in an iteration, in order of round
/// and then rank.
pub(crate) fn each_message(pattern: &dyn Pattern, mut see: impl FnMut(u32, u32)) {
    for round in 0..pattern.rounds() {
        let mut from = 0;
        while let Some((rank, to)) = pattern.next_sender(round, from) {
            see(rank, to);
            from = rank + 1;
        }
    }
}
