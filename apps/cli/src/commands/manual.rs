//! Shell completions and manual pages, generated from the same definitions as the parser.

use std::io::{self, Write};

use clap::{Command, CommandFactory};

use crate::args::{Cli, CompletionsArgs, ManualArgs};
use crate::failure::Failure;

pub(crate) fn completions(args: &CompletionsArgs) -> Result<(), Failure> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "pavior", &mut text);
    Ok(io::stdout().lock().write_all(&text)?)
}

/// Writes one manual page per command to a directory, or prints all of them.
pub(crate) fn pages(args: &ManualArgs) -> Result<(), Failure> {
    match &args.into {
        Some(folder) => Ok(clap_mangen::generate_to(Cli::command(), folder)?),
        None => print_pages(),
    }
}

/// Prints the `pavior` manual page, followed by those of its commands and subcommands.
fn print_pages() -> Result<(), Failure> {
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    let mut text = Vec::new();
    render(&command, "pavior", &mut text)?;
    Ok(io::stdout().lock().write_all(&text)?)
}

fn render(command: &Command, name: &str, text: &mut Vec<u8>) -> io::Result<()> {
    clap_mangen::Man::new(command.clone().name(name.to_string())).render(text)?;
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
        render(sub, &format!("{name}-{}", sub.get_name()), text)?;
    }
    Ok(())
}
