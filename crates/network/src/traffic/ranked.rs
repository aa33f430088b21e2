//! Senders in which each rank advances at its own pace.
//!
//! Invariant: `turns` contains every rank that may currently be able to send a message.
//!
//! Cost: O(1) per message, and O(ranks) whenever a barrier opens.

use super::open_rounds::{OpenRounds, Unblocked};
use super::schedule::Schedule;

/// Senders that are either blocking, with one message in flight per rank, or pipelined, if they
/// must wait for incoming messages before sending more.
#[derive(Debug)]
pub(super) struct Ranked {
    open: OpenRounds,
    /// For each rank, the round after the last one in which the rank sent, or 0 if it has not sent.
    next: Vec<u64>,
    /// For each rank, true if the rank has a message in flight. Used only for blocking senders.
    in_flight: Vec<bool>,
    /// Ranks that may be able to send.
    turns: Vec<u32>,
    blocking: bool,
}

impl Ranked {
    pub(super) fn new(open: OpenRounds, ranks: u32, blocking: bool) -> Ranked {
        let count = ranks as usize;
        let turns = (0..ranks).collect();
        Ranked { open, next: vec![0; count], in_flight: vec![false; count], turns, blocking }
    }

    /// Sends all messages that can be sent now, in order of rank and then round.
    pub(super) fn create(&mut self, schedule: &Schedule, mut send: impl FnMut(u32, u64, u32)) {
        self.turns.sort_unstable();
        self.turns.dedup();
        for rank in self.turns.drain(..) {
            let index = rank as usize;
            while !(self.blocking && self.in_flight[index]) {
                let Some((round, to)) = schedule.next_send(rank, self.next[index]) else { break };
                if !self.open.allows(rank, round) {
                    break;
                }
                self.next[index] = round + 1;
                self.in_flight[index] = true;
                send(rank, round, to);
            }
        }
    }

    pub(super) fn delivered(&mut self, schedule: &Schedule, rank: u32, round: u64) {
        let to = schedule.destination(rank, round);
        self.in_flight[rank as usize] = false;
        self.turns.push(rank);
        match self.open.delivered(schedule, to, round) {
            Unblocked::NoRank => {}
            Unblocked::Receiver => self.turns.push(to),
            Unblocked::AllRanks => self.turns.extend(0..self.next.len() as u32),
        }
    }
}
