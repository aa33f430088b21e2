//! Deadlock reports, which list the messages that wait for each other in a cycle.

use std::fmt;

use pavior_kernel::Time;
use pavior_mesh::Grid;

use crate::channel::{Channel, ChannelId, Channels};

/// A set of messages that will wait for each other forever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deadlock {
    /// The grid of the machine on which the deadlock occurred.
    pub grid: Grid,
    /// The time at which the engine ran out of events. Engines may report different times, because
    /// flits can still move up behind a blocked header.
    pub at: Time,
    /// The number of messages that will never arrive.
    pub undelivered: usize,
    /// The cycle of waiting messages, starting with the message with the smallest id. Each message
    /// waits for a channel held by the next message, and the last message waits for one held by the
    /// first.
    pub waiting: Vec<Waiting>,
}

/// A message involved in a deadlock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The message's id.
    pub message: u64,
    /// The channel that the message waits for.
    pub channel: Channel,
}

impl Deadlock {
    /// Finds a cycle of waiting messages, starting from the undelivered message with the smallest
    /// id. `waits` returns the channel that a message is waiting for and the message that holds it.
    /// Messages are identified by their index in the engine.
    pub(crate) fn find(
        at: Time,
        undelivered: &[u32],
        channels: &Channels,
        id: impl Fn(u32) -> u64,
        waits: impl Fn(u32) -> (u32, u32),
    ) -> Deadlock {
        let start = undelivered.iter().min_by_key(|&&message| id(message));
        let mut trail = vec![*start.expect("a message is undelivered")];
        let first = loop {
            let (_, holder) = waits(trail[trail.len() - 1]);
            match trail.iter().position(|&seen| seen == holder) {
                Some(first) => break first,
                None => trail.push(holder),
            }
        };
        let mut waiting: Vec<Waiting> = trail[first..]
            .iter()
            .map(|&message| {
                let channel = channels.describe(ChannelId(waits(message).0));
                let channel = channel.expect("messages wait for channels that exist");
                Waiting { message: id(message), channel }
            })
            .collect();
        let smallest = (0..waiting.len()).min_by_key(|&index| waiting[index].message);
        waiting.rotate_left(smallest.expect("a cycle has a member"));
        Deadlock { grid: *channels.grid(), at, undelivered: undelivered.len(), waiting }
    }
}

impl fmt::Display for Deadlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Deadlock { grid, at, undelivered, waiting } = self;
        write!(
            f,
            "deadlock at cycle {at}: no message can move, and {undelivered} messages have not been \
             delivered"
        )?;
        for (index, wait) in waiting.iter().enumerate() {
            let holder = waiting[(index + 1) % waiting.len()].message;
            let separator = if index == 0 { ": " } else { "; " };
            write!(f, "{separator}message {} waits for {}", wait.message, wait.channel.name(grid))?;
            write!(f, ", held by message {holder}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Deadlock {}
