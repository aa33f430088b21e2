//! Options of `pavior unblock`.

use std::path::PathBuf;

use clap::Args;
use pavior::answers::SearchLimits;

use super::{AskArgs, FormatArgs, Turning, budget, finite};

#[derive(Debug, Args)]
pub(crate) struct UnblockArgs {
    /// The machine, such as mesh:8x8
    #[arg(long, short)]
    pub(crate) machine: String,
    /// The running jobs: JSON lines as for `pavior explain`, with optional "start" and "end"; -
    /// means standard input
    #[arg(long)]
    pub(crate) busy: PathBuf,
    #[command(flatten)]
    pub(crate) ask: AskArgs,
    /// The freedom in placing the request: box, turned or any-box; overrides --turn; cannot be
    /// combined with --blockers, --earliest, --nearest or --drain [default: the requested box,
    /// rotated if --turn allows it]
    #[arg(long, conflicts_with = "question")]
    pub(crate) freedom: Option<String>,
    /// The maximum number of jobs to move
    #[arg(long, default_value_t = 3, conflicts_with_all = ["blockers", "earliest", "nearest"])]
    pub(crate) max_jobs: usize,
    /// The cost of disturbing each job: JSON lines `{"job":7,"weight":2.5}` [default: the job's
    /// size]
    #[arg(long, conflicts_with_all = ["earliest", "nearest"])]
    pub(crate) weights: Option<PathBuf>,
    /// Finds only the least blocked place and the jobs that occupy it
    #[arg(long, group = "question")]
    pub(crate) blockers: bool,
    /// Finds only the earliest time and place for the request, assuming that jobs end as stated
    #[arg(long, group = "question")]
    pub(crate) earliest: bool,
    /// Lists only the free boxes most similar to the request, up to this many
    #[arg(long, group = "question", value_name = "COUNT")]
    pub(crate) nearest: Option<usize>,
    /// Plans moves that empty the given node, such as 1,2; can be repeated
    #[arg(long, group = "question", value_name = "NODE", conflicts_with_all = ["shape", "nodes"])]
    pub(crate) drain: Vec<String>,
    /// Makes room by this time; jobs whose "end" is at or before this time need not move
    #[arg(
        long,
        value_name = "TIME",
        allow_negative_numbers = true,
        value_parser = finite,
        conflicts_with_all = ["blockers", "earliest", "nearest", "weights", "svg"],
    )]
    pub(crate) by: Option<f64>,
    /// The current time. If given, jobs with a "start" may also be requeued, each at a cost of its
    /// node count times the time since its start
    #[arg(long, value_name = "TIME", value_parser = finite, requires = "by")]
    #[arg(allow_negative_numbers = true)]
    pub(crate) now: Option<f64>,
    /// The boxes that may be rotated
    #[arg(long, value_enum, default_value = "all")]
    pub(crate) turn: Turning,
    /// The search budget: the maximum number of bit-set words to process. If it runs out, the
    /// answer is not proven
    #[arg(
        long,
        default_value_t = SearchLimits::BUDGET,
        value_parser = budget(),
        conflicts_with_all = ["blockers", "earliest", "nearest"],
    )]
    pub(crate) budget: u64,
    /// Draws the machine before and after the moves
    #[arg(long)]
    pub(crate) svg: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: FormatArgs,
}
