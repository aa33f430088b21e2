//! Options of `pavior slurm`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub(crate) struct SlurmArgs {
    /// The configuration file (TOML); see docs/slurm.md
    #[arg(long, global = true)]
    pub(crate) config: Option<PathBuf>,
    /// Logs the changes that one cycle would make, without making them, and exits
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Exits after one cycle
    #[arg(long)]
    pub(crate) once: bool,
    /// Serves the page, `why` and metrics for any Slurm cluster, without changing the cluster
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
    /// Lists the settings that a running cluster lacks, with the lines to add
    Check,
    /// Writes job_submit.lua, a systemd unit and the lines for slurm.conf
    Install {
        /// The directory to write to, created if missing
        dir: PathBuf,
    },
    /// Returns waiting jobs to Slurm: removes their gates and the license reservation, and lists
    /// the remaining manual steps. Stop the daemon first
    Uninstall,
    /// Explains why a job is waiting, when and where it will start, and which moves of jobs would
    /// help
    Why {
        /// The job, such as 17 or 17_3; a job array's number stands for its first waiting task
        job: String,
    },
}
