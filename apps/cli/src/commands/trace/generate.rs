//! `pavior trace generate`: generates a log, either from a workload model or from a stream of
//! random jobs.

use std::io;

use pavior::experiments::Setting;
use pavior::names::{bare_name, unknown_name};
use pavior::workload::traces::{Format, Header, Record, batsim};
use pavior::workload::{Family, Generator, Selection, SideDistribution};
use pavior::{BadName, Grid};

use super::{Log, LogFile};
use crate::args::GenerateArgs;
use crate::failure::Failure;
use crate::{input, settings};

pub(super) fn run(args: &GenerateArgs) -> Result<(), Failure> {
    let out = args.out.as_deref().map(LogFile::new).transpose()?;
    let grid = args.machine.as_deref().map(input::machine).transpose()?;
    let is_sides =
        SideDistribution::builtin().iter().any(|spec| spec.name == bare_name(&args.model));
    let model = (!is_sides).then(|| parse_model(&args.model)).transpose()?;
    check_options(args, is_sides)?;
    let (nodes, records) = match model {
        Some(model) => records_of_model(args, &model, grid)?,
        None => records_of_sides(args, grid)?,
    };
    let mut header = Header::default();
    header.push("Version", "2.2");
    header.push("Computer", "none (synthetic)");
    let version = env!("CARGO_PKG_VERSION");
    let note = format!("pavior {version} trace generate {} seed {}", args.model, args.seed);
    header.push("Note", &note);
    header.push("MaxJobs", &records.len().to_string());
    header.push("MaxProcs", &nodes.to_string());
    let log = Log { header, records, nodes: nodes.into(), version: batsim::Version::V4 };
    match out {
        Some(file) => file.write(&log),
        None => Ok(log.write_to(&mut io::stdout().lock(), Format::Swf)?),
    }
}

/// Generates jobs with a workload model. Also returns the machine size in nodes.
fn records_of_model(
    args: &GenerateArgs,
    model: &Selection<Generator>,
    grid: Option<Grid>,
) -> Result<(u32, Vec<Record>), Failure> {
    let nodes = grid.map(|grid| grid.nodes()).or(args.nodes).ok_or_else(|| {
        Failure::usage(format!("{}: the model requires --nodes or --machine", args.model))
    })?;
    let jobs = (model.entry.does.generate)(&model.options, nodes, args.seed, 0);
    Ok((nodes, jobs.take(args.jobs).collect()))
}

/// Generates a stream of jobs with random sides. Also returns the machine size in nodes.
fn records_of_sides(
    args: &GenerateArgs,
    grid: Option<Grid>,
) -> Result<(u32, Vec<Record>), Failure> {
    let grid = grid.ok_or_else(|| {
        Failure::usage(format!("{}: a side distribution requires --machine", args.model))
    })?;
    let mut typed = args.stream.settings();
    typed.push(Setting::new("sides", &args.model));
    typed.push(Setting::new("machine", grid.to_string()));
    typed.push(Setting::new("seed", args.seed.to_string()));
    typed.push(Setting::new("strategy", "ff"));
    let scenario = settings::scenario(&typed)?;
    let records = scenario.jobs(0).take(args.jobs).map(|job| Record::of_job(&job));
    let records: Option<Vec<Record>> = records.collect();
    let records = records.ok_or_else(|| {
        Failure::usage(
            "jobs that send messages have no run times to write; choose a different --service",
        )
    })?;
    Ok((grid.nodes(), records))
}

/// Rejects options that do not apply to this kind of log.
fn check_options(args: &GenerateArgs, is_sides: bool) -> Result<(), Failure> {
    let (model, stream) = (&args.model, &args.stream);
    if is_sides && args.nodes.is_some() {
        return Err(Failure::usage(format!(
            "{model}: a side distribution requires --machine, not --nodes"
        )));
    }
    let setting = if is_sides { None } else { stream.settings().into_iter().next() };
    if let Some(Setting { key, .. }) = setting {
        return Err(Failure::usage(format!(
            "{model} generates its own arrivals and run times; --{key} applies only to side \
             distributions"
        )));
    }
    match stream.typed("load").and_then(|typed| Some((typed, typed.find(',')?))) {
        None => Ok(()),
        Some((typed, at)) => {
            let reason = "specify only one load".to_string();
            Err(Failure::option("--load", typed, 0, &BadName { reason, span: at..typed.len() }))
        }
    }
}

/// Parses the name of a workload model. If the name is unknown, the suggestions include side
/// distributions.
fn parse_model(typed: &str) -> Result<Selection<Generator>, Failure> {
    let known: Vec<&str> = Generator::builtin()
        .iter()
        .map(|spec| spec.name)
        .chain(SideDistribution::builtin().iter().map(|spec| spec.name))
        .collect();
    let name = bare_name(typed);
    if !known.contains(&name) {
        let bad = unknown_name("workload model or side distribution", name, &known);
        return Err(Failure::option("trace generate", typed, 0, &bad));
    }
    input::name("trace generate", typed)
}
