//! Tests in which users forge input to the daemon, which runs as root.

mod forged;
pub(crate) mod programs;
