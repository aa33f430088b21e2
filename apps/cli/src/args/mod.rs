//! The command line as parsed by clap. Names with options are stored here as text and parsed later
//! by the `input` module, so that error messages can underline the invalid part.

mod advise;
mod allocate;
mod bench;
mod common;
mod experiments;
mod explain;
mod forecast;
#[cfg(feature = "kube")]
mod kube;
mod messages;
mod parameter_sets;
mod parameters;
mod plot;
#[cfg(feature = "serve")]
mod serve;
mod simulate;
mod slots;
#[cfg(feature = "slurm")]
mod slurm;
mod sweep;
mod traces;
mod unblock;
mod yardstick;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

pub(crate) use advise::{AdviceFormat, AdviseArgs};
pub(crate) use allocate::AllocateArgs;
pub(crate) use bench::BenchArgs;
pub(crate) use common::{AskArgs, FormatArgs, ThreadArgs, Turning, budget, finite};
pub(crate) use experiments::{ExperimentArgs, MergeArgs, ReproduceArgs};
pub(crate) use explain::ExplainArgs;
pub(crate) use forecast::{ForecastArgs, StateArgs};
#[cfg(feature = "kube")]
pub(crate) use kube::{JobPath, KubeArgs, KubeCommand};
pub(crate) use messages::NetworkCommandArgs;
pub(crate) use parameter_sets::{
    AdviceParameters, ForecastParameters, LogParameters, MessageParameters, RequestParameters,
    RunParameters, StreamParameters,
};
pub(crate) use parameters::ParameterArgs;
pub(crate) use plot::PlotArgs;
#[cfg(feature = "serve")]
pub(crate) use serve::ServeArgs;
pub(crate) use simulate::{ResultArgs, SimulateArgs};
pub(crate) use slots::SlotsArgs;
#[cfg(feature = "slurm")]
pub(crate) use slurm::{SlurmArgs, SlurmCommand};
pub(crate) use sweep::{SpansArgs, SweepCommand, SweepCommandArgs, WantedArgs};
pub(crate) use traces::{ConvertArgs, GenerateArgs, InspectArgs, TraceArgs, TraceCommand};
pub(crate) use unblock::UnblockArgs;
pub(crate) use yardstick::YardstickArgs;

/// Allocate and simulate jobs on machines whose nodes form a mesh or a torus.
///
/// Machines are written mesh:16x16, torus:8x8x8 or grid:8wx4x4w (w marks the axes that wrap).
/// Strategies, schedulers and other names take options after colons: ff:turn=all. Results are
/// printed to standard output, as a table on a terminal and as JSON otherwise.
#[derive(Debug, Parser)]
#[command(name = "pavior", version, max_term_width = 100)]
pub(crate) struct Cli {
    /// The maximum size of an input in bytes, after decompression [default: 512 MiB]
    #[arg(long, global = true, value_name = "BYTES", hide_short_help = true)]
    pub(crate) max_input: Option<u64>,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Lists the strategies, which choose each job's nodes
    Strategies(FormatArgs),
    /// Lists the schedulers, which choose the next job
    Schedulers(FormatArgs),
    /// Lists the communication patterns for jobs
    Patterns(FormatArgs),
    /// Lists the metrics
    Metrics(FormatArgs),
    /// Runs a live allocator that reads requests and prints answers, one JSON object per line
    Allocate(AllocateArgs),
    /// Shows where each strategy would place a request, and explains refusals
    Explain(ExplainArgs),
    /// Plans which jobs to move to make room for a request, or lists those in the way
    Unblock(UnblockArgs),
    /// Counts how many boxes of a shape fit at the same time
    Slots(SlotsArgs),
    /// Forecasts, as intervals, when the jobs in a log or a queue will start
    Forecast(Box<ForecastArgs>),
    /// Compares alternative settings on the jobs in a log, and recommends changes
    Advise(Box<AdviseArgs>),
    /// Allocates boxes of nodes to jobs on a running Slurm cluster
    #[cfg(feature = "slurm")]
    Slurm(SlurmArgs),
    /// Allocates boxes to jobs on a Slurm cluster (not in this build: feature `slurm`)
    #[cfg(not(feature = "slurm"))]
    #[command(disable_help_flag = true)]
    Slurm(AnyArgs),
    /// Allocates boxes of nodes to Jobs on a running Kubernetes cluster
    #[cfg(feature = "kube")]
    Kube(KubeArgs),
    /// Allocates boxes to Jobs on a Kubernetes cluster (not in this build: feature `kube`)
    #[cfg(not(feature = "kube"))]
    #[command(disable_help_flag = true)]
    Kube(AnyArgs),
    /// Compares strategies and schedulers on a synthetic workload or a job log
    Simulate(Box<SimulateArgs>),
    /// Measures how long strategies take to allocate nodes
    Bench(BenchArgs),
    /// Simulates how the network delivers messages (JSON lines on standard input)
    Network(NetworkCommandArgs),
    /// Runs every combination in an experiment file, and draws its figures
    Experiment(ExperimentArgs),
    /// Merges the shards of an experiment
    Merge(MergeArgs),
    /// Lists and runs parts of an experiment, for use by programs that distribute the work
    /// themselves
    Sweep(SweepCommandArgs),
    /// Draws results, distributions, schedules and machines
    Plot(Box<PlotArgs>),
    /// Runs the experiments from papers, and checks the papers' statements
    Reproduce(ReproduceArgs),
    /// Compares strategies and schedulers against proven bounds on twenty sets of jobs
    Yardstick(YardstickArgs),
    /// Summarizes, converts and generates job logs
    Trace(TraceArgs),
    /// Serves durable node leases over HTTP
    #[cfg(feature = "serve")]
    Serve(Box<ServeArgs>),
    /// Serves leases over HTTP (not in this build: feature `serve`)
    #[cfg(not(feature = "serve"))]
    #[command(disable_help_flag = true)]
    Serve(AnyArgs),
    /// Prints shell completions
    Completions(CompletionsArgs),
    /// Prints the manual pages (man ./pavior.1 after `pavior manual > pavior.1`)
    Manual(ManualArgs),
}

/// The arguments of a command that this build lacks.
#[cfg(not(all(feature = "serve", feature = "slurm", feature = "kube")))]
#[derive(Debug, Args)]
pub(crate) struct AnyArgs {
    #[arg(hide = true, num_args = 0.., trailing_var_arg = true, allow_hyphen_values = true)]
    _any: Vec<std::ffi::OsString>,
}

#[derive(Debug, Args)]
pub(crate) struct ManualArgs {
    /// Writes one file per command into this directory instead of printing
    #[arg(long, value_name = "DIR")]
    pub(crate) into: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}
