//! The arguments of `pavior slurm`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub(crate) struct SlurmArgs {
    /// The configuration, TOML: machine, nodes, partition, ... See docs/slurm.md
    #[arg(long, global = true)]
    pub(crate) config: Option<PathBuf>,
    /// Only says, in the log, what one cycle would change, and ends
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Ends after one cycle
    #[arg(long)]
    pub(crate) once: bool,
    /// Changes nothing: shows any Slurm as it is, the page, `why` and metrics, at an address
    #[arg(
        long, value_name = "ADDRESS", num_args = 0..=1, require_equals = true,
        default_missing_value = pavior_slurm::ADDRESS, conflicts_with_all = ["dry_run", "once"]
    )]
    pub(crate) observe: Option<String>,
    #[command(subcommand)]
    pub(crate) command: Option<SlurmCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SlurmCommand {
    /// Says what is missing in a running cluster's configuration, with the line to write
    Check,
    /// Writes job_submit.lua, a systemd unit and the lines for slurm.conf
    Install {
        /// Where to; it is made if need be
        dir: PathBuf,
    },
    /// Gives Slurm its waiting jobs back: strips their gates, removes the licence's reservation,
    /// and says what is left by hand. End the daemon first
    Uninstall,
    /// Says what a job waits for, and which moves would help
    Why {
        /// The job, such as 17 or 17_3; of an array's number, the first task that waits
        job: String,
    },
}
