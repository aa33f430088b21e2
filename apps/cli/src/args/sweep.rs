//! The command line of `sweep`: an experiment on another program's workers.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub(crate) struct SweepCommandArgs {
    #[command(subcommand)]
    pub(crate) command: SweepCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SweepCommand {
    /// Lists the replications that an experiment wants next, given what is known
    Wanted(WantedArgs),
    /// Runs some of them, and keeps what they come to in a directory of its own
    Run(SpansArgs),
}

#[derive(Debug, Args)]
pub(crate) struct WantedArgs {
    /// A directory with the experiment in experiment.toml
    pub(crate) directory: PathBuf,
    /// The parts that were run
    pub(crate) parts: Vec<PathBuf>,
    /// The most replications of a span
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) most: u64,
    /// Prints a JSON array of objects `{"point":0,"first":0,"last":4}`, which `run` takes
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SpansArgs {
    /// A directory with the experiment in experiment.toml
    pub(crate) directory: PathBuf,
    /// What is to be run, as `wanted --json` prints it; - is standard input
    #[arg(long)]
    pub(crate) spans: PathBuf,
    /// The directory of this part; one that was interrupted is gone on with
    #[arg(long)]
    pub(crate) out: PathBuf,
    /// Threads [default: one per core]
    #[arg(long)]
    pub(crate) threads: Option<usize>,
}
