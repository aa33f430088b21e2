//! Tests of users who forge the input of the daemon, which acts as root.

mod forged;
pub(crate) mod programs;
