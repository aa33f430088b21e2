//! The `pavior` program, which allocates and simulates jobs on meshes and tori.
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

#[macro_use]
mod say;

mod args;
mod busy;
mod commands;
mod failure;
mod files;
mod harmless;
mod input;
mod json_lines;
mod located;
mod log_notes;
mod logs;
mod output;
mod pool;
mod progress;
mod queue;
mod run_directory;
mod settings;

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Command};
use failure::Failure;

fn main() -> ExitCode {
    let result = match Cli::try_parse() {
        Ok(cli) => {
            files::set_max_input(cli.max_input);
            dispatch(cli.command)
        }
        Err(error) if error.use_stderr() => {
            report_usage(&error);
            return ExitCode::from(2);
        }
        // Help and version texts count as results, so the command fails if they cannot be written,
        // for example because the disk is full.
        Err(help) => help.print().and_then(|()| std::io::stdout().flush()).map_err(Failure::from),
    };
    result.map_or_else(|failure| failure.report(), |()| ExitCode::SUCCESS)
}

/// The maximum length of a clap message that is printed as is, in color.
const MAX_USAGE_BYTES: usize = 2000;

/// Prints an error about the arguments. Clap quotes arguments verbatim, so this function escapes
/// hidden characters and truncates long text. It ignores errors from writing to standard error.
fn report_usage(error: &clap::Error) {
    let plain = error.render().to_string();
    // An argument quoted by clap may contain line breaks.
    let is_visible = |text: &str| pavior::text::cell(text) == text;
    let all_visible = plain.lines().all(is_visible)
        && std::env::args_os().all(|typed| is_visible(&typed.to_string_lossy()));
    if all_visible && plain.len() <= MAX_USAGE_BYTES {
        let _ = error.print();
    } else {
        eprintln!("{}", plain.trim_end());
    }
}

fn dispatch(command: Command) -> Result<(), Failure> {
    match command {
        Command::Strategies(args) => commands::registries::strategies(&args),
        Command::Schedulers(args) => commands::registries::schedulers(&args),
        Command::Patterns(args) => commands::registries::patterns(&args),
        Command::Metrics(args) => commands::registries::metrics(&args),
        Command::Allocate(args) => commands::allocate::run(&args),
        Command::Explain(args) => commands::explain::run(&args),
        Command::Unblock(args) => commands::unblock::run(&args),
        Command::Slots(args) => commands::slots::run(&args),
        Command::Forecast(args) => commands::forecast::run(&args),
        Command::Advise(args) => commands::advise::run(&args),
        #[cfg(feature = "slurm")]
        Command::Slurm(args) => commands::slurm::run(&args),
        #[cfg(not(feature = "slurm"))]
        Command::Slurm(_) => Err(Failure::not_built("pavior slurm", "slurm")),
        #[cfg(feature = "kube")]
        Command::Kube(args) => commands::kube::run(&args),
        #[cfg(not(feature = "kube"))]
        Command::Kube(_) => Err(Failure::not_built("pavior kube", "kube")),
        Command::Simulate(args) => commands::simulate::run(&args),
        Command::Bench(args) => commands::bench::run(&args),
        Command::Network(args) => commands::network::run(&args),
        Command::Experiment(args) => commands::experiment::run(&args),
        Command::Merge(args) => commands::merge::run(&args),
        Command::Sweep(args) => commands::sweep::run(&args),
        Command::Plot(args) => commands::plot::run(&args),
        Command::Reproduce(args) => commands::reproduce::run(&args),
        Command::Yardstick(args) => commands::yardstick::run(&args),
        Command::Trace(args) => commands::trace::run(&args),
        #[cfg(feature = "serve")]
        Command::Serve(args) => commands::serve::run(&args),
        #[cfg(not(feature = "serve"))]
        Command::Serve(_) => Err(Failure::not_built("pavior serve", "serve")),
        Command::Completions(args) => commands::manual::completions(&args),
        Command::Manual(args) => commands::manual::pages(&args),
    }
}
