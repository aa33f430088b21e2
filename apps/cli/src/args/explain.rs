//! Options of `pavior explain`.

use std::path::PathBuf;

use clap::Args;

use super::{AskArgs, FormatArgs, finite};

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// The machine, such as mesh:8x8
    #[arg(long, short)]
    pub(crate) machine: String,
    /// The running jobs as JSON lines `{"job":7,"parts":[{"base":[0,0],"sides":[2,3]}]}`, in the
    /// order in which they were granted, and the failed nodes as `{"node":[1,1]}`; - means standard
    /// input
    #[arg(long)]
    pub(crate) busy: PathBuf,
    /// Uses only the jobs in --busy that are running at this time; useful with the output of
    /// `simulate --placements`
    #[arg(long, allow_negative_numbers = true, value_parser = finite)]
    pub(crate) at: Option<f64>,
    #[command(flatten)]
    pub(crate) ask: AskArgs,
    /// The freedom in placing the job: box, turned, any-box, connected or any
    /// [default: each strategy's own]
    #[arg(long)]
    pub(crate) freedom: Option<String>,
    /// The strategies to try, separated by commas [default: all that work on the machine]
    #[arg(long, short)]
    pub(crate) strategy: Option<String>,
    /// Skips strategies that do not work on the machine, and lists them
    #[arg(long, requires = "strategy")]
    pub(crate) skip_unsupported: bool,
    /// Draws the placement that each strategy chooses
    #[arg(long)]
    pub(crate) svg: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: FormatArgs,
}
