//! Options of `pavior slots`.

use std::path::PathBuf;

use clap::Args;
use pavior::answers::SearchLimits;

use super::{AskArgs, FormatArgs, Turning, budget};

#[derive(Debug, Args)]
pub(crate) struct SlotsArgs {
    /// The machine, such as mesh:8x8
    #[arg(long, short)]
    pub(crate) machine: String,
    /// The running jobs: JSON lines as for `pavior explain`; - means standard input
    /// [default: all nodes are free]
    #[arg(long)]
    pub(crate) busy: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) ask: AskArgs,
    /// The boxes to count: box, turned or any-box; overrides --turn [default: the requested shape,
    /// rotated if --turn allows it]
    #[arg(long)]
    pub(crate) freedom: Option<String>,
    /// The boxes that may be rotated
    #[arg(long, value_enum, default_value = "all")]
    pub(crate) turn: Turning,
    /// Also plans to move up to this many jobs to make room for more boxes
    #[arg(long, value_name = "K", conflicts_with = "freedom")]
    pub(crate) moves: Option<usize>,
    /// The search budget: the maximum number of bit-set words to process. If it runs out, the best
    /// result so far is printed with a bound
    #[arg(long, default_value_t = SearchLimits::BUDGET, value_parser = budget())]
    pub(crate) budget: u64,
    /// Draws the machine and the boxes
    #[arg(long)]
    pub(crate) svg: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: FormatArgs,
}
