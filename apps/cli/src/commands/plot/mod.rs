//! `pavior plot`: draws results, jobs and placements without running a simulation.

mod filter;
mod jobs;
mod page;
mod placements;
mod results;

use std::io::BufRead;
use std::path::Path;

use pavior::draw::Chart;
use pavior::experiments::Table;
use pavior::experiments::directory::verify;
use pavior::files::{FileUses, Limits};

use crate::args::PlotArgs;
use crate::failure::Failure;
use crate::{files, output, run_directory};

pub(crate) fn run(args: &PlotArgs) -> Result<(), Failure> {
    let first = &args.inputs[0];
    if first.is_dir() {
        no_results_options(args)?;
        return args.inputs.iter().try_for_each(|directory| draw_directory(directory, args));
    }
    if let Some(out) = &args.out {
        let plan = args.inputs.iter().fold(FileUses::new(), |plan, input| plan.reads("", input));
        plan.writes("--out", out).check()?;
    }
    let check_out = |formats: &[&str]| files::check_drawing("--out", args.out.as_deref(), formats);
    if first == Path::new("-") {
        check_out(&["svg", "json"])?;
        return results::draw(first, pavior::files::stdin(files::lines())?, args);
    }
    let mut head = String::new();
    let read = files::open(first)?.read_line(&mut head);
    read.map_err(|error| match error.kind() {
        // The file is not text.
        std::io::ErrorKind::InvalidData if !error.to_string().contains("longer") => unknown(first),
        _ => wrong(first, error),
    })?;
    let head = head.trim_start_matches('\u{feff}').trim();
    if head.starts_with('{') {
        no_results_options(args)?;
        check_out(if args.placements.html { &["html"] } else { &["svg"] })?;
        return placements::draw(first, args);
    }
    let columns: Vec<&str> = head.split(',').collect();
    if columns.contains(&"metric") && columns.contains(&"mean") {
        check_out(&["svg", "json"])?;
        results::draw(first, files::open(first)?, args)
    } else if columns.contains(&"job_id") {
        no_results_options(args)?;
        check_out(&["svg", "json"])?;
        jobs::draw(args)
    } else {
        Err(unknown(first))
    }
}

fn unknown(path: &Path) -> Failure {
    Failure::usage(format!(
        "{} cannot be plotted; pass an experiment directory, CSV results, a jobs.csv file, or \
         placements as JSON lines",
        files::shown(path)
    ))
}

fn wrong(path: &Path, reason: impl std::fmt::Display) -> Failure {
    Failure::usage(format!("{}: {reason}", files::shown(path)))
}

/// Draws all figures declared in an experiment, using its tables.
fn draw_directory(directory: &Path, args: &PlotArgs) -> Result<(), Failure> {
    let note = run_directory::note(directory)?;
    verify(directory, &note, &[run_directory::EXPERIMENT, "results.csv", "timings.csv"])?;
    let (_, specification) = run_directory::read_in(directory, &note.run.name)?;
    let path = directory.join("results.csv");
    let results = Table::from_csv(files::open(&path)?).map_err(|error| wrong(&path, error))?;
    let timings = pavior::files::read_if_there(&directory.join("timings.csv"), Limits::LINES)?
        .unwrap_or_default();
    let measured =
        Table::from_timings(timings.as_bytes()).map_err(|error| wrong(directory, error))?;
    let out = args.out.as_deref().unwrap_or(directory);
    std::fs::create_dir_all(out).map_err(|error| wrong(out, error))?;
    let figures = specification.figures(&results, &measured);
    if figures.is_empty() {
        return Err(Failure::usage(format!(
            "{} defines no figures; to plot its results.csv, use --x and --y",
            files::shown(&directory.join(run_directory::EXPERIMENT))
        )));
    }
    for figure in &figures {
        files::write_whole(&out.join(&figure.name), |file| file.write_all(&figure.bytes))?;
    }
    Ok(())
}

/// Fails if the user specified an option that applies only to results tables.
fn no_results_options(args: &PlotArgs) -> Result<(), Failure> {
    let chart = &args.chart;
    let options = [("--filter", &chart.filter), ("--x", &chart.x), ("--y", &chart.y)];
    match options.iter().find(|(_, typed)| typed.is_some()) {
        None => Ok(()),
        Some((option, _)) => Err(Failure::usage(format!(
            "{option} applies only to results tables, such as results.csv"
        ))),
    }
}

fn one_input(args: &PlotArgs) -> Result<(), Failure> {
    match args.inputs.len() {
        1 => Ok(()),
        _ => Err(Failure::usage("only directories and jobs.csv files can be plotted together")),
    }
}

/// Returns one flag for the x axis and one for the y axis, each true if the axis is logarithmic.
fn logarithmic(args: &PlotArgs) -> Result<[bool; 2], Failure> {
    if let Some(other) = args.chart.log.iter().find(|axis| !["x", "y"].contains(&axis.as_str())) {
        return Err(Failure::usage(format!("--log {other}: must be x, y or x,y")));
    }
    let has = |axis: &str| args.chart.log.iter().any(|one| one == axis);
    Ok([has("x"), has("y")])
}

/// Writes SVG, or Vega-Lite if the file name ends in `.json`.
fn write_chart(args: &PlotArgs, chart: &Chart) -> Result<(), Failure> {
    let json = args.out.as_ref().is_some_and(|out| files::has_extension(out, "json"));
    let text =
        if json { format!("{:#}\n", pavior::draw::vega(chart)) } else { pavior::draw::svg(chart) };
    // Standard output has no file name, so the format is SVG.
    write_text(args, &text)
}

fn write_text(args: &PlotArgs, text: &str) -> Result<(), Failure> {
    if let Some(out) = &args.out {
        return Ok(files::write_whole(out, |file| file.write_all(text.as_bytes()))?);
    }
    output::xml(text)
}
