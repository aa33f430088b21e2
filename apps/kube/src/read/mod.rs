//! Reads the cluster, either through lists or through watches that keep a world up to date.
#![allow(clippy::disallowed_methods, reason = "the clock paces plans and retries")]

mod backoff;
mod clock;
mod initial_list;
mod list;
mod machine_file;
mod tasks;
mod update;
mod watch;

pub(crate) use list::{ACTIVE_PODS, list, start_times};
pub(crate) use machine_file::read_machine;
pub(crate) use watch::ClusterWatch;
