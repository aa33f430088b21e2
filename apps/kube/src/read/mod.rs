//! Reads the cluster, either with lists or with watches that keep a world up to date.
#![allow(clippy::disallowed_methods, reason = "the clock limits how often plans and retries occur")]

mod backoff;
mod clock;
mod initial_list;
mod list;
mod tasks;
mod watch;

pub(crate) use list::{LIVING, all, start_times};
pub(crate) use watch::ClusterWatch;
