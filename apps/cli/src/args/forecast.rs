//! Options of `pavior forecast`.

use std::path::PathBuf;

use clap::Args;

use super::{OfForecasts, ParameterArgs};
use crate::output::Format;

#[derive(Debug, Args)]
pub(crate) struct ForecastArgs {
    /// The log (.swf, .sim, .json or .sacct, also .gz)
    pub(crate) log: PathBuf,
    #[command(flatten)]
    pub(crate) parameters: ParameterArgs<OfForecasts>,
    /// How many futures are run for each forecast
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) futures: u16,
    /// The most threads [default: one a core]
    #[arg(long)]
    pub(crate) threads: Option<usize>,
    /// Writes a line for each job, as CSV
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// How to print [default: table on a terminal, else json]
    #[arg(long, value_enum)]
    pub(crate) format: Option<Format>,
}
