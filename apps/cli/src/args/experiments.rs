//! Options of `pavior experiment`, `merge`, `plot` and `reproduce`.

use std::path::PathBuf;

use clap::Args;
use pavior::experiments::directory::Resume;

use crate::output::Format;

#[derive(Debug, Args)]
pub(crate) struct ExperimentArgs {
    /// The experiment, a TOML file; see docs/experiments.md
    #[arg(required_unless_present = "schema")]
    pub(crate) file: Option<PathBuf>,
    /// The directory for the results [default: the file name with -results]
    #[arg(long)]
    pub(crate) out: Option<PathBuf>,
    /// Runs only one shard of the points; 1/4 is the first of four
    #[arg(long, value_name = "I/N")]
    pub(crate) shard: Option<String>,
    /// Skips strategies, schedulers, freedoms and patterns that do not apply to a machine or a
    /// workload, and lists them, like `skip-unsupported = true` in the file
    #[arg(long)]
    pub(crate) skip_unsupported: bool,
    #[command(flatten)]
    pub(crate) sweep: SweepArgs,
    /// Prints the JSON schema of experiment files
    #[arg(long, conflicts_with_all = ["file", "out", "shard", "resume"])]
    pub(crate) schema: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SweepArgs {
    /// Continues an earlier run in the same directory
    #[arg(long)]
    pub(crate) resume: bool,
    /// With --resume, drops damaged lines and runs their replications again
    #[arg(long, requires = "resume")]
    pub(crate) discard_damaged: bool,
    /// The number of threads; affects only measured times [default: one per core]
    #[arg(long)]
    pub(crate) threads: Option<usize>,
    /// The output format [default: table on a terminal, otherwise json]
    #[arg(long, value_enum)]
    pub(crate) format: Option<Format>,
}

impl SweepArgs {
    pub(crate) fn resume_options(&self) -> Resume {
        Resume { resume: self.resume, discard_damaged: self.discard_damaged }
    }
}

#[derive(Debug, Args)]
pub(crate) struct MergeArgs {
    /// The directories of the shards
    #[arg(required = true)]
    pub(crate) shards: Vec<PathBuf>,
    /// The directory for the merged results
    #[arg(long)]
    pub(crate) out: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct ReproduceArgs {
    /// A paper (tbl, gabl, nas, mfa), `all` papers, a study of this project (contiguity, its first
    /// part contiguity-first, slices, or forecasts), or the folder of your own paper
    pub(crate) paper: String,
    /// The directory for the results [default: reproduction-PAPER, or
    /// reproduction-PAPER-alternatives with --alternatives]
    #[arg(long)]
    pub(crate) out: Option<PathBuf>,
    /// Uses fewer loads and fewer runs per point
    #[arg(long)]
    pub(crate) quick: bool,
    /// Runs and ranks alternative interpretations of details that the paper leaves open
    #[arg(long)]
    pub(crate) alternatives: bool,
    /// The folder with the experiment's job logs [default: the current folder]
    #[arg(long)]
    pub(crate) logs: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) sweep: SweepArgs,
}

/// Parses a number that is neither infinite nor NaN.
fn finite(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(number) if f64::is_finite(number) => Ok(number),
        Ok(_) => Err("must be finite".to_string()),
        Err(_) => Err("not a number".to_string()),
    }
}

#[derive(Debug, Args)]
pub(crate) struct PlotArgs {
    /// The directory of an experiment, or files: results (CSV; - is standard input), jobs
    /// (jobs.csv) or placements (JSON lines)
    #[arg(required = true)]
    pub(crate) inputs: Vec<PathBuf>,
    /// The output: a file (.svg, or .json for Vega-Lite), or a directory for an experiment's
    /// figures [default: standard output; an experiment's own directory]
    #[arg(long)]
    pub(crate) out: Option<PathBuf>,
    /// The figure title
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
    /// The parameter on the x axis, such as load or strategy [default: load]
    #[arg(long)]
    pub(crate) x: Option<String>,
    /// The metric on the y axis [default: turnaround]
    #[arg(long)]
    pub(crate) y: Option<String>,
    /// Draws only points with these values, such as sides=uniform,strategy=ff,tff
    #[arg(long)]
    pub(crate) filter: Option<String>,
    /// Logarithmic axes: x, y or x,y
    #[arg(long, value_delimiter = ',')]
    pub(crate) log: Vec<String>,
    /// Draws the distribution of this column of jobs.csv [default: turnaround_time]
    #[arg(long)]
    pub(crate) cdf: Option<String>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Placements and jobs")]
pub(crate) struct PlacementArgs {
    /// The machine; required for placements
    #[arg(long, short)]
    pub(crate) machine: Option<String>,
    /// Draws the machine at this time instead of the schedule
    #[arg(long, conflicts_with = "animate", allow_hyphen_values = true, value_parser = finite)]
    pub(crate) at: Option<f64>,
    /// Draws an animation of the machine
    #[arg(long)]
    pub(crate) animate: bool,
    /// Writes a self-contained HTML page that plays the schedule in 2D and 3D
    #[arg(long, conflicts_with_all = ["at", "animate"])]
    pub(crate) html: bool,
    /// The length of the animation in seconds
    #[arg(long, default_value_t = 30.0, requires = "animate", value_parser = finite)]
    pub(crate) seconds: f64,
    /// The start of the drawn part of the schedule
    #[arg(long, allow_hyphen_values = true, value_parser = finite)]
    pub(crate) from: Option<f64>,
    /// The end of the drawn part of the schedule
    #[arg(long, allow_hyphen_values = true, value_parser = finite)]
    pub(crate) to: Option<f64>,
    /// The time unit: s (drawn as hours and days), `time_unit` or cycle [default: the unit in the
    /// placements, otherwise plain numbers]
    #[arg(long)]
    pub(crate) unit: Option<String>,
}
