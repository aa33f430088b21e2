//! Messages, and what an engine reports about them.

use pavior_kernel::Time;
use pavior_mesh::{Coordinates, Grid, NodeId};
use thiserror::Error;

/// Whose message it is. Engines carry it and never look at it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tag {
    /// The owner, for instance the slot of a job.
    pub owner: u32,
    /// The sending rank.
    pub rank: u32,
    /// Which of the rank's messages.
    pub sequence: u64,
}

/// A message, as it is handed to an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Message {
    /// Breaks ties between headers that request a channel in the same cycle; unique.
    pub id: u64,
    /// The source.
    pub from: NodeId,
    /// The destination; the source itself is allowed.
    pub to: NodeId,
    /// Its length in flits, header included, at least 1.
    pub flits: u32,
    /// The cycle at which it requests its injection channel.
    ///
    /// It may lie in the past for a message that has been waiting behind another one of the same
    /// source all along and is only now written down (see `followed`).
    pub created: Time,
    /// Whether the engine is to report the cycle in which the header takes its injection channel,
    /// because the next message of the source then has to be handed over.
    ///
    /// This is how a thousand messages that are created at once need memory for one: the one
    /// behind cannot move before the channel is released, which is later than it is taken.
    pub followed: bool,
    /// Whose it is.
    pub tag: Tag,
}

impl Message {
    /// The latest time of creation, 2^62: later sums cannot overflow.
    pub const LATEST: Time = Time::LATEST;

    /// A message without owner or followers.
    pub fn new(id: u64, from: NodeId, to: NodeId, flits: u32, created: Time) -> Message {
        Message { id, from, to, flits, created, followed: false, tag: Tag::default() }
    }

    /// A message between two nodes given by coordinates, checked.
    ///
    /// # Errors
    /// If a node lies outside the machine, there are no flits, or the time is absurd.
    pub fn between(
        grid: &Grid,
        id: u64,
        [from, to]: [Coordinates; 2],
        flits: u32,
        created: Time,
    ) -> Result<Message, BadMessage> {
        for point in [from, to] {
            if !grid.contains(point) {
                return Err(BadMessage::Outside { point, grid: *grid });
            }
        }
        if flits == 0 {
            return Err(BadMessage::NoFlits);
        }
        if created > Self::LATEST {
            return Err(BadMessage::TooLate(created));
        }
        Ok(Message::new(id, grid.id(from), grid.id(to), flits, created))
    }
}

/// Why a message cannot be sent.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BadMessage {
    /// A node that the machine does not have.
    #[error("node {} lies outside {grid}", show(*.point, .grid))]
    Outside {
        /// The node.
        point: Coordinates,
        /// The machine.
        grid: Grid,
    },
    /// A message of no flits.
    #[error("a message has at least 1 flit, its header")]
    NoFlits,
    /// A time that leaves no room for later ones.
    #[error("cycle {0} is later than 2^62, the latest that is supported")]
    TooLate(Time),
}

/// Coordinates, as many as the machine has axes.
pub(crate) fn show(point: Coordinates, grid: &Grid) -> String {
    let parts: Vec<String> = point[..grid.axes()].iter().map(u16::to_string).collect();
    format!("[{}]", parts.join(","))
}

/// A message that has arrived whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// The message's id.
    pub id: u64,
    /// Its source.
    pub from: NodeId,
    /// Its destination.
    pub to: NodeId,
    /// Its length in flits.
    pub flits: u32,
    /// The links that it crossed.
    pub hops: u32,
    /// When it was created.
    pub created: Time,
    /// The cycle at which its tail was consumed.
    pub delivered: Time,
    /// Whose it is.
    pub tag: Tag,
}

impl Delivery {
    /// Cycles from creation to delivery.
    pub fn latency(&self) -> u64 {
        self.delivered.0 - self.created.0
    }

    /// Cycles lost to other messages: the latency over that of an empty network.
    pub fn blocked(&self, routing_delay: u32) -> u64 {
        self.latency() - crate::zero_load_latency(self.hops, self.flits, routing_delay)
    }
}

/// A `followed` message whose header has taken its injection channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entered {
    /// The message's id.
    pub id: u64,
    /// Whose it is.
    pub tag: Tag,
}

/// What happened up to and including the deliveries of the open cycle; each list in order of id.
#[derive(Clone, Debug, Default)]
pub struct NetworkEvents {
    /// Messages delivered in the open cycle.
    pub deliveries: Vec<Delivery>,
    /// Followed messages that entered the network in the cycle before.
    pub entered: Vec<Entered>,
}

impl NetworkEvents {
    /// Whether nothing happened.
    pub fn is_empty(&self) -> bool {
        self.deliveries.is_empty() && self.entered.is_empty()
    }

    /// Forgets everything, keeping the memory.
    pub fn clear(&mut self) {
        self.deliveries.clear();
        self.entered.clear();
    }

    pub(crate) fn sort(&mut self) {
        self.deliveries.sort_unstable_by_key(|delivery| delivery.id);
        self.entered.sort_unstable_by_key(|entered| entered.id);
    }
}
