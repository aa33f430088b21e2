//! Options of `pavior trace`.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, RangedU64ValueParser, TypedValueParser};
use clap::{Args, Subcommand};
use pavior::Time;
use pavior::workload::TimeUnit;
use pavior::workload::traces::batsim::Version;

use super::{FormatArgs, LogParameters, ParameterArgs, StreamParameters};

#[derive(Debug, Args)]
pub(crate) struct TraceArgs {
    #[command(subcommand)]
    pub(crate) command: TraceCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TraceCommand {
    /// Summarizes a log: lines kept and skipped, sizes, run times and load
    Inspect(InspectArgs),
    /// Writes a log in another format
    Convert(ConvertArgs),
    /// Writes a synthetic log
    Generate(GenerateArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ConvertArgs {
    /// The log, optionally gzipped; - means standard input
    pub(crate) from: PathBuf,
    /// The file to write, whose name determines the format
    pub(crate) to: PathBuf,
    /// The machine for which --shape-rule chooses shapes for jobs without one; .swf logs omit these
    /// shapes, and Batsim files state the machine's size
    #[arg(long, short)]
    pub(crate) machine: Option<String>,
    /// The rule that turns a number of nodes into a box
    #[arg(long, default_value = "compact", requires = "machine")]
    pub(crate) shape_rule: String,
    /// The seed for random shape rules
    #[arg(long, default_value_t = 1, requires = "machine")]
    pub(crate) seed: u64,
    /// Derives fields 17 and 18 of an .swf log from user sessions: a job follows its user's most
    /// recently ended job if submitted at most this long after that job ended (20m, 90s, 1h)
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) sessions: Option<Time>,
    /// The version of Batsim to write for: v4 (up to version 4) or v5 (version 5 and later)
    #[arg(long, default_value = "v4", value_parser = batsim_version())]
    pub(crate) batsim: Version,
    #[command(flatten)]
    pub(crate) read: ParameterArgs<LogParameters>,
}

fn batsim_version() -> impl TypedValueParser<Value = Version> {
    let names = PossibleValuesParser::new(["v4", "v5"]);
    names.map(|name| if name == "v4" { Version::V4 } else { Version::V5 })
}

/// Parses a duration such as `20m`, `90s`, `1.5h` or, in seconds, `1200`.
fn duration(text: &str) -> Result<Time, String> {
    let end = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let scale = match unit {
        "" | "s" => Some(1.0),
        "m" | "min" => Some(60.0),
        "h" => Some(3600.0),
        "d" => Some(86_400.0),
        _ => None,
    };
    let seconds = scale.and_then(|scale| Some(number.parse::<f64>().ok()? * scale));
    match seconds {
        Some(seconds) if (0.0..=1e9).contains(&seconds) => Ok(TimeUnit::SECOND.time(seconds)),
        _ => Err("expected a duration such as 20m, 90s or 1h".to_string()),
    }
}

#[derive(Debug, Args)]
pub(crate) struct GenerateArgs {
    /// A workload model (lublin), or a distribution of request sides (uniform, pods, ...)
    pub(crate) model: String,
    /// The number of jobs
    #[arg(
        long,
        default_value_t = 1000,
        // The log is built in memory before it is written.
        value_parser = RangedU64ValueParser::<usize>::new().range(1..=2_000_000)
    )]
    pub(crate) jobs: usize,
    /// The machine size in nodes, for a workload model
    #[arg(long, conflicts_with = "machine", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) nodes: Option<u32>,
    /// The machine for which random sides are drawn
    #[arg(long, short)]
    pub(crate) machine: Option<String>,
    #[command(flatten)]
    pub(crate) stream: ParameterArgs<StreamParameters>,
    /// The seed
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// The file to write, whose name determines the format [default: SWF on standard output]
    #[arg(long, short)]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct InspectArgs {
    /// The log, optionally gzipped; - means standard input
    pub(crate) file: PathBuf,
    /// The machine with which load and sizes are compared [default: the size given in the header]
    #[arg(long, short)]
    pub(crate) machine: Option<String>,
    #[command(flatten)]
    pub(crate) read: ParameterArgs<LogParameters>,
    /// Writes an HTML page, to standard output if no file is given
    #[arg(
        long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-",
        conflicts_with = "format",
    )]
    pub(crate) html: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: FormatArgs,
}
