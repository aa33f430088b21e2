//! Options of `pavior bench`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::RangedU64ValueParser;

use super::{FormatArgs, ParameterArgs, RequestParameters};

#[derive(Debug, Args)]
pub(crate) struct BenchArgs {
    /// The machine
    #[arg(long, short, default_value = "mesh:16x16")]
    pub(crate) machine: String,
    /// The strategies to compare, separated by commas; ratios are relative to the first one
    #[arg(long, short, default_value = "ff,tff,tbl,gabl,mbs")]
    pub(crate) strategy: String,
    /// Skips strategies that do not work on the machine, and lists them
    #[arg(long)]
    pub(crate) skip_unsupported: bool,
    /// The maximum fraction of busy nodes, such as 0.5 [default: none, which nearly saturates the
    /// machine]
    #[arg(long, allow_hyphen_values = true)]
    pub(crate) fill: Option<f64>,
    #[command(flatten)]
    pub(crate) requests: ParameterArgs<RequestParameters>,
    #[command(flatten)]
    pub(crate) rounds: RoundArgs,
    #[command(flatten)]
    pub(crate) results: TimeArgs,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Measurement")]
pub(crate) struct RoundArgs {
    /// The number of attempts per strategy
    #[arg(
        long,
        default_value_t = 10_000,
        value_parser = RangedU64ValueParser::<usize>::new().range(1..=1_000_000)
    )]
    pub(crate) attempts: usize,
    /// The number of unmeasured warm-up attempts [default: until all jobs present at the first
    /// departure have departed]
    #[arg(long, value_parser = RangedU64ValueParser::<u64>::new().range(0..=10_000_000))]
    pub(crate) warmup: Option<u64>,
    /// The number of rounds; each round runs every strategy in turn
    #[arg(
        long,
        default_value_t = 7,
        value_parser = RangedU64ValueParser::<usize>::new().range(1..=99)
    )]
    pub(crate) rounds: usize,
    /// The seed for all random numbers
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Results")]
pub(crate) struct TimeArgs {
    #[command(flatten)]
    pub(crate) output: FormatArgs,
    /// Draws a chart of the times, as SVG
    #[arg(long)]
    pub(crate) chart: Option<PathBuf>,
}
