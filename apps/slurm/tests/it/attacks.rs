//! Tests of users who forge input of the daemon, which acts as root.

mod forged;
pub(crate) mod programs;
