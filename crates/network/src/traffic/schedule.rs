//! All of a job's messages, defined by a rule rather than a list.
//!
//! Rounds are numbered consecutively across iterations, and end after the job's last message:
//!
//! ```text
//!   iteration:   0 0 0 1 1 1 2 2 2        rounds 0..8
//!   message n:   ------------^            limit = (round, rank) just after it
//! ```
//!
//! Invariant: a message exists if and only if its (round, rank) is less than `limit`.
//!
//! Cost: each query evaluates the pattern's rule over at most two iterations.

use super::Communication;
use crate::patterns::Pattern;

#[derive(Debug)]
pub(super) struct Schedule {
    pattern: Box<dyn Pattern>,
    rounds: u64,
    /// The exclusive upper bound on the (round, rank) of messages.
    limit: (u64, u32),
    total: u64,
}

impl Schedule {
    /// Creates the schedule for `service`. If `service` is a number of messages and `whole` is
    /// true, the number is increased so that the last round is complete.
    pub(super) fn new(pattern: Box<dyn Pattern>, service: Communication, whole: bool) -> Schedule {
        let rounds = u64::from(pattern.rounds());
        let all = pattern.messages();
        let mut schedule = Schedule { pattern, rounds, limit: (0, 0), total: 0 };
        if all == 0 {
            return schedule;
        }
        match service {
            Communication::Iterations(count) => {
                schedule.limit = (count.saturating_mul(rounds), 0);
                schedule.total = count.saturating_mul(all);
            }
            Communication::Messages(count) => {
                let count = schedule.pattern.quota(count);
                schedule.cut(count, all, whole);
            }
        }
        schedule
    }

    /// Sets the limit to the point just after the `count`-th message.
    fn cut(&mut self, count: u64, all: u64, whole: bool) {
        let (mut round, mut rest) = (count / all * self.rounds, count % all);
        self.total = count;
        while rest > 0 {
            let senders = u64::from(self.pattern.senders((round % self.rounds) as u32));
            if senders > rest && !whole {
                let mut rank = 0;
                for _ in 0..rest {
                    let sender = self.pattern.next_sender((round % self.rounds) as u32, rank);
                    rank = sender.expect("the round has more senders").0 + 1;
                }
                self.limit = (round, rank);
                return;
            }
            if senders > rest {
                self.total += senders - rest;
            }
            rest = rest.saturating_sub(senders);
            round += 1;
        }
        self.limit = (round, 0);
    }

    pub(super) fn pattern(&self) -> &dyn Pattern {
        self.pattern.as_ref()
    }

    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// Returns the last round plus one.
    pub(super) fn end(&self) -> u64 {
        self.limit.0 + u64::from(self.limit.1 > 0)
    }

    /// Returns the round after the last one in which a rank may send.
    fn end_of(&self, rank: u32) -> u64 {
        self.limit.0 + u64::from(rank < self.limit.1)
    }

    /// Returns the destination of a rank's message in a round. The message must exist.
    pub(super) fn destination(&self, rank: u32, round: u64) -> u32 {
        let to = self.pattern.destination(rank, (round % self.rounds) as u32);
        to.expect("only messages that exist are delivered")
    }

    /// Finds the first message that a rank sends in or after round `from`. Returns its round and
    /// destination.
    pub(super) fn next_send(&self, rank: u32, from: u64) -> Option<(u64, u32)> {
        let end = self.end_of(rank);
        let mut from = from;
        // Search the rest of this iteration and then the whole of the next one. If a rank sends
        // nothing in a whole iteration, it never sends again.
        for _ in 0..2 {
            if from >= end {
                return None;
            }
            let base = from - from % self.rounds;
            let until = (end - base).min(self.rounds) as u32;
            if let Some((round, to)) = self.pattern.next_send(rank, (from - base) as u32, until) {
                return Some((base + u64::from(round), to));
            }
            from = base + self.rounds;
        }
        None
    }

    /// Finds the first sender at or after (round, rank). Returns its round, rank and destination.
    pub(super) fn next_sender(&self, round: u64, rank: u32) -> Option<(u64, u32, u32)> {
        let (mut round, mut from) = (round, rank);
        while round < self.end() {
            let local = (round % self.rounds) as u32;
            if let Some((rank, to)) = self.pattern.next_sender(local, from) {
                return ((round, rank) < self.limit).then_some((round, rank, to));
            }
            (round, from) = (round + 1, 0);
        }
        None
    }

    /// Returns the number of messages sent in a round.
    pub(super) fn senders(&self, round: u64) -> u64 {
        let local = (round % self.rounds) as u32;
        if round < self.limit.0 {
            return self.pattern.senders(local).into();
        }
        let sends = |&rank: &u32| self.pattern.destination(rank, local).is_some();
        (0..self.limit.1).filter(sends).count() as u64
    }

    /// Returns the number of messages that a rank sends in rounds `from..until`.
    pub(super) fn count(&self, rank: u32, from: u64, until: u64) -> u64 {
        let before = |round: u64| {
            let round = round.min(self.end_of(rank));
            let rest = self.pattern.sends_before(rank, (round % self.rounds) as u32);
            match round / self.rounds {
                0 => rest,
                whole => whole * self.pattern.sends_before(rank, self.rounds as u32) + rest,
            }
        };
        before(until) - before(from)
    }

    /// Finds the first round, at or after `from`, in which a rank receives a message.
    pub(super) fn next_receive(&self, rank: u32, from: u64) -> Option<u64> {
        let receives = |round: u64| {
            let source = self.pattern.source(rank, (round % self.rounds) as u32);
            source.is_some_and(|source| round < self.end_of(source))
        };
        (from..self.end().min(from.saturating_add(self.rounds))).find(|&round| receives(round))
    }
}
