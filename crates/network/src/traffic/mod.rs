//! The messages that jobs send, and the time of each.
//!
//! - [`Layout`]: the node of each rank.
//! - [`Communication`]: the total messages that a job sends.
//! - [`Sending`]: the number of messages in flight at once.
//! - [`JobTraffic`]: the creation of messages as the network delivers earlier ones.
//!
//! ```text
//!   pattern --> Schedule --> OpenRounds --> sequential, Ranked or Streams --> engine
//!               all          which may      which are in flight                 |
//!               messages     go now                  ^------ deliveries --------+
//! ```
//!
//! Invariant: no list of messages is ever stored. Memory is O(ranks) per job.

mod job;
mod layout;
mod open_rounds;
mod pattern_layouts;
mod pattern_map;
mod rank_order;
mod ranked;
mod schedule;
mod streams;

pub use job::{JobTraffic, TrafficPlan};
pub use layout::Layout;
pub use pattern_layouts::PatternLayouts;
pub use rank_order::RankOrder;

/// The amount of a job's communication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Communication {
    /// A number of iterations of its pattern.
    Iterations(u64),
    /// A number of messages. The pattern repeats if it is shorter, and is cut off if it is longer.
    Messages(u64),
}

/// The number of messages in flight at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sending {
    /// One per job. The messages are sent in the order of (round, rank), each when the one before
    /// is delivered.
    Sequential,
    /// One per rank.
    Blocking,
    /// All that may be sent. All messages of a rank are created at once, and queue at its injection
    /// channel.
    Pipelined,
}

impl Sending {
    /// Returns sequential sending for a number of messages, and blocking for iterations.
    pub fn default_for(service: Communication) -> Sending {
        match service {
            Communication::Iterations(_) => Sending::Blocking,
            Communication::Messages(_) => Sending::Sequential,
        }
    }
}

/// The separation of two rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rounds {
    /// A round (a level in multigrid) starts when everything before it has been delivered.
    Barrier,
    /// No separation: ranks continue to send without waiting for messages that they receive.
    Free,
}
