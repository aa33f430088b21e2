//! Options of `pavior forecast`.

use std::path::PathBuf;

use clap::Args;

use super::{ForecastParameters, FormatArgs, ParameterArgs, ThreadArgs, finite};

#[derive(Debug, Args)]
pub(crate) struct ForecastArgs {
    /// The log (.swf, .sim, .json or .sacct, optionally .gz)
    #[arg(required_unless_present = "queue", conflicts_with = "queue")]
    pub(crate) log: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) state: StateArgs,
    #[command(flatten)]
    pub(crate) parameters: ParameterArgs<ForecastParameters>,
    /// The number of simulated futures per forecast
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) futures: u16,
    #[command(flatten)]
    pub(crate) pool: ThreadArgs,
    /// Writes a CSV file with one line per job in the log
    #[arg(long, short, value_name = "FILE", conflicts_with = "queue")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: FormatArgs,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Current state (instead of a log)")]
pub(crate) struct StateArgs {
    /// The waiting jobs: JSON lines `{"job":8,"shape":[4,4],"estimate":3600}` in queue order; -
    /// means standard input
    #[arg(long)]
    pub(crate) queue: Option<PathBuf>,
    /// The running jobs: JSON lines as for `pavior explain`, with "start" and "end" in seconds; -
    /// means standard input [default: all nodes are free]
    #[arg(long, requires = "queue")]
    pub(crate) busy: Option<PathBuf>,
    /// The current time, in seconds on the same clock as "start" and "end"
    #[arg(long, value_name = "SECONDS", value_parser = finite, default_value_t = 0.0)]
    #[arg(requires = "queue", allow_negative_numbers = true)]
    pub(crate) now: f64,
    /// A log of past jobs on this machine, used to predict run times and later arrivals
    #[arg(long, value_name = "LOG", requires = "queue")]
    pub(crate) past: Option<PathBuf>,
}
