//! From jobs to messages.
//!
//! - [`Layout`]: which rank runs on which node.
//! - [`Communication`]: which messages a job sends in all.
//! - [`Sending`]: how many of them are in flight at once.
//! - [`JobTraffic`]: hands them out as the network delivers them.
//!
//! ```text
//!   pattern --> Schedule --> OpenRounds --> sequential, Ranked or Streams --> engine
//!               all          which may      which are in flight                 |
//!               messages     go now                  ^------ deliveries --------+
//! ```
//!
//! Invariant: no list of messages is ever kept; memory is O(ranks) a job.

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

/// How much a job communicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Communication {
    /// So many iterations of its pattern.
    Iterations(u64),
    /// So many messages; the pattern repeats if it is shorter, and is cut off if it is longer.
    Messages(u64),
}

/// How many messages are in flight at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sending {
    /// One of the job: the messages go in the order of (round, rank), each when the one before is
    /// delivered.
    Sequential,
    /// One of every rank.
    Blocking,
    /// As many as may be sent: all of a rank's messages are created at once, and queue at its
    /// injection channel.
    Pipelined,
}

impl Sending {
    /// Sequential for a number of messages, blocking for iterations.
    pub fn default_for(service: Communication) -> Sending {
        match service {
            Communication::Iterations(_) => Sending::Blocking,
            Communication::Messages(_) => Sending::Sequential,
        }
    }
}

/// What lies between two rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rounds {
    /// A round (of a multigrid: a level) starts when everything before it has been delivered.
    Barrier,
    /// Nothing: ranks send on without waiting for what they receive.
    Free,
}
