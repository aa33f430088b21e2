//! Messages, and the events that engines report about them.

use pavior_kernel::Time;
use pavior_mesh::{Coordinates, Grid, NodeId};
use thiserror::Error;

/// A label that identifies a message to its owner. Engines pass it on without interpreting it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tag {
    /// The owner, for example the slot of a job.
    pub owner: u32,
    /// The rank that sends the message.
    pub rank: u32,
    /// The message's sequence number within its rank.
    pub sequence: u64,
}

/// A message to send through an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Message {
    /// A unique number that breaks ties between headers requesting a channel in the same cycle.
    pub id: u64,
    /// The source node.
    pub from: NodeId,
    /// The destination node, which may be the source.
    pub to: NodeId,
    /// The length in flits (at least 1), including the header.
    pub flits: u32,
    /// The cycle in which the message requests its injection channel.
    ///
    /// The cycle may be in the past if the message had to wait for another one from the same source
    /// before being passed to the engine (see `followed`).
    pub created: Time,
    /// True if the engine must report the cycle in which the header acquires its injection channel,
    /// so that the caller can create the next message from the same source.
    ///
    /// A thousand messages that are created at once then use only the memory of one, because each
    /// of them can move only after the previous one has acquired and released the channel.
    pub followed: bool,
    /// The owner's label for the message.
    pub tag: Tag,
}

impl Message {
    /// The latest creation time, 2^62, chosen so that the sum of two times cannot overflow.
    pub const LATEST: Time = Time::LATEST;

    /// Creates a message that has no owner and is not followed.
    pub fn new(id: u64, from: NodeId, to: NodeId, flits: u32, created: Time) -> Message {
        Message { id, from, to, flits, created, followed: false, tag: Tag::default() }
    }

    /// Creates a message between two nodes, given by their coordinates. Checks all arguments.
    ///
    /// # Errors
    /// Returns an error if a node is not on the machine, if there are no flits, or if the time is
    /// later than [`Message::LATEST`].
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

/// The reason why a message cannot be sent.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BadMessage {
    /// A node is not on the machine.
    #[error("node {} is outside {grid}", show(*.point, .grid))]
    Outside {
        /// The node.
        point: Coordinates,
        /// The machine.
        grid: Grid,
    },
    /// The message has no flits.
    #[error("a message must have at least 1 flit, its header")]
    NoFlits,
    /// The time is after the last supported cycle.
    #[error("cycle {0} is later than 2^62, the latest supported cycle")]
    TooLate(Time),
}

/// Formats coordinates, one per axis of the machine.
pub(crate) fn show(point: Coordinates, grid: &Grid) -> String {
    let parts: Vec<String> = point[..grid.axes()].iter().map(u16::to_string).collect();
    format!("[{}]", parts.join(","))
}

/// A message that has been delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// The message's id.
    pub id: u64,
    /// The source.
    pub from: NodeId,
    /// The destination.
    pub to: NodeId,
    /// The length in flits.
    pub flits: u32,
    /// The number of links that the message crossed.
    pub hops: u32,
    /// The cycle in which the message was created.
    pub created: Time,
    /// The cycle in which the destination consumed the message's tail.
    pub delivered: Time,
    /// The owner's label for the message.
    pub tag: Tag,
}

impl Delivery {
    /// Returns the number of cycles from creation to delivery.
    pub fn latency(&self) -> u64 {
        self.delivered.0 - self.created.0
    }

    /// Returns the number of cycles lost to contention: the message's latency minus its latency on
    /// an empty network.
    pub fn blocked(&self, routing_delay: u32) -> u64 {
        self.latency() - crate::zero_load_latency(self.hops, self.flits, routing_delay)
    }
}

/// A `followed` message whose header has acquired its injection channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entered {
    /// The message's id.
    pub id: u64,
    /// The owner's label for the message.
    pub tag: Tag,
}

/// Followed messages that entered in the previous cycle, and deliveries in the open cycle, each
/// sorted by id.
#[derive(Clone, Debug, Default)]
pub struct NetworkEvents {
    /// Messages delivered in the open cycle.
    pub deliveries: Vec<Delivery>,
    /// Followed messages that entered the network in the previous cycle.
    pub entered: Vec<Entered>,
}

impl NetworkEvents {
    /// Returns true if there are no events.
    pub fn is_empty(&self) -> bool {
        self.deliveries.is_empty() && self.entered.is_empty()
    }

    /// Removes all events, keeping the allocated memory.
    pub fn clear(&mut self) {
        self.deliveries.clear();
        self.entered.clear();
    }

    pub(crate) fn sort(&mut self) {
        self.deliveries.sort_unstable_by_key(|delivery| delivery.id);
        self.entered.sort_unstable_by_key(|entered| entered.id);
    }
}
