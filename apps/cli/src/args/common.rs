//! Options that several commands share.

use clap::builder::RangedU64ValueParser;
use clap::{Args, ValueEnum};

use crate::output::Format;

#[derive(Debug, Args)]
pub(crate) struct FormatArgs {
    /// The output format [default: table on a terminal, otherwise json]
    #[arg(long, value_enum)]
    format: Option<Format>,
}

impl FormatArgs {
    pub(crate) fn format(&self) -> Format {
        self.format.unwrap_or_else(Format::default_here)
    }
}

#[derive(Debug, Args)]
pub(crate) struct ThreadArgs {
    /// The number of threads; affects only measured times [default: one per core]
    #[arg(long)]
    pub(crate) threads: Option<usize>,
}

/// An unparsed request. [`crate::input::request`] parses it.
#[derive(Debug, Args)]
pub(crate) struct AskArgs {
    /// The requested box, such as 3x2
    #[arg(long, conflicts_with = "nodes")]
    pub(crate) shape: Option<String>,
    /// The requested number of nodes, for which the shape rule chooses a box
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) nodes: Option<u32>,
    /// The rule that turns a number of nodes into a box
    #[arg(long, default_value = "compact", conflicts_with = "shape")]
    pub(crate) shape_rule: String,
    /// The seed for strategies and shape rules with random choices
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
}

/// The boxes that may be rotated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Turning {
    /// The request and every moved job.
    All,
    /// No box.
    None,
}

/// Parses a search budget.
pub(crate) fn budget() -> RangedU64ValueParser {
    RangedU64ValueParser::new().range(..=1_000_000_000_000)
}

/// Parses a finite number.
pub(crate) fn finite(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite());
    number.ok_or_else(|| "expected a finite number".to_string())
}
