//! Tests of the behavior of the network crate, one topic per file.

mod agreement;
mod footprint;
mod layout;
mod maps;
mod metrics;
mod patterns;
mod recurrence;
mod traffic;
mod worked;
