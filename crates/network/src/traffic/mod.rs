//! The messages that jobs send, and the rules for sending them.
//!
//! - [`Layout`] assigns a node to each rank.
//! - [`Communication`] is the number of iterations or messages in a job.
//! - [`Sending`] limits the messages in flight.
//! - [`JobTraffic`] creates messages as the network delivers earlier ones.
//!
//! ```text
//!   pattern --> Schedule --> OpenRounds --> sequential, Ranked or Streams --> engine
//!               all          which may      which are in flight                 |
//!               messages     go now                  ^------ deliveries --------+
//! ```
//!
//! Invariant: messages are never stored in lists, so memory use is O(ranks) per job.

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

/// The amount of communication in a job, as a number of iterations or messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Communication {
    /// A number of iterations of the job's pattern.
    Iterations(u64),
    /// A number of messages. The pattern is repeated or truncated to produce this number.
    Messages(u64),
}

/// The limit on messages in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sending {
    /// One message at a time per job. Messages are sent in order of round and then rank, each after
    /// the previous one has been delivered.
    Sequential,
    /// One message per rank.
    Blocking,
    /// No limit on messages in flight. Each rank creates its messages as soon as it may send them,
    /// and the messages queue at its injection channel.
    Pipelined,
}

impl Sending {
    /// Returns `Sequential` for a given number of messages and `Blocking` for iterations.
    pub fn default_for(service: Communication) -> Sending {
        match service {
            Communication::Iterations(_) => Sending::Blocking,
            Communication::Messages(_) => Sending::Sequential,
        }
    }
}

/// The rule for starting rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rounds {
    /// Each round (in multigrid, each level) starts once all earlier messages are delivered.
    Barrier,
    /// Rounds are not synchronized. Ranks keep sending regardless of the messages they receive.
    Free,
}
