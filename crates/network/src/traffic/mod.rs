//! The messages that jobs send, and when they send them.
//!
//! - [`Layout`]: the node of each rank.
//! - [`Communication`]: a job's amount of communication.
//! - [`Sending`]: the limit on messages in flight.
//! - [`JobTraffic`]: creates messages as the network delivers earlier ones.
//!
//! ```text
//!   pattern --> Schedule --> OpenRounds --> sequential, Ranked or Streams --> engine
//!               all          which may      which are in flight                 |
//!               messages     go now                  ^------ deliveries --------+
//! ```
//!
//! Invariant: message lists are never stored. Memory is O(ranks) per job.

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

/// A job's amount of communication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Communication {
    /// A number of iterations of the job's pattern.
    Iterations(u64),
    /// A number of messages. A shorter pattern is repeated, and a longer one is cut off.
    Messages(u64),
}

/// The limit on messages in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sending {
    /// One message per job. Messages are sent in order of (round, rank), each after the delivery of
    /// the previous one.
    Sequential,
    /// One message per rank.
    Blocking,
    /// No limit. All messages that a rank may send are created at the same time, and queue at its
    /// injection channel.
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

/// The separation of rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rounds {
    /// A round (or, in multigrid, a level) starts when all earlier messages have been delivered.
    Barrier,
    /// Rounds are not separated: ranks continue to send without waiting for the messages that they
    /// receive.
    Free,
}
