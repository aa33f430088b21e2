//! Tests of the network crate's behavior, one topic per file.

mod agreement;
mod footprint;
mod layout;
mod maps;
mod metrics;
mod patterns;
mod recurrence;
mod traffic;
mod worked;
