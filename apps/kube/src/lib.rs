//! Places Jobs in an unmodified Kubernetes cluster on boxes of nodes.
//!
//! ```text
//! API server --read--> World --plan--> actions --write with uid and version--> API server
//! ```
//!
//! A plan depends only on the cluster state, so a new replica can continue where another left off.
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod client;
mod daemon;
mod error;
mod health;
mod log;
mod manifests;
mod metrics;
mod objects;
mod page;
mod plan;
mod query;
mod read;
mod time;
mod uninstall;
mod world;
mod write;

pub use daemon::{Mode, Options, run};
pub use error::KubeError;
pub use health::PROBES;
pub use manifests::{Manifests, confirmation};
pub use page::ADDRESS;
pub use query::{Cluster, ClusterSlots, Entry, JobState, MachineSlots};
pub use uninstall::{GatedPods, Removal, uninstall};
