//! `pavior`: allocate and simulate jobs on meshes and tori.

mod args;
mod busy;
mod commands;
mod failure;
mod files;
mod input;
mod located;
mod logs;
mod output;
mod pool;
mod progress;
mod store;

use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Command};
use failure::Failure;

fn main() -> ExitCode {
    let cli = Cli::parse();
    match dispatch(cli.command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => fault.report(),
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
        Command::Slurm(args) => commands::slurm::run(&args),
        Command::Simulate(args) => commands::simulate::run(&args),
        Command::Bench(args) => commands::bench::run(&args),
        Command::Network(args) => commands::network::run(&args),
        Command::Experiment(args) => commands::experiment::run(&args),
        Command::Merge(args) => commands::experiment::merge(&args),
        Command::Plot(args) => commands::plot::run(&args),
        Command::Reproduce(args) => commands::reproduce::run(&args),
        Command::Trace(args) => commands::trace::run(&args),
        Command::Completions(args) => commands::manual::completions(&args),
        Command::Manual => commands::manual::page(),
    }
}
