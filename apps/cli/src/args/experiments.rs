//! Options of `pavior experiment`, `merge` and `reproduce`.

use std::path::PathBuf;

use clap::Args;
use pavior::experiments::directory::Resume;

use super::{FormatArgs, ThreadArgs};

#[derive(Debug, Args)]
pub(crate) struct ExperimentArgs {
    /// The experiment file (TOML); see docs/experiments.md
    #[arg(required_unless_present = "schema")]
    pub(crate) file: Option<PathBuf>,
    /// The directory for the results [default: the file name with -results appended]
    #[arg(long)]
    pub(crate) out: Option<PathBuf>,
    /// Runs only one shard of the points; 1/4 is the first of four
    #[arg(long, value_name = "I/N")]
    pub(crate) shard: Option<String>,
    /// Skips and lists strategies, schedulers, freedoms and patterns that do not apply to a machine
    /// or workload; same as `skip-unsupported = true` in the file
    #[arg(long)]
    pub(crate) skip_unsupported: bool,
    #[command(flatten)]
    pub(crate) sweep: SweepArgs,
    /// Prints the JSON schema for experiment files
    #[arg(long, conflicts_with_all = ["file", "out", "shard", "resume"])]
    pub(crate) schema: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SweepArgs {
    /// Continues an earlier run in the same directory
    #[arg(long)]
    pub(crate) resume: bool,
    /// With --resume, drops damaged lines and reruns their replications
    #[arg(long, requires = "resume")]
    pub(crate) discard_damaged: bool,
    #[command(flatten)]
    pub(crate) pool: ThreadArgs,
    #[command(flatten)]
    pub(crate) output: FormatArgs,
}

impl SweepArgs {
    pub(crate) fn resume_options(&self) -> Resume {
        Resume { resume: self.resume, discard_damaged: self.discard_damaged }
    }
}

#[derive(Debug, Args)]
pub(crate) struct MergeArgs {
    /// The directories that contain the shards
    #[arg(required = true)]
    pub(crate) shards: Vec<PathBuf>,
    /// The directory for the merged results
    #[arg(long)]
    pub(crate) out: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct ReproduceArgs {
    /// A paper (tbl, gabl, nas or mfa), `all` for all papers, a study of this project (contiguity,
    /// contiguity-first for its first part, slices or forecasts), or the directory of your own
    /// paper
    pub(crate) paper: String,
    /// The directory for the results [default: reproduction-PAPER, or
    /// reproduction-PAPER-alternatives with --alternatives]
    #[arg(long)]
    pub(crate) out: Option<PathBuf>,
    /// Uses fewer loads and fewer runs per point
    #[arg(long)]
    pub(crate) quick: bool,
    /// Runs and ranks alternative interpretations of details that the paper leaves open
    #[arg(long)]
    pub(crate) alternatives: bool,
    /// The directory that contains the experiment's job logs [default: the current directory]
    #[arg(long)]
    pub(crate) logs: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) sweep: SweepArgs,
}
