//! Errors from the daemon and its commands.

use std::io;
use std::path::Path;

use thiserror::Error;

/// An error from the daemon or one of its commands.
#[derive(Debug, Error)]
pub enum SlurmError {
    /// The configuration is invalid. The text gives the location and the reason.
    #[error("{0}")]
    Config(String),
    /// Another daemon is active, or someone has edited a file that the command would replace.
    #[error("{0}")]
    Conflict(String),
    /// The cluster does not match the configuration, or the user lacks required permissions.
    #[error("{0}")]
    Unfit(String),
    /// slurm.conf lacks a line that only an administrator can add. The text includes that line.
    #[error("{0}")]
    Missing(String),
    /// A Slurm command failed.
    #[error("{command} {fault}")]
    Call {
        /// The name of the command.
        command: &'static str,
        /// The cause of the failure.
        fault: CallFault,
    },
    /// The partition has no active job with this name. The name is safe to print.
    #[error("the partition has no active job {0}")]
    UnknownJob(String),
    /// A file cannot be read or written.
    #[error(transparent)]
    File(#[from] pavior::files::FileError),
    /// A directory, lock, address or another resource is unavailable.
    #[error("{subject}: {error}")]
    Io {
        /// The path, address or resource.
        subject: String,
        /// The operating system's error.
        error: io::Error,
    },
    /// The scheduler or strategy failed.
    #[error(transparent)]
    Dispatch(#[from] pavior::scheduling::DispatchError),
    /// The strategy or scheduler cannot be built, or start times cannot be predicted.
    #[error("{0}")]
    Planner(String),
}

impl SlurmError {
    /// Creates an error that names a path.
    pub(crate) fn of_path(path: &Path, error: io::Error) -> SlurmError {
        SlurmError::Io { subject: pavior::files::shown(path), error }
    }
}

/// The cause of a Slurm command's failure.
#[derive(Debug, Error)]
pub enum CallFault {
    /// The command cannot be started.
    #[error("cannot be run: {0}")]
    NotStarted(io::Error),
    /// The command failed and printed this text on standard error.
    #[error("failed: {0}")]
    Failed(String),
    /// The output cannot be parsed. The reason does not quote the output.
    #[error("printed output that cannot be parsed: {0}")]
    Malformed(&'static str),
    /// The command exceeded its time limit.
    #[error("did not respond within {seconds} s and was killed")]
    Timeout {
        /// The time limit in seconds.
        seconds: u64,
    },
    /// The command exceeded its output limit.
    #[error("printed more than {mebibytes} MiB and was killed")]
    TooMuchOutput {
        /// The output limit in MiB.
        mebibytes: u64,
    },
}
