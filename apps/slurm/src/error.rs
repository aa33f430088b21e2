//! Errors from the daemon and its commands.

use std::io;

use thiserror::Error;

/// An error from the daemon or one of its commands.
#[derive(Debug, Error)]
pub enum SlurmError {
    /// The configuration is invalid. The text contains the location and the reason.
    #[error("{0}")]
    Config(String),
    /// The cluster does not match the configuration, or the user lacks rights in it.
    #[error("{0}")]
    Unfit(String),
    /// slurm.conf lacks a line that only an administrator can add. The text contains the line.
    #[error("{0}")]
    Missing(String),
    /// A Slurm command cannot be started.
    #[error("cannot run {command}: {error}")]
    Command {
        /// The command.
        command: &'static str,
        /// The system's error.
        error: io::Error,
    },
    /// A Slurm command failed.
    #[error("{command} failed: {message}")]
    Failed {
        /// The command.
        command: &'static str,
        /// The text on its standard error.
        message: String,
    },
    /// A Slurm command printed output that cannot be parsed.
    #[error("the output of {command} cannot be parsed: {fault}")]
    Unreadable {
        /// The command.
        command: &'static str,
        /// The fault, which never contains text from the output.
        fault: &'static str,
    },
    /// A Slurm command exceeded its time limit.
    #[error("{command} did not answer within {seconds} s and was killed")]
    Hung {
        /// The command.
        command: &'static str,
        /// The time limit in seconds.
        seconds: u64,
    },
    /// A Slurm command exceeded its output limit.
    #[error("{command} printed more than {mebibytes} MiB and was killed")]
    TooLong {
        /// The command.
        command: &'static str,
        /// The output limit in MiB.
        mebibytes: u64,
    },
    /// The partition has no active job with this name. The name is safe to print.
    #[error("the partition has no active job {0}")]
    UnknownJob(String),
    /// A file cannot be read or written, or an address cannot be bound.
    #[error("{what}: {error}")]
    Io {
        /// The file or address.
        what: String,
        /// The system's error.
        error: io::Error,
    },
    /// The scheduler or strategy failed.
    #[error(transparent)]
    Dispatch(#[from] pavior::scheduling::DispatchError),
}
