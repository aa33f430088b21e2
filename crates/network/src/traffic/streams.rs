//! Pipelined senders that never wait. Conceptually, all their messages exist from the start.
//!
//! A rank's messages queue at its injection channel in order. Each message is therefore created
//! only when the previous one has acquired the channel.
//!
//! Invariant: the ids for a stage are reserved when the stage starts, in order of rank and then
//! round. They do not depend on when messages are actually created.
//!
//! Cost: O(1) per message, and O(ranks) per stage.

use pavior_kernel::Time;

use super::open_rounds::{OpenRounds, Unblocked};
use super::schedule::Schedule;

/// The next message that a rank sends.
pub(super) struct Head {
    pub(super) id: u64,
    pub(super) rank: u32,
    pub(super) round: u64,
    pub(super) to: u32,
    pub(super) created: Time,
    pub(super) followed: bool,
}

/// The messages that each rank has yet to send.
#[derive(Debug)]
pub(super) struct Streams {
    open: OpenRounds,
    /// For each rank, the round after the last one in which it sent (`next`), the id of its next
    /// message (`ids`), and the number of messages that it has yet to send in the stage (`left`).
    next: Vec<u64>,
    ids: Vec<u64>,
    left: Vec<u64>,
    created: Time,
    /// True if a stage is about to start.
    due: bool,
}

impl Streams {
    pub(super) fn new(open: OpenRounds, ranks: u32) -> Streams {
        let zeros = || vec![0; ranks as usize];
        let (next, ids, left) = (zeros(), zeros(), zeros());
        Streams { open, next, ids, left, created: Time::ZERO, due: true }
    }

    /// Starts a stage if one is due: reserves ids for its messages and sends each rank's first
    /// message. Returns the first unreserved id.
    pub(super) fn create(
        &mut self,
        schedule: &Schedule,
        now: Time,
        first_id: u64,
        mut send: impl FnMut(Head),
    ) -> u64 {
        if !std::mem::take(&mut self.due) {
            return first_id;
        }
        self.created = now;
        let (start, end) = self.open.rounds();
        let mut id = first_id;
        for rank in 0..self.next.len() as u32 {
            let index = rank as usize;
            let count = schedule.count(rank, start, end.min(schedule.end()));
            self.ids[index] = id;
            self.left[index] = count;
            id += count;
            if count > 0 {
                send(self.next(schedule, rank));
            }
        }
        id
    }

    /// Returns a rank's next message, which must exist.
    pub(super) fn next(&mut self, schedule: &Schedule, rank: u32) -> Head {
        let index = rank as usize;
        let next = schedule.next_send(rank, self.next[index]);
        let (round, to) = next.expect("as many messages as were counted");
        self.next[index] = round + 1;
        self.left[index] -= 1;
        self.ids[index] += 1;
        Head {
            id: self.ids[index] - 1,
            rank,
            round,
            to,
            created: self.created,
            followed: self.left[index] > 0,
        }
    }

    pub(super) fn delivered(&mut self, schedule: &Schedule, rank: u32, round: u64) {
        let to = schedule.destination(rank, round);
        if self.open.delivered(schedule, to, round) == Unblocked::AllRanks {
            self.due = true;
        }
    }
}
