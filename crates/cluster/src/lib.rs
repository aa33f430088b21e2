//! Planning, explanations and a web page for machines whose jobs are managed by another program,
//! such as Slurm or Kubernetes.
//!
//! A daemon reads its ledger and adds every running and waiting job to a [`Planner`], which chooses
//! the jobs to start. An [`Explainer`] then explains why the remaining jobs are waiting. See
//! `examples/folder` for a small but complete daemon.
//!
//! After reading its ledger, the daemon publishes a [`View`] on a [`Board`], which sends the
//! changes to open pages. The board stores only the utilization history and the latest changes. All
//! queries are read-only.
#![cfg_attr(not(test), deny(clippy::disallowed_macros, clippy::disallowed_methods))]

mod board;
mod boxes;
mod events;
mod explanation;
mod host_check;
pub mod http;
mod joined;
pub mod metrics;
mod page_state;
mod planner;
mod probes;
mod series;
mod site;
mod view;

pub use board::Board;
pub use boxes::grants_exact_boxes;
pub use explanation::{Context, Explainer, nearest_free};
pub use host_check::for_hosts;
pub use planner::{NO_LIMIT_S, Planner};
pub use probes::probes;
pub use site::site;
pub use view::{ExplainQuery, FindJob, Holding, MAX_MOVES, View, WaitingJob};

/// Formats a time, given in seconds since 1970, as a UTC date.
pub fn date(seconds: u64) -> String {
    pavior::time::Date(std::time::Duration::from_secs(seconds)).to_string()
}
