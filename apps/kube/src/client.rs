//! The API server connection, user-facing errors, the clock and the log.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use pavior::text::shown;
use serde_json::Value;

/// The time limit for establishing a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// The idle time after which a connection (including a watch) is closed.
const READ_TIMEOUT: Duration = Duration::from_secs(25);

/// An error that ends the daemon or a command.
#[derive(Debug, thiserror::Error)]
pub enum KubeError {
    /// The cluster cannot be reached with the configuration found.
    #[error("cannot reach the cluster: {0}")]
    Unreachable(String),
    /// The API server rejected a request.
    #[error("cannot {what}: {why}")]
    Refused {
        /// The request, such as `list pods`.
        what: String,
        /// The API server's reason.
        why: String,
    },
    /// A Machine is invalid, or no Machine can answer a query; contains the reason.
    #[error("{0}")]
    Machine(String),
    /// An invalid name of an image or resource.
    #[error("`{0}` is not a valid image or resource name")]
    Name(String),
    /// An address that the daemon cannot listen on.
    #[error("{address}: {why}")]
    Address {
        /// The address.
        address: String,
        /// The reason.
        why: String,
    },
    /// A file without a valid Machine.
    #[error("{}: {why}", path.display())]
    File {
        /// The file.
        path: std::path::PathBuf,
        /// The reason.
        why: String,
    },
    /// A Job that does not exist or has no shape.
    #[error("Job {0} does not exist or has no pavior.dev/shape annotation")]
    UnknownJob(String),
}

/// Creates the single-threaded runtime for all requests.
pub(crate) fn runtime() -> Result<tokio::runtime::Runtime, KubeError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| KubeError::Unreachable(error.to_string()))
}

/// Connects to the cluster given by the kubeconfig or the pod's service account.
pub(crate) async fn connect() -> Result<kube::Client, KubeError> {
    let mut config = kube::Config::infer().await.map_err(|_| {
        let why = "found no usable KUBECONFIG, ~/.kube/config or pod service account";
        KubeError::Unreachable(why.to_string())
    })?;
    config.connect_timeout = Some(CONNECT_TIMEOUT);
    config.read_timeout = Some(READ_TIMEOUT);
    kube::Client::try_from(config)
        .map_err(|error| KubeError::Unreachable(shown(&error.to_string()).to_string()))
}

/// Returns the time in seconds since 1970.
pub(crate) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs() as i64)
}

/// Converts the API server's signed time to the unsigned type of other crates.
pub(crate) fn unsigned(seconds: i64) -> u64 {
    seconds.max(0) as u64
}

/// Writes a log line with the current time.
pub(crate) fn log(level: &str, event: &str, more: Value) {
    pavior::json::log(unsigned(now()), level, event, more);
}
