//! Options of `pavior sweep`, which runs an experiment on another program's workers.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::ThreadArgs;

#[derive(Debug, Args)]
pub(crate) struct SweepCommandArgs {
    #[command(subcommand)]
    pub(crate) command: SweepCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SweepCommand {
    /// Lists the replications that an experiment still needs
    Wanted(WantedArgs),
    /// Runs the given replications, and stores the results in a separate directory
    Run(SpansArgs),
}

#[derive(Debug, Args)]
pub(crate) struct WantedArgs {
    /// A directory with the experiment in experiment.toml
    pub(crate) directory: PathBuf,
    /// The directories of the parts that have already been run
    pub(crate) parts: Vec<PathBuf>,
    /// The maximum number of replications per span
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) most: u64,
    /// Prints a JSON array of objects `{"point":0,"first":0,"last":4}`, as input for `run`
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SpansArgs {
    /// A directory with the experiment in experiment.toml
    pub(crate) directory: PathBuf,
    /// The spans to run, as printed by `wanted --json`; - means standard input
    #[arg(long)]
    pub(crate) spans: PathBuf,
    /// The directory for this part; an interrupted run is resumed
    #[arg(long)]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) pool: ThreadArgs,
}
