//! The messages that jobs send, and the times when they send them.
//!
//! - [`Layout`]: the node of each rank.
//! - [`Communication`]: the total amount that a job sends.
//! - [`Sending`]: the number of messages in flight at the same time.
//! - [`JobTraffic`]: creates messages as the network delivers earlier ones.
//!
//! ```text
//!   pattern --> Schedule --> OpenRounds --> sequential, Ranked or Streams --> engine
//!               all          which may      which are in flight                 |
//!               messages     go now                  ^------ deliveries --------+
//! ```
//!
//! Invariant: lists of messages are never stored. Memory is O(ranks) per job.

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
    /// A number of iterations of the job's pattern.
    Iterations(u64),
    /// A number of messages. The pattern is repeated if it is shorter, and cut off if it is longer.
    Messages(u64),
}

/// The number of messages that may be in flight at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sending {
    /// One message per job. The messages are sent in order of (round, rank), each when the previous
    /// one has been delivered.
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

/// The separation of two rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rounds {
    /// A round (or, in multigrid, a level) starts when all earlier messages have been delivered.
    Barrier,
    /// Rounds are not separated: ranks continue to send without waiting for the messages that they
    /// receive.
    Free,
}
