//! The command line of experiments: `experiment`, `merge`, `plot`, `reproduce`.

use std::path::PathBuf;

use clap::Args;

use crate::output::Format;

#[derive(Debug, Args)]
pub(crate) struct ExperimentArgs {
    /// The experiment, a TOML file; see docs/experiments.md
    #[arg(required_unless_present = "schema")]
    pub(crate) file: Option<PathBuf>,
    /// The directory of the results [default: the file's name with -results]
    #[arg(long)]
    pub(crate) out: Option<PathBuf>,
    /// Runs a part of the points: 1/4 is the first of four parts
    #[arg(long, value_name = "I/N")]
    pub(crate) shard: Option<String>,
    /// Leaves out, and tells, what does not apply to a machine or a workload: a strategy,
    /// scheduler, freedom or pattern; the same as `skip-unsupported = true` in the file
    #[arg(long)]
    pub(crate) skip_unsupported: bool,
    #[command(flatten)]
    pub(crate) sweep: SweepArgs,
    /// Prints the JSON schema of experiment files
    #[arg(long, conflicts_with_all = ["file", "out", "shard", "resume"])]
    pub(crate) schema: bool,
}

/// How a sweep is run, and how its results are printed.
#[derive(Debug, Args)]
pub(crate) struct SweepArgs {
    /// Goes on where an earlier run in the same directory stopped
    #[arg(long)]
    pub(crate) resume: bool,
    /// With --resume: leaves out lines that were damaged since, and runs what they held anew
    #[arg(long, requires = "resume")]
    pub(crate) discard_damaged: bool,
    /// Threads; results do not depend on it, measured times do [default: one per core]
    #[arg(long)]
    pub(crate) threads: Option<usize>,
    /// How to print [default: table on a terminal, else json]
    #[arg(long, value_enum)]
    pub(crate) format: Option<Format>,
}

impl SweepArgs {
    /// How a directory is begun.
    pub(crate) fn how(&self) -> pavior::experiments::directory::Resume {
        pavior::experiments::directory::Resume {
            resume: self.resume,
            discard_damaged: self.discard_damaged,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct MergeArgs {
    /// The directories of the shards
    #[arg(required = true)]
    pub(crate) shards: Vec<PathBuf>,
    /// The directory of the whole
    #[arg(long)]
    pub(crate) out: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct ReproduceArgs {
    /// The paper (tbl, gabl, nas, mfa), all of them, a study of this project (contiguity,
    /// contiguity-first, which is its first part, slices, or forecasts), or a folder of a paper of
    /// your own
    pub(crate) paper: String,
    /// The directory of the results [default: reproduction-PAPER, with -alternatives for those]
    #[arg(long)]
    pub(crate) out: Option<PathBuf>,
    /// Few loads and few runs a point
    #[arg(long)]
    pub(crate) quick: bool,
    /// Runs other readings of what the paper leaves open, and says which comes closest
    #[arg(long)]
    pub(crate) alternatives: bool,
    /// The folder of the job logs that an experiment names [default: the one of the command]
    #[arg(long)]
    pub(crate) logs: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) sweep: SweepArgs,
}

/// A number that is neither infinite nor NaN.
fn finite(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(number) if f64::is_finite(number) => Ok(number),
        Ok(_) => Err("it must be finite".to_string()),
        Err(_) => Err("not a number".to_string()),
    }
}

#[derive(Debug, Args)]
pub(crate) struct PlotArgs {
    /// A directory of an experiment; or results (CSV; - is standard input), jobs (jobs.csv),
    /// placements (JSON lines)
    #[arg(required = true)]
    pub(crate) inputs: Vec<PathBuf>,
    /// Where to draw: a file (.svg, or .json for Vega-Lite), or a directory for an experiment's
    /// figures [default: standard output; an experiment's own directory]
    #[arg(long)]
    pub(crate) out: Option<PathBuf>,
    /// The heading
    #[arg(long)]
    pub(crate) title: Option<String>,
    #[command(flatten)]
    pub(crate) chart: ChartArgs,
    #[command(flatten)]
    pub(crate) placements: PlacementArgs,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Results and jobs")]
pub(crate) struct ChartArgs {
    /// What stands along x: a parameter such as load or strategy [default: load]
    #[arg(long)]
    pub(crate) x: Option<String>,
    /// What is drawn: a metric [default: turnaround]
    #[arg(long)]
    pub(crate) y: Option<String>,
    /// Draws the points that have these values, such as sides=uniform,strategy=ff,tff
    #[arg(long)]
    pub(crate) filter: Option<String>,
    /// Logarithmic axes: x, y or x,y
    #[arg(long, value_delimiter = ',')]
    pub(crate) log: Vec<String>,
    /// The column of jobs.csv whose distribution is drawn [default: turnaround_time]
    #[arg(long)]
    pub(crate) cdf: Option<String>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Placements and jobs")]
pub(crate) struct PlacementArgs {
    /// The machine on which they are; needed
    #[arg(long, short)]
    pub(crate) machine: Option<String>,
    /// Draws the machine as it was at this instant, instead of the schedule
    #[arg(long, conflicts_with = "animate", allow_hyphen_values = true, value_parser = finite)]
    pub(crate) at: Option<f64>,
    /// Draws the machine as a film
    #[arg(long)]
    pub(crate) animate: bool,
    /// Writes a page that plays the schedule in 2D and 3D, in one file that needs nothing else
    #[arg(long, conflicts_with_all = ["at", "animate"])]
    pub(crate) html: bool,
    /// The length of the film in seconds
    #[arg(long, default_value_t = 30.0, requires = "animate", value_parser = finite)]
    pub(crate) seconds: f64,
    /// Draws the schedule from this instant
    #[arg(long, allow_hyphen_values = true, value_parser = finite)]
    pub(crate) from: Option<f64>,
    /// Draws the schedule to this instant
    #[arg(long, allow_hyphen_values = true, value_parser = finite)]
    pub(crate) to: Option<f64>,
    /// The unit of time: s (drawn as hours and days), `time_unit` or cycle [default: the one that
    /// placements name, else plain numbers]
    #[arg(long)]
    pub(crate) unit: Option<String>,
}
