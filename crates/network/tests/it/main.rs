//! The behaviour of the network crate, one file each.

mod agreement;
mod footprint;
mod layout;
mod maps;
mod metrics;
mod patterns;
mod recurrence;
mod traffic;
mod worked;
