//! Shell completions and the manual page, from the same definitions as the parser.

use std::io::{self, Write};

use clap::CommandFactory;

use crate::args::{Cli, CompletionsArgs, ManualArgs};
use crate::failure::Failure;

pub(crate) fn completions(args: &CompletionsArgs) -> Result<(), Failure> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "pavior", &mut text);
    Ok(io::stdout().lock().write_all(&text)?)
}

/// Writes one manual page per command to a folder, or prints all of them.
pub(crate) fn pages(args: &ManualArgs) -> Result<(), Failure> {
    match &args.into {
        Some(folder) => Ok(clap_mangen::generate_to(Cli::command(), folder)?),
        None => print(),
    }
}

/// Prints the manual page of `pavior`, followed by those of its commands.
fn print() -> Result<(), Failure> {
    let mut text = Vec::new();
    let command = Cli::command();
    clap_mangen::Man::new(command.clone()).render(&mut text)?;
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
        let name = format!("pavior-{}", sub.get_name());
        let sub = sub.clone().name(name.clone()).bin_name(name.replace('-', " "));
        clap_mangen::Man::new(sub).render(&mut text)?;
    }
    Ok(io::stdout().lock().write_all(&text)?)
}
