//! Errors of the daemon and its commands.

use std::io;

use thiserror::Error;

/// An error of the daemon or of a command.
#[derive(Debug, Error)]
pub enum SlurmError {
    /// The configuration is invalid. The text contains the position and the reason.
    #[error("{0}")]
    Config(String),
    /// The Slurm cluster does not match the configuration, or the user lacks rights in the cluster.
    #[error("{0}")]
    Unfit(String),
    /// The Slurm configuration lacks a line that only an administrator can add. The text contains
    /// the line.
    #[error("{0}")]
    Missing(String),
    /// A Slurm command cannot be started.
    #[error("cannot run {command}: {error}")]
    Command {
        /// The name.
        command: &'static str,
        /// The system's error.
        error: io::Error,
    },
    /// A Slurm command failed.
    #[error("{command} failed: {message}")]
    Failed {
        /// The name.
        command: &'static str,
        /// The message.
        message: String,
    },
    /// A Slurm command printed output that cannot be parsed.
    #[error("the output of {command} cannot be parsed: {fault}")]
    Unreadable {
        /// The name.
        command: &'static str,
        /// The fault, which never contains text from the output.
        fault: &'static str,
    },
    /// A Slurm command exceeded its time limit.
    #[error("{command} did not answer within {seconds} s and was killed")]
    Hung {
        /// The name.
        command: &'static str,
        /// The time limit.
        seconds: u64,
    },
    /// A Slurm command exceeded its output limit.
    #[error("{command} printed more than {mebibytes} MiB and was killed")]
    TooLong {
        /// The name.
        command: &'static str,
        /// The output limit.
        mebibytes: u64,
    },
    /// The partition has no active job with this name. The name is safe to print.
    #[error("job {0} is not an active job of the partition")]
    UnknownJob(String),
    /// A file cannot be read or written, or an address cannot be bound.
    #[error("{what}: {error}")]
    Io {
        /// The file or address.
        what: String,
        /// The system's error.
        error: io::Error,
    },
    /// No waiting job can be chosen.
    #[error(transparent)]
    Dispatch(#[from] pavior::scheduling::DispatchError),
}
