//! Boxes of nodes for the Jobs of an unmodified Kubernetes.
//!
//! ```text
//! API server --watches--> World --plan--> acts --writes with uid and version--> API server
//! ```
//!
//! A plan is made of the world alone, so that a copy that starts anew goes on where another ended.

mod carry;
mod lease;
mod look;
mod objects;
mod plan;
mod removal;
mod run;
mod watch;
mod world;

use std::time::{SystemTime, UNIX_EPOCH};

pub use look::{Cluster, Entry, MachineSlots, State};
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
    /// No image has such a name.
    #[error("`{0}` is no name of an image")]
    Image(String),
    /// There is no Job of this name with a shape.
    #[error("{0} is no Job with the annotation pavior.dev/shape")]
    UnknownJob(String),
}

/// The objects that a cluster needs, as a text for `kubectl apply`: with the policy that adds gate
/// and resource to Jobs where the API server has such policies, and with two copies of the daemon
/// where an image of the program is named.
///
/// # Errors
/// If the image has characters that no image's name has.
pub fn manifests(mutating: bool, image: Option<&str>) -> Result<String, KubeError> {
    let mut parts = vec![
        include_str!("../manifests/crds.yaml").to_string(),
        include_str!("../manifests/access.yaml").to_string(),
        include_str!("../manifests/policies.yaml").to_string(),
    ];
    if mutating {
        parts.push(include_str!("../manifests/gate.yaml").to_string());
    }
    if let Some(image) = image {
        let right = |byte: u8| byte.is_ascii_alphanumeric() || b"./:@_-".contains(&byte);
        if image.is_empty() || image.len() > 512 || !image.bytes().all(right) {
            return Err(KubeError::Image(pavior_kernel::shown(image).to_string()));
        }
        parts.push(include_str!("../manifests/deployment.yaml").replace("IMAGE", image));
    }
    Ok(parts.join("---\n"))
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
        KubeError::Unreachable(pavior_kernel::shown(&error.to_string()).to_string())
    })
}

/// Seconds since 1970.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs() as i64)
}
