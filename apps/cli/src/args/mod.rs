//! The command line, as clap reads it. Names with options stay text here; `input` reads them, so
//! that faults can be underlined in what was typed.

mod bench;
mod experiments;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::output::Format;

mod messages;
mod traces;

pub(crate) use bench::BenchArgs;
pub(crate) use experiments::{ExperimentArgs, MergeArgs, PlotArgs, ReproduceArgs, SweepArgs};
pub(crate) use messages::{
    Engine, MessageArgs, NetworkArgs, NetworkCommandArgs, Ranks, Release, Rounds, Sending,
    VirtualChannels,
};
pub(crate) use traces::{ConvertArgs, GenerateArgs, InspectArgs, TraceArgs, TraceCommand};

/// Allocate and simulate jobs on machines whose nodes form a mesh or a torus.
///
/// Machines are written mesh:16x16, torus:8x8x8 or grid:8wx4x4w (w marks the axes that wrap).
/// Strategies, schedulers and other names take options behind colons: ff:turn=all.
/// Results go to standard output; a table on a terminal, JSON elsewhere.
#[derive(Debug, Parser)]
#[command(name = "pavior", version, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Lists the strategies: which nodes a job gets
    Strategies(ListArgs),
    /// Lists the schedulers: which job goes next
    Schedulers(ListArgs),
    /// Lists the patterns: what jobs say to each other
    Patterns(ListArgs),
    /// Lists the metrics
    Metrics(ListArgs),
    /// A live allocator: one JSON object a line in, one answer a line out
    Allocate(AllocateArgs),
    /// What each strategy would do in a state, and why a request is refused
    Explain(ExplainArgs),
    /// Compares strategies and schedulers on a synthetic workload or a job log
    Simulate(Box<SimulateArgs>),
    /// Measures how long an allocation takes, strategy by strategy
    Bench(BenchArgs),
    /// Sends a list of messages, JSON lines on standard input, through the network
    Network(NetworkCommandArgs),
    /// Runs every combination that a file describes, and draws its figures
    Experiment(ExperimentArgs),
    /// Joins the parts of an experiment that was run in shards
    Merge(MergeArgs),
    /// Draws results, distributions, schedules and machines
    Plot(Box<PlotArgs>),
    /// Runs the experiments of the papers, and judges what they state
    Reproduce(ReproduceArgs),
    /// Looks into job logs, converts and generates them
    Trace(TraceArgs),
    /// Prints completions for a shell
    Completions(CompletionsArgs),
    /// Prints the manual pages (man ./pavior.1 after `pavior manual > pavior.1`)
    Manual,
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// How to print [default: table on a terminal, else json]
    #[arg(long, value_enum)]
    pub(crate) format: Option<Format>,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(crate) struct AllocateArgs {
    /// The machine, such as mesh:16x16 or torus:8x8x8
    #[arg(long, short)]
    pub(crate) machine: String,
    /// The strategy; see `pavior strategies`
    #[arg(long, short)]
    pub(crate) strategy: String,
    /// How a number of nodes becomes a box
    #[arg(long, default_value = "compact")]
    pub(crate) shape_rule: String,
    /// The seed of random strategies
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// The machine, such as mesh:8x8
    #[arg(long, short)]
    pub(crate) machine: String,
    /// Who holds what: JSON lines `{"job":7,"parts":[{"base":[0,0],"sides":[2,3]}]}` in the order of
    /// the grants, and `{"node":[1,1]}` for failed nodes; - is standard input
    #[arg(long)]
    pub(crate) busy: PathBuf,
    /// The box that is asked for, such as 3x2
    #[arg(long, required_unless_present = "nodes", conflicts_with = "nodes")]
    pub(crate) shape: Option<String>,
    /// The number of nodes that is asked for; the shape rule makes it a box
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) nodes: Option<u32>,
    /// The strategies to ask, separated by commas [default: all that work on the machine]
    #[arg(long, short)]
    pub(crate) strategy: Option<String>,
    /// How a number of nodes becomes a box
    #[arg(long, default_value = "compact")]
    pub(crate) shape_rule: String,
    /// The seed of random strategies
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Draws what each strategy would do
    #[arg(long)]
    pub(crate) svg: Option<PathBuf>,
    /// How to print [default: table on a terminal, else json]
    #[arg(long, value_enum)]
    pub(crate) format: Option<Format>,
}

#[derive(Debug, Args)]
pub(crate) struct SimulateArgs {
    /// The machine
    #[arg(long, short, default_value = "mesh:16x16")]
    pub(crate) machine: String,
    /// The strategies to compare, separated by commas
    #[arg(long, short, default_value = "ff,tff,tbl,gabl,mbs")]
    pub(crate) strategy: String,
    /// The schedulers to compare, separated by commas
    #[arg(long, default_value = "fcfs")]
    pub(crate) scheduler: String,
    #[command(flatten)]
    pub(crate) synthetic: SyntheticArgs,
    #[command(flatten)]
    pub(crate) messages: MessageArgs,
    #[command(flatten)]
    pub(crate) log: LogArgs,
    #[command(flatten)]
    pub(crate) failures: FailureArgs,
    #[command(flatten)]
    pub(crate) runs: RunArgs,
    #[command(flatten)]
    pub(crate) results: ResultArgs,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Synthetic workload")]
pub(crate) struct SyntheticArgs {
    /// The distribution of request sides [default: uniform]
    #[arg(long)]
    pub(crate) sides: Option<String>,
    #[command(flatten)]
    pub(crate) stream: StreamArgs,
    /// Completed jobs that end a run [default: 1000]
    #[arg(long)]
    pub(crate) jobs: Option<u64>,
}

/// When jobs come and what they do.
#[derive(Debug, Args)]
pub(crate) struct StreamArgs {
    /// Loads to compare: arrivals per unit of time, separated by commas [default: 1.5]
    #[arg(long, allow_hyphen_values = true)]
    pub(crate) load: Option<String>,
    /// What jobs do while they hold their nodes [default: exponential:1]
    #[arg(long)]
    pub(crate) service: Option<String>,
    /// When jobs arrive [default: exponential]
    #[arg(long)]
    pub(crate) arrivals: Option<String>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Failures of nodes")]
pub(crate) struct FailureArgs {
    /// The mean time to failure of a node, exponential
    #[arg(long, requires = "mttr", allow_hyphen_values = true)]
    pub(crate) mttf: Option<f64>,
    /// The mean time to its repair, exponential
    #[arg(long, requires = "mttf", allow_hyphen_values = true)]
    pub(crate) mttr: Option<f64>,
    /// A list of failures and repairs: JSON lines `{"op":"fail","node":[1,1],"at":60}`
    #[arg(long, conflicts_with = "mttf")]
    pub(crate) failures: Option<PathBuf>,
    /// Interrupted jobs go on from the last multiple of this run time [default: from scratch]
    #[arg(long, allow_hyphen_values = true)]
    pub(crate) checkpoint: Option<f64>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Job log")]
pub(crate) struct LogArgs {
    /// A job log (.swf, .sim or .json, also .gz), replayed to the last departure
    #[arg(long)]
    pub(crate) trace: Option<PathBuf>,
    /// How a number of nodes becomes a box [default: compact]
    #[arg(long)]
    pub(crate) shape_rule: Option<String>,
    /// Multiplies the times between arrivals [default: 1]
    #[arg(long, allow_hyphen_values = true)]
    pub(crate) arrival_scale: Option<f64>,
    /// What schedulers are told of run times: log, exact or factor:2 [default: log]
    #[arg(long)]
    pub(crate) estimates: Option<String>,
    /// Cuts runs at their estimates
    #[arg(long)]
    pub(crate) kill: bool,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Replications")]
pub(crate) struct RunArgs {
    /// The seed of all random numbers
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Independent replications [default: 10; 1 for a log]
    #[arg(long, conflicts_with = "precision")]
    pub(crate) replications: Option<u64>,
    /// Replicates until the confidence intervals of turnaround and utilization are within this
    /// share of the mean, such as 0.05
    #[arg(long, allow_hyphen_values = true)]
    pub(crate) precision: Option<f64>,
    /// The confidence level of --precision
    #[arg(long, default_value_t = 0.95, allow_hyphen_values = true)]
    pub(crate) confidence: f64,
    /// The most replications of --precision
    #[arg(long, default_value_t = 200)]
    pub(crate) max_replications: u64,
    /// Completions to drop before averages start
    #[arg(long, default_value_t = 0)]
    pub(crate) warmup: u64,
    /// Threads; results do not depend on it [default: one per core]
    #[arg(long)]
    pub(crate) threads: Option<usize>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Results")]
pub(crate) struct ResultArgs {
    /// How to print [default: table on a terminal, else json]
    #[arg(long, value_enum)]
    pub(crate) format: Option<Format>,
    /// Metrics to show; +NAME adds one to the usual ones. See `pavior metrics`
    #[arg(long)]
    pub(crate) metrics: Option<String>,
    /// The least run time in the bounded slowdown [default: 10 s for logs, else 1 unit]
    #[arg(long, allow_hyphen_values = true)]
    pub(crate) slowdown_bound: Option<f64>,
    /// Leaves the measured time per attempt out
    #[arg(long)]
    pub(crate) no_timing: bool,
    /// Writes the jobs of replication 0 as Batsim's jobs.csv; {strategy}, {scheduler} and {load} in
    /// the name stand for the combination
    #[arg(long)]
    pub(crate) jobs_csv: Option<PathBuf>,
    /// Writes replication 0 as a whole as Batsim's schedule.json; names as for --jobs-csv
    #[arg(long)]
    pub(crate) schedule: Option<PathBuf>,
    /// Writes the schedule of replication 0 as a log in the Standard Workload Format; names as for
    /// --jobs-csv
    #[arg(long)]
    pub(crate) swf: Option<PathBuf>,
    /// Writes the placements of replication 0 as JSON lines; names as for --jobs-csv
    #[arg(long)]
    pub(crate) placements: Option<PathBuf>,
}

/// What to read of a log.
#[derive(Debug, Args)]
pub(crate) struct ReadArgs {
    /// Reads this many job lines only
    #[arg(long)]
    pub(crate) first: Option<u64>,
    /// Keeps jobs whose fields have these values, such as partition=2,queue=1
    #[arg(long)]
    pub(crate) filter: Option<String>,
    /// Keeps jobs with these status values (field 11), separated by commas
    #[arg(long, allow_hyphen_values = true)]
    pub(crate) status: Option<String>,
    /// Skips and counts lines that cannot be read, instead of stopping
    #[arg(long)]
    pub(crate) lenient: bool,
}
