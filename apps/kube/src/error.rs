//! Errors from the daemon and its commands.

use pavior::files::FileError;

/// An error that ends the daemon or a command.
#[derive(Debug, thiserror::Error)]
pub enum KubeError {
    /// The cluster cannot be reached with the configuration that was found.
    #[error("cannot reach the cluster: {0}")]
    Unreachable(String),
    /// The daemon cannot start or continue.
    #[error("cannot run: {0}")]
    Runtime(String),
    /// A request to the API server failed or was rejected.
    #[error("cannot {what}: {why}")]
    Refused {
        /// The request, such as `list pods`.
        what: String,
        /// The API server's reason, or the connection error.
        why: String,
    },
    /// An invalid Machine, or a shape that does not suit its axes or hosts.
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
    /// An invalid shape.
    #[error("the shape is not valid; use 1 to 3 sides, such as 4x4x2")]
    Shape,
    /// Every Machine is invalid or does not suit the shape. Contains the reason for each Machine.
    #[error("{}", join(.0))]
    Slots(Vec<KubeError>),
    /// An invalid image or resource name.
    #[error("`{0}` is not a valid image or resource name")]
    Name(String),
    /// An address that the daemon cannot listen on.
    #[error("cannot listen on {address}: {why}")]
    Address {
        /// The address.
        address: String,
        /// The reason for the error.
        why: String,
    },
    /// A file that cannot be read or does not contain a valid Machine.
    #[error(transparent)]
    File(#[from] FileError),
    /// A Job that does not exist or has no shape.
    #[error("Job {0} does not exist or has no pavior.dev/shape annotation")]
    UnknownJob(String),
}

fn join(errors: &[KubeError]) -> String {
    errors.iter().map(KubeError::to_string).collect::<Vec<_>>().join("; ")
}
