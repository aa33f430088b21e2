//! What can go wrong between the daemon and Slurm.

use std::io;

use thiserror::Error;

/// Why something with Slurm failed.
#[derive(Debug, Error)]
pub enum SlurmError {
    /// The configuration cannot be used; the text says where and why.
    #[error("{0}")]
    Config(String),
    /// Slurm is another one than the configuration says, or this user has no rights there.
    #[error("{0}")]
    Unfit(String),
    /// Slurm lacks something that only an administrator can add; the text names the line.
    #[error("{0}")]
    Missing(String),
    /// A command of Slurm cannot be started.
    #[error("cannot run {command}: {error}")]
    Command {
        /// Its name.
        command: &'static str,
        /// What the system says.
        error: io::Error,
    },
    /// A command of Slurm failed.
    #[error("{command} failed: {message}")]
    Failed {
        /// Its name.
        command: &'static str,
        /// What it says.
        message: String,
    },
    /// A command of Slurm printed something unexpected.
    #[error("{command} printed what cannot be read: {fault}")]
    Unreadable {
        /// Its name.
        command: &'static str,
        /// What is wrong with it; never text from it.
        fault: &'static str,
    },
    /// A command of Slurm did not end.
    #[error("{command} was ended: it gave no answer in {seconds} s")]
    Hung {
        /// Its name.
        command: &'static str,
        /// How long it was waited for.
        seconds: u64,
    },
    /// A command of Slurm printed without end.
    #[error("{command} was ended: it printed more than {mebibytes} MiB")]
    TooLong {
        /// Its name.
        command: &'static str,
        /// How much was read.
        mebibytes: u64,
    },
    /// There is no such job among the active ones of the partition. The text is harmless.
    #[error("job {0} is not an active job of the partition")]
    UnknownJob(String),
    /// A file cannot be read or written, or an address not be bound.
    #[error("{what}: {error}")]
    Io {
        /// Which.
        what: String,
        /// What the system says.
        error: io::Error,
    },
    /// No waiting job can be chosen.
    #[error(transparent)]
    Dispatch(#[from] pavior::scheduling::DispatchError),
}
