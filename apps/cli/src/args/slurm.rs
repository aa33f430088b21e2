//! The arguments of `pavior slurm`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::{OfReading, ParameterArgs};
use crate::output::Format;

#[derive(Debug, Args)]
pub(crate) struct SlurmArgs {
    /// The configuration, TOML: machine, nodes, partition, ... See docs/slurm.md
    #[arg(long, global = true)]
    pub(crate) config: Option<PathBuf>,
    /// Only says, in the log, what would be changed
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
    /// Says what is missing in a running cluster's configuration, with the line to add
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
        /// The job, such as 17 or 17_3
        job: String,
    },
    /// Finds what topology/torus3d of Slurm 26.05 refuses, ignores or never places in a
    /// topology.yaml; needs no --config
    Lint(Box<LintArgs>),
    /// Writes a topology.yaml of topology/torus3d for the machine and a mix of sizes
    Generate(Box<GenerateTopologyArgs>),
}

#[derive(Debug, Args)]
pub(crate) struct LintArgs {
    /// The topology.yaml
    pub(crate) file: PathBuf,
    /// The nodes of the partition, as Slurm lists them: n[00-63]; else nodes are not compared
    #[arg(long)]
    pub(crate) nodes: Option<String>,
    #[command(flatten)]
    pub(crate) mix: MixArgs,
    /// How to print [default: table on a terminal, else json]
    #[arg(long, value_enum)]
    pub(crate) format: Option<Format>,
}

/// What jobs ask for.
#[derive(Debug, Args)]
pub(crate) struct MixArgs {
    /// Sizes and shapes of jobs, with weights: 8,16:2,4x4x1:0.5
    #[arg(long, conflicts_with_all = ["mix_file", "log"])]
    pub(crate) mix: Option<String>,
    /// A file of them, with commas or line breaks between
    #[arg(long, value_name = "FILE", conflicts_with = "log")]
    pub(crate) mix_file: Option<PathBuf>,
    /// A log whose jobs are the mix (.swf, .sim, .json or .sacct, also .gz)
    #[arg(long)]
    pub(crate) log: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) read: ParameterArgs<OfReading>,
}

#[derive(Debug, Args)]
pub(crate) struct GenerateTopologyArgs {
    #[command(flatten)]
    pub(crate) mix: MixArgs,
    /// Where boxes may begin
    #[arg(long, value_enum, default_value_t = AnchorArg::Aligned)]
    pub(crate) anchors: AnchorArg,
    /// Allows boxes to be turned: each way is a placement
    #[arg(long)]
    pub(crate) turn: bool,
    /// The file to write [default: standard output]
    #[arg(long, short)]
    pub(crate) out: Option<PathBuf>,
}

/// Where boxes may begin.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum AnchorArg {
    /// Side by side, so that they leave the fewest nodes between them
    Aligned,
    /// At every node, so that one is found soonest
    Any,
}
