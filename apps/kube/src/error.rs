//! Errors from the daemon and its commands.

use std::path::PathBuf;

/// An error that ends the daemon or a command.
#[derive(Debug, thiserror::Error)]
pub enum KubeError {
    /// The cluster cannot be reached with the configuration that was found.
    #[error("cannot reach the cluster: {0}")]
    Unreachable(String),
    /// The daemon cannot start or continue.
    #[error("cannot run: {0}")]
    Runtime(String),
    /// The API server rejected a request.
    #[error("cannot {what}: {why}")]
    Refused {
        /// The request, such as `list pods`.
        what: String,
        /// The API server's reason.
        why: String,
    },
    /// An invalid Machine.
    #[error("Machine {name}: {why}")]
    Machine {
        /// The name of the Machine.
        name: String,
        /// The reason for the error.
        why: String,
    },
    /// The cluster has no Machine.
    #[error("the cluster has no Machine")]
    NoMachine,
    /// No Machine has boxes of the requested shape. The text contains each Machine's reason.
    #[error("{0}")]
    Shape(String),
    /// A forecast failed.
    #[error("cannot compute a forecast: {0}")]
    Forecast(String),
    /// An invalid image or resource name.
    #[error("`{0}` is not a valid image or resource name")]
    Name(String),
    /// An address that the daemon cannot listen on.
    #[error("{address}: {why}")]
    Address {
        /// The address.
        address: String,
        /// The reason for the error.
        why: String,
    },
    /// A file that does not contain a valid Machine.
    #[error("{}: {why}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The reason for the error.
        why: String,
    },
    /// A Job that does not exist or has no shape.
    #[error("Job {0} does not exist or has no pavior.dev/shape annotation")]
    UnknownJob(String),
}
