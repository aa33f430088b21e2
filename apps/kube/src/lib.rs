//! Boxes of nodes for the Jobs of an unmodified Kubernetes.
//!
//! ```text
//! API server --watches--> World --plan--> acts --writes with uid and version--> API server
//! ```
//!
//! A plan is made of the world alone, so that a copy that starts anew goes on where another ended.

mod carry;
mod clock;
mod foresight;
mod health;
mod lease;
mod look;
mod manifests;
mod metrics;
mod objects;
mod observe;
mod page;
mod plan;
mod quota;
mod removal;
mod run;
mod show;
mod unit;
mod watch;
mod world;

use std::time::{SystemTime, UNIX_EPOCH};

pub use health::PROBES;
pub use look::{Cluster, Entry, MachineSlots, State};
pub use manifests::Manifests;
pub use page::ADDRESS;
pub use removal::{Removal, remove};
pub use run::{Options, run};

/// Why the program, or a question, comes to no end.
#[derive(Debug, thiserror::Error)]
pub enum KubeError {
    /// The cluster cannot be reached by what the surroundings say.
    #[error("the cluster cannot be reached: {0}")]
    Unreachable(String),
    /// The API server refuses.
    #[error("cannot {what}: {why}")]
    Refused {
        /// What was asked, such as `list pods`.
        what: String,
        /// What it said.
        why: String,
    },
    /// A machine's description cannot be used.
    #[error("machine {0}")]
    Machine(String),
    /// No image, or no resource, has such a name.
    #[error("`{0}` is no name of an image or a resource")]
    Name(String),
    /// The page's address cannot be had.
    #[error("{address}: {why}")]
    Address {
        /// Where it was to be served.
        address: String,
        /// Why it is not.
        why: String,
    },
    /// A file has no Machine.
    #[error("{}: {why}", path.display())]
    File {
        /// The file.
        path: std::path::PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// There is no Job of this name with a shape.
    #[error("{0} is no Job with the annotation pavior.dev/shape")]
    UnknownJob(String),
}

/// What requests are made on: one thread.
fn runtime() -> Result<tokio::runtime::Runtime, KubeError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| KubeError::Unreachable(error.to_string()))
}

/// The cluster that the surroundings name.
async fn client() -> Result<kube::Client, KubeError> {
    let client = kube::Client::try_default().await;
    if let Err(kube::Error::InferConfig(_)) = client {
        let why = "neither KUBECONFIG, ~/.kube/config nor the account of a pod can be read";
        return Err(KubeError::Unreachable(why.to_string()));
    }
    client.map_err(|error| {
        KubeError::Unreachable(pavior::text::shown(&error.to_string()).to_string())
    })
}

/// Seconds since 1970.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs() as i64)
}
