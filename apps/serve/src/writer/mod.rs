//! The one writer: it decides, records, makes durable, and only then replies.
//!
//! Commands wait in a bounded queue. The writer takes as many as there are, decides one after the
//! other, appends all their records by one durable write, and then sends the replies and tells the
//! watchers. While a write is under way the next commands gather: the group grows with the load.

mod handle;
mod lead;
mod queue;
mod recent;
mod recover;
mod thread;

pub use handle::{ClockDoubt, CommandAnswer, Do, RefusalInState, Unavailable, WriterHandle};
pub(crate) use recent::{Next, Recorded, weight};
pub(crate) use recover::{Cutoff, from_snapshot, look_back};
pub use recover::{RecoveryError, recover};
pub use thread::{Tuning, start};
