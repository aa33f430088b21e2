//! The single writer, which decides commands, makes the decisions durable, and only then replies.
//!
//! Commands wait in a bounded queue. The writer decides all waiting commands one at a time, appends
//! their records in one durable write, and then sends the replies and notifies the watchers. More
//! commands accumulate during a write, so groups grow with the load.

mod handle;
mod lead;
mod outage;
mod recent;
mod recover;
mod snapshots;
mod thread;

pub use handle::{
    CallerCommand, ClockDoubt, CommandAnswer, RefusalInState, Unavailable, WriterHandle,
};
pub(crate) use recent::{Next, Recorded, weight};
pub(crate) use recover::{Cutoff, from_snapshot, state_at};
pub use recover::{RecoveryError, recover};
pub use thread::{Tuning, WriterParts, start};
