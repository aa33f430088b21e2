//! Options of `pavior yardstick`.

use std::path::PathBuf;

use clap::Args;

use super::{FormatArgs, ThreadArgs};

#[derive(Debug, Args)]
pub(crate) struct YardstickArgs {
    /// The directory that contains the logs; without it, scenarios that require logs are skipped
    #[arg(long, value_name = "FOLDER")]
    pub(crate) logs: Option<PathBuf>,
    /// The directory to write to, which must be empty or missing
    #[arg(long, default_value = "yardstick", value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// The strategies to compare, separated by commas [default: all]
    #[arg(long, short, value_delimiter = ',')]
    pub(crate) strategy: Vec<String>,
    /// Runs only the first 60 jobs of three scenarios, which takes seconds instead of minutes
    #[arg(long)]
    pub(crate) quick: bool,
    #[command(flatten)]
    pub(crate) pool: ThreadArgs,
    #[command(flatten)]
    pub(crate) output: FormatArgs,
}
