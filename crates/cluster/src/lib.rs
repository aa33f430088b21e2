//! Plans, explanations and a web page for a machine whose jobs are managed by another program, such
//! as Slurm or Kubernetes.
//!
//! A daemon reads its ledger and adds all running and waiting jobs to a [`Planner`]. The planner
//! chooses jobs to start, and an [`Explainer`] explains why the others are waiting. For a small
//! daemon, see `examples/folder`.
//!
//! After each read, the daemon publishes a [`View`] on a [`Board`], which sends the changes to open
//! pages. The board stores only the latest changes and the utilization history. Queries never
//! change anything.
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

/// Formats seconds since 1970 as a date, in UTC.
pub fn date(seconds: u64) -> String {
    pavior::time::Date(std::time::Duration::from_secs(seconds)).to_string()
}
