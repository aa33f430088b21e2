//! Options of `pavior network`.

use clap::Args;

use super::{MessageParameters, ParameterArgs};
use crate::output::Format;

#[derive(Debug, Args)]
pub(crate) struct NetworkCommandArgs {
    /// The machine
    #[arg(long, short)]
    pub(crate) machine: String,
    #[command(flatten)]
    pub(crate) network: ParameterArgs<MessageParameters>,
    /// The output format [default: json, one line per message]
    #[arg(long, value_enum)]
    pub(crate) format: Option<Format>,
}
