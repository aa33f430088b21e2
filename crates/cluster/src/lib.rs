//! Plans, explanations and a page for a machine whose jobs are managed by another program, such as
//! Slurm or Kubernetes.
//!
//! A daemon reads its ledger, and adds the jobs that hold nodes and the waiting jobs to a
//! [`Planner`]. The planner chooses the jobs that start, and an [`Explainer`] explains why the
//! others are waiting. The package's `examples` folder contains a small daemon.
//!
//! Each time a daemon has read its ledger, it publishes a [`View`] on a [`Board`]. The board sends
//! the changes to pages. Questions never change anything. The board stores only the latest changes
//! and the utilization history.
#![cfg_attr(not(test), deny(clippy::disallowed_macros, clippy::disallowed_methods))]

mod board;
mod boxes;
mod explanation;
mod hosts;
pub mod http;
mod joined;
pub mod metrics;
mod planner;
mod probes;
mod series;
mod site;
mod view;

pub use board::Board;
pub use boxes::gives_boxes;
pub use explanation::{Context, Explainer, nearest_free};
pub use hosts::for_hosts;
pub use planner::{ENDLESS_S, Planner};
pub use probes::probes;
pub use site::site;
pub use view::{Asked, Find, Holding, MOVED, View, WaitingJob};

/// Formats seconds since 1970 as a date, in UTC.
pub fn date(seconds: u64) -> String {
    pavior::time::Date(std::time::Duration::from_secs(seconds)).to_string()
}
