//! Options of `pavior plot`.

use std::path::PathBuf;

use clap::Args;

use super::finite;

#[derive(Debug, Args)]
pub(crate) struct PlotArgs {
    /// An experiment directory, or files with results (CSV; - means standard input), jobs
    /// (jobs.csv) or placements (JSON lines)
    #[arg(required = true)]
    pub(crate) inputs: Vec<PathBuf>,
    /// The output: a file (.svg, or .json for Vega-Lite), or a directory for an experiment's
    /// figures [default: standard output, or the experiment's own directory]
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
    /// The axes to scale logarithmically: x, y or x,y
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
    /// The start of the time range to draw
    #[arg(long, allow_hyphen_values = true, value_parser = finite)]
    pub(crate) from: Option<f64>,
    /// The end of the time range to draw
    #[arg(long, allow_hyphen_values = true, value_parser = finite)]
    pub(crate) to: Option<f64>,
    /// The time unit: s (drawn as hours and days), `time_unit` or cycle [default: the unit in the
    /// placements, otherwise plain numbers]
    #[arg(long)]
    pub(crate) unit: Option<String>,
}
