//! Users who forge what the daemon reads: it acts as root.

mod forged;
pub(crate) mod programs;
