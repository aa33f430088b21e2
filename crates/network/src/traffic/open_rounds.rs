//! The rounds in which a rank may send. They are limited by barriers and by the messages that the
//! rank must receive first.
//!
//! ```text
//!   received:   rank r may send up to the first round whose message it has not received
//!   stages:     every rank may send up to the end of the stage; the next one opens when all
//!               messages of this one have been delivered
//! ```
//!
//! Cost: O(log n) per delivery for n early messages, and O(rounds in the stage) to open a stage.

use std::collections::BTreeSet;

use super::schedule::Schedule;
use crate::patterns::Needs;

/// The ranks, in addition to the sender, that a delivery may unblock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unblocked {
    NoRank,
    Receiver,
    AllRanks,
}

/// The rounds in which ranks may send.
#[derive(Debug)]
pub(super) enum OpenRounds {
    /// Ranks may send in all rounds.
    Open,
    /// Each rank may send up to the first round whose message to that rank has not arrived.
    Received {
        /// For each rank, the first round whose message it has not received.
        waits_for: Vec<u64>,
        /// The receiver and round of each message that overtook one from an earlier round.
        early: BTreeSet<(u32, u64)>,
    },
    /// Ranks may send up to the end of the current stage.
    Stages {
        /// `start` is the first round in this stage, and `end` is the first round in the next one.
        start: u64,
        end: u64,
        /// The number of messages in the stage that have not been delivered.
        left: u64,
    },
}

impl OpenRounds {
    pub(super) fn new(needs: Needs, schedule: &Schedule) -> OpenRounds {
        match needs {
            Needs::Nothing => OpenRounds::Open,
            Needs::Received => {
                let first = |rank| schedule.next_receive(rank, 0).unwrap_or(u64::MAX);
                let waits_for = (0..schedule.pattern().ranks()).map(first).collect();
                OpenRounds::Received { waits_for, early: BTreeSet::new() }
            }
            Needs::Stages => {
                let (start, end, left) = stage(schedule, 0);
                OpenRounds::Stages { start, end, left }
            }
        }
    }

    /// Returns true if a rank may send its message in a round.
    pub(super) fn allows(&self, rank: u32, round: u64) -> bool {
        match self {
            OpenRounds::Open => true,
            OpenRounds::Received { waits_for, .. } => round <= waits_for[rank as usize],
            OpenRounds::Stages { end, .. } => round < *end,
        }
    }

    /// Returns the rounds in which every rank may send.
    pub(super) fn rounds(&self) -> (u64, u64) {
        match self {
            OpenRounds::Stages { start, end, .. } => (*start, *end),
            OpenRounds::Open | OpenRounds::Received { .. } => (0, u64::MAX),
        }
    }

    /// Records that a message sent in a given round has reached a rank.
    pub(super) fn delivered(&mut self, schedule: &Schedule, to: u32, round: u64) -> Unblocked {
        match self {
            OpenRounds::Open => Unblocked::NoRank,
            OpenRounds::Received { waits_for, early } => {
                let waits_for = &mut waits_for[to as usize];
                if round != *waits_for {
                    early.insert((to, round));
                    return Unblocked::NoRank;
                }
                loop {
                    *waits_for = schedule.next_receive(to, *waits_for + 1).unwrap_or(u64::MAX);
                    if !early.remove(&(to, *waits_for)) {
                        return Unblocked::Receiver;
                    }
                }
            }
            OpenRounds::Stages { start, end, left } => {
                *left -= 1;
                if *left > 0 {
                    return Unblocked::NoRank;
                }
                (*start, *end, *left) = stage(schedule, *end);
                Unblocked::AllRanks
            }
        }
    }
}

/// Finds the first stage at or after a round that has messages. Returns the stage's range of rounds
/// and its number of messages.
fn stage(schedule: &Schedule, from: u64) -> (u64, u64, u64) {
    let rounds = u64::from(schedule.pattern().rounds()).max(1);
    let mut start = from;
    while start < schedule.end() {
        let base = start - start % rounds;
        let end = base + u64::from(schedule.pattern().stage_end((start - base) as u32));
        let left = (start..end.min(schedule.end())).map(|round| schedule.senders(round)).sum();
        if left > 0 {
            return (start, end, left);
        }
        start = end;
    }
    (start, start, 0)
}
