//! Options of `pavior advise`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{AdviceParameters, ParameterArgs, ThreadArgs};

#[derive(Debug, Args)]
pub(crate) struct AdviseArgs {
    /// The log: a .swf, .sim, .json or .sacct file (optionally .gz), or the output of
    /// `sacct --parsable2`
    pub(crate) log: PathBuf,
    #[command(flatten)]
    pub(crate) parameters: ParameterArgs<AdviceParameters>,
    /// The box to count, such as 4x4x4 [default: half the machine's side along each axis]
    #[arg(long, value_name = "SHAPE")]
    pub(crate) slots: Option<String>,
    #[command(flatten)]
    pub(crate) pool: ThreadArgs,
    /// Writes an HTML page
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// The output format [default: table on a terminal, otherwise json]
    #[arg(long, value_enum)]
    pub(crate) format: Option<AdviceFormat>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AdviceFormat {
    /// Sentences and aligned columns.
    Table,
    /// JSON.
    Json,
    /// Comma-separated values.
    Csv,
    /// An HTML page.
    Html,
}
