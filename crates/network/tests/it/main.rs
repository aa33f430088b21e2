//! The behaviour of the network crate, one file each.

mod agreement;
mod recurrence;
mod worked;
