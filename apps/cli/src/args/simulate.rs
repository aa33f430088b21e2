//! Options of `pavior simulate`.

use std::path::PathBuf;

use clap::Args;

use super::{FormatArgs, ParameterArgs, RunParameters, ThreadArgs};

#[derive(Debug, Args)]
pub(crate) struct SimulateArgs {
    #[command(flatten)]
    pub(crate) parameters: ParameterArgs<RunParameters>,
    #[command(flatten, next_help_heading = "Replications")]
    pub(crate) pool: ThreadArgs,
    #[command(flatten)]
    pub(crate) results: ResultArgs,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Results")]
pub(crate) struct ResultArgs {
    #[command(flatten)]
    pub(crate) output: FormatArgs,
    /// Omits the measured time per attempt
    #[arg(long)]
    pub(crate) no_timing: bool,
    /// Writes the jobs of replication 0 in Batsim's jobs.csv format; in the file name, {strategy},
    /// {scheduler} and {load} are replaced by each combination's values
    #[arg(long)]
    pub(crate) jobs_csv: Option<PathBuf>,
    /// Writes a summary of replication 0 in Batsim's schedule.json format; accepts the same
    /// placeholders as --jobs-csv
    #[arg(long)]
    pub(crate) schedule: Option<PathBuf>,
    /// Writes the schedule of replication 0 as a log in the Standard Workload Format; accepts the
    /// same placeholders as --jobs-csv
    #[arg(long)]
    pub(crate) swf: Option<PathBuf>,
    /// Writes the placements in replication 0 as JSON lines; accepts the same placeholders as
    /// --jobs-csv
    #[arg(long)]
    pub(crate) placements: Option<PathBuf>,
    /// If jobs send messages, writes the load on every channel in replication 0 as CSV; accepts the
    /// same placeholders as --jobs-csv
    #[arg(long)]
    pub(crate) channels: Option<PathBuf>,
    /// Draws the load on every channel, as SVG; accepts the same placeholders as --jobs-csv
    #[arg(long)]
    pub(crate) heatmap: Option<PathBuf>,
}
