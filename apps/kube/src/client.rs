//! The asynchronous runtime and the connection to the API server.

use std::time::Duration;

use pavior::text::shown;

use crate::error::KubeError;

/// The time limit for establishing a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// The idle time after which a connection, including a watch, is closed.
const READ_TIMEOUT: Duration = Duration::from_secs(25);

/// Creates the single-threaded runtime that handles all requests.
pub(crate) fn runtime() -> Result<tokio::runtime::Runtime, KubeError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| KubeError::Runtime(error.to_string()))
}

/// Connects to the cluster specified by the kubeconfig or the pod's service account.
pub(crate) async fn connect() -> Result<kube::Client, KubeError> {
    let mut config = kube::Config::infer().await.map_err(|_| {
        let why = "no usable KUBECONFIG, ~/.kube/config or pod service account found";
        KubeError::Unreachable(why.to_string())
    })?;
    config.connect_timeout = Some(CONNECT_TIMEOUT);
    config.read_timeout = Some(READ_TIMEOUT);
    kube::Client::try_from(config)
        .map_err(|error| KubeError::Unreachable(shown(&error.to_string()).to_string()))
}
