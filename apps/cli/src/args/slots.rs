//! The arguments of `pavior slots`.

use std::path::PathBuf;

use clap::Args;

use super::{AskArgs, Turning};
use crate::output::Format;

#[derive(Debug, Args)]
pub(crate) struct SlotsArgs {
    /// The machine, such as mesh:8x8
    #[arg(long, short)]
    pub(crate) machine: String,
    /// Who holds what: JSON lines as for `pavior explain`; - is standard input [default: all nodes
    /// are free]
    #[arg(long)]
    pub(crate) busy: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) ask: AskArgs,
    /// Which boxes count: box, turned or any-box, whatever --turn says [default: the shape, turned
    /// if --turn allows it]
    #[arg(long)]
    pub(crate) freedom: Option<String>,
    /// What may be turned
    #[arg(long, value_enum, default_value = "all")]
    pub(crate) turn: Turning,
    /// Also how many there can be once at most so many jobs have moved, and which moves those are
    #[arg(long, value_name = "K", conflicts_with = "freedom")]
    pub(crate) moves: Option<usize>,
    /// How far to search, in words of bit sets looked at, before the best that was found is told
    /// with a bound
    #[arg(
        long,
        default_value_t = pavior::answers::SearchLimits::BUDGET,
        value_parser = clap::value_parser!(u64).range(..=1_000_000_000_000),
    )]
    pub(crate) budget: u64,
    /// Draws the machine with the boxes
    #[arg(long)]
    pub(crate) svg: Option<PathBuf>,
    /// How to print [default: table on a terminal, else json]
    #[arg(long, value_enum)]
    pub(crate) format: Option<Format>,
}
