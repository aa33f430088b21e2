//! Places the Jobs of an unmodified Kubernetes cluster on boxes of nodes.
//!
//! ```text
//! API server --read--> World --plan--> actions --write with uid and version--> API server
//! ```
//!
//! A plan needs nothing but the world, so a new replica picks up where another left off.
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod client;
mod daemon;
mod health;
mod manifests;
mod objects;
mod page;
mod plan;
mod query;
mod read;
mod uninstall;
mod world;
mod write;

pub use client::KubeError;
pub use daemon::{Options, run};
pub use health::PROBES;
pub use manifests::{Manifests, question};
pub use page::ADDRESS;
pub use query::{Cluster, Entry, JobState, MachineSlots};
pub use uninstall::{Removal, remove};
