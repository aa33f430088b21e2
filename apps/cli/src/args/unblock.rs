//! The arguments of `pavior unblock`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::AskArgs;
use crate::output::Format;

/// What may be turned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Turning {
    /// The request and every moved job.
    All,
    /// Nothing.
    None,
}

#[derive(Debug, Args)]
pub(crate) struct UnblockArgs {
    /// The machine, such as mesh:8x8
    #[arg(long, short)]
    pub(crate) machine: String,
    /// Who holds what: JSON lines as for `pavior explain`, with an optional "end" and "start"; - is
    /// standard input
    #[arg(long)]
    pub(crate) busy: PathBuf,
    #[command(flatten)]
    pub(crate) ask: AskArgs,
    /// How free the request is to be placed: box, turned or any-box, whatever --turn says; for the
    /// plain question only [default: its box, turned if --turn allows it]
    #[arg(long, conflicts_with = "question")]
    pub(crate) freedom: Option<String>,
    /// The most jobs that are moved
    #[arg(long, default_value_t = 3, conflicts_with_all = ["blockers", "earliest", "nearest"])]
    pub(crate) max_jobs: usize,
    /// What it costs to disturb a job: JSON lines `{"job":7,"weight":2.5}` [default: its nodes]
    #[arg(long, conflicts_with_all = ["earliest", "nearest"])]
    pub(crate) weights: Option<PathBuf>,
    /// Only says which place is blocked least, and by whom
    #[arg(long, group = "question")]
    pub(crate) blockers: bool,
    /// Only says when and where the request fits if the jobs end as they say
    #[arg(long, group = "question")]
    pub(crate) earliest: bool,
    /// Only lists so many of the nearest boxes that are free
    #[arg(long, group = "question", value_name = "COUNT")]
    pub(crate) nearest: Option<usize>,
    /// Plans how a node such as 1,2 is emptied; may be given several times
    #[arg(long, group = "question", value_name = "NODE", conflicts_with_all = ["shape", "nodes"])]
    pub(crate) drain: Vec<String>,
    /// Plans for this time: jobs whose "end" is not later need not move
    #[arg(
        long,
        value_name = "TIME",
        value_parser = finite,
        conflicts_with_all = ["blockers", "earliest", "nearest", "weights", "svg"],
    )]
    pub(crate) by: Option<f64>,
    /// Lets jobs that have a "start" be requeued, too: each loses its nodes times the time since
    /// then
    #[arg(long, value_name = "TIME", value_parser = finite, requires = "by")]
    pub(crate) now: Option<f64>,
    /// What may be turned
    #[arg(long, value_enum, default_value = "all")]
    pub(crate) turn: Turning,
    /// How far to search, in words of bit sets looked at, before giving up unproven
    #[arg(
        long,
        default_value_t = pavior::answers::SearchLimits::BUDGET,
        value_parser = clap::value_parser!(u64).range(..=1_000_000_000_000),
        conflicts_with_all = ["blockers", "earliest", "nearest"],
    )]
    pub(crate) budget: u64,
    /// Draws the machine before and after the moves
    #[arg(long)]
    pub(crate) svg: Option<PathBuf>,
    /// How to print [default: table on a terminal, else json]
    #[arg(long, value_enum)]
    pub(crate) format: Option<Format>,
}

/// A time: any number but infinity.
pub(crate) fn finite(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite());
    number.ok_or_else(|| "this is not a number".to_string())
}
