//! `pavior plot`: draws results, jobs and placements without running a simulation.

mod filter;
mod page;
mod placements;

use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use pavior::Grid;
use pavior::draw::{Chart, ChartAxis};
use pavior::experiments::directory::verify;
use pavior::experiments::parameters::{self, Parameter, ValueType};
use pavior::experiments::{Axis, Figure, Table, heading};
use pavior::files::{FileUses, Limits};
use pavior::text::shown;

use crate::args::PlotArgs;
use crate::failure::Failure;
use crate::{files, input, output, run_directory};

pub(crate) fn run(args: &PlotArgs) -> Result<(), Failure> {
    let first = &args.inputs[0];
    if first.is_dir() {
        no_filter(args)?;
        return args.inputs.iter().try_for_each(|directory| of_directory(directory, args));
    }
    if let Some(out) = &args.out {
        let plan = args.inputs.iter().fold(FileUses::new(), |plan, input| plan.reads("", input));
        plan.writes("--out", out).check()?;
    }
    let check_out = |formats: &[&str]| {
        let out = args.out.as_deref();
        out.map_or(Ok(()), |out| files::check_drawing("--out", out, formats))
    };
    if first == Path::new("-") {
        check_out(&["svg", "json"])?;
        return of_results(first, pavior::files::stdin(files::lines())?, args);
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
        no_filter(args)?;
        check_out(if args.placements.html { &["html"] } else { &["svg"] })?;
        return of_placements(first, args);
    }
    let columns: Vec<&str> = head.split(',').collect();
    if columns.contains(&"metric") && columns.contains(&"mean") {
        check_out(&["svg", "json"])?;
        of_results(first, files::open(first)?, args)
    } else if columns.contains(&"job_id") {
        no_filter(args)?;
        check_out(&["svg", "json"])?;
        of_jobs(args)
    } else {
        Err(unknown(first))
    }
}

fn unknown(path: &Path) -> Failure {
    Failure::usage(format!(
        "{} cannot be drawn; pass an experiment directory, CSV results, a jobs.csv, or \
         placements as JSON lines",
        files::shown(path)
    ))
}

fn wrong(path: &Path, reason: impl std::fmt::Display) -> Failure {
    Failure::usage(format!("{}: {reason}", files::shown(path)))
}

/// Draws all figures declared in an experiment, using its tables.
fn of_directory(directory: &Path, args: &PlotArgs) -> Result<(), Failure> {
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
            "{} declares no figure; draw one with --x and --y from its results.csv",
            files::shown(&directory.join(run_directory::EXPERIMENT))
        )));
    }
    for figure in &figures {
        files::write_whole(&out.join(&figure.name), |file| file.write_all(&figure.bytes))?;
    }
    Ok(())
}

/// Draws a chart from a table of results.
fn of_results(path: &Path, reader: impl Read, args: &PlotArgs) -> Result<(), Failure> {
    one_input(args)?;
    let mut table = Table::from_csv(reader).map_err(|error| wrong(path, error))?;
    let mut conditions = Vec::new();
    if let Some(typed) = &args.chart.filter {
        conditions = filter::read(typed, &table)?;
        filter::keep(&mut table, &conditions);
        if table.rows.is_empty() {
            return Err(wrong(path, format!("--filter {typed} leaves no points")));
        }
    }
    let varies = |parameter: &&Parameter| {
        let value = |row| table.value(row, &parameter.column());
        table.rows.windows(2).any(|pair| value(&pair[0]) != value(&pair[1]))
    };
    let varying: Vec<&Parameter> = parameters::ALL.iter().filter(varies).collect();
    let usual = if varying.iter().any(|one| one.name == "load") { "load" } else { "strategy" };
    let x = args.chart.x.as_deref().unwrap_or(usual);
    let x = filter::find_parameter(x).map_err(|bad| Failure::option("--x", x, 0, &bad))?;
    let y = args.chart.y.as_deref().unwrap_or("turnaround");
    if !table.rows.iter().any(|row| row.metric == y) {
        let mut known: Vec<&str> = table.rows.iter().map(|row| row.metric.as_str()).collect();
        known.sort_unstable();
        known.dedup();
        let bad = pavior::names::unknown_name("metric", y, &known);
        return Err(Failure::option("--y", y, 0, &bad));
    }
    check_finite(&table, x, y).map_err(|reason| wrong(path, reason))?;
    let (x_log, y_log) = logarithmic(args)?;
    let usual = || {
        let machine = |row| table.value(row, "machine").filter(|machine| !machine.is_empty());
        let first = table.rows.first().and_then(machine);
        let machine = first.filter(|_| table.rows.iter().all(|row| machine(row) == first));
        heading(y, x.name, machine, &filter::describe(&conditions))
    };
    let series = varying.iter().rev().filter(|one| one.name != x.name);
    let figure = Figure {
        name: "figure".into(),
        title: args.title.clone().unwrap_or_else(usual),
        x: x.index(),
        y: y.to_string(),
        series: series.map(|parameter| parameter.index()).collect(),
        fixed: Vec::new(),
        x_axis: Axis { label: None, logarithmic: x_log },
        y_axis: Axis { label: None, logarithmic: y_log },
        labels: Vec::new(),
        stated: Vec::new(),
    };
    let chart = pavior::experiments::chart(&figure, &table);
    write_chart(args, &chart)?;
    if chart.series.len() > Chart::TOLD_APART {
        eprintln!("{}", crowded(&chart, &figure, &table));
    }
    Ok(())
}

/// Checks that all drawn numbers are finite.
fn check_finite(table: &Table, x: &Parameter, y: &str) -> Result<(), String> {
    let numeric = matches!(x.kind, ValueType::Number | ValueType::Count);
    for row in table.rows.iter().filter(|row| row.metric == y) {
        if let Some(mean) = row.summary.mean.filter(|mean| !mean.is_finite()) {
            return Err(format!("a mean of {y} is {mean}, which cannot be drawn"));
        }
        // Infinite intervals are left out.
        if let Some(half) = row.summary.ci95.filter(|half| half.is_nan() || *half < 0.0) {
            return Err(format!("a half-width of {y} is {half}, which cannot be drawn"));
        }
        let at = table.value(row, &x.column()).filter(|_| numeric);
        if let Some(at) = at.filter(|at| !at.parse().is_ok_and(f64::is_finite)) {
            return Err(format!("a {} is `{}`, which cannot be drawn", x.name, shown(at)));
        }
    }
    Ok(())
}

/// Suggests a filter if a chart has too many series.
fn crowded(chart: &Chart, figure: &Figure, table: &Table) -> String {
    let names: Vec<&str> = figure.series.iter().map(|&one| parameters::ALL[one].name).collect();
    let example = figure.series.last().and_then(|&last| {
        let parameter = &parameters::ALL[last];
        let value = table.value(table.rows.first()?, &parameter.column())?;
        Some(format!(", such as {}={value}", parameter.name))
    });
    format!(
        "note: {} series, but colors and marks can distinguish only {}; they differ in {}: select \
         some with --filter{}",
        chart.series.len(),
        Chart::TOLD_APART,
        names.join(", "),
        example.unwrap_or_default()
    )
}

/// Draws the distribution of one column of one or more `jobs.csv` files.
fn of_jobs(args: &PlotArgs) -> Result<(), Failure> {
    let column = args.chart.cdf.as_deref().unwrap_or("turnaround_time");
    let mut samples = Vec::new();
    for path in &args.inputs {
        let mut reader = csv::Reader::from_reader(files::open(path)?);
        let header = reader.headers().map_err(|error| wrong(path, error))?.clone();
        let find = |name: &str| header.iter().position(|one| one == name);
        let Some(index) = find(column) else {
            let known: Vec<&str> = header.iter().collect();
            let bad = pavior::names::unknown_name("column", column, &known);
            return Err(Failure::option("--cdf", column, 0, &bad));
        };
        let success = find("success");
        let mut sample = Vec::new();
        for record in reader.records() {
            let record = record.map_err(|error| wrong(path, error))?;
            if success.is_none_or(|success| &record[success] != "0") {
                let value = record[index].trim().parse::<f64>().ok().filter(|v| v.is_finite());
                sample.push(value.ok_or_else(|| {
                    let (line, text) =
                        (record.position().map_or(0, csv::Position::line), &record[index]);
                    let text = shown(text);
                    wrong(path, format!("line {line}: `{text}` is not a finite number"))
                })?);
            }
        }
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        samples.push((name, sample));
    }
    let (x_log, _) = logarithmic(args)?;
    let name = column.replace('_', " ");
    let title = args.title.clone().unwrap_or_else(|| format!("Share of jobs by {name}"));
    let is_time = column.ends_with("_time");
    let unit = args.placements.unit.as_deref().filter(|_| is_time).unwrap_or_default();
    let axis = ChartAxis::of(&name, unit, x_log);
    write_chart(args, &pavior::draw::cdf(&title, axis, &samples))
}

/// Draws a schedule, a machine at one time, or an animation.
fn of_placements(path: &Path, args: &PlotArgs) -> Result<(), Failure> {
    one_input(args)?;
    let options = &args.placements;
    let Some(machine) = &options.machine else {
        return Err(Failure::usage("placements do not include their machine: add --machine"));
    };
    let grid: Grid = input::machine(machine)?;
    let all = placements::read(BufReader::new(files::open(path)?), &grid)
        .map_err(|error| wrong(path, error))?;
    let unit = options.unit.as_ref().or(all.unit.as_ref()).cloned().unwrap_or_default();
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let title = |usual: &str| args.title.clone().unwrap_or_else(|| format!("{usual}: {name}"));
    if !(options.seconds > 0.0 && options.seconds <= 3600.0) {
        return Err(Failure::usage("--seconds must be above 0 and at most 3600"));
    }
    if options.html {
        let page = page::render(&grid, all).map_err(|error| wrong(path, error))?;
        return write_text(args, &page);
    }
    let placed = &all.placed;
    let nodes = title("Running jobs and their nodes");
    let svg = if let Some(at) = options.at {
        pavior::draw::instant(&nodes, &grid, placed, at, &unit)
    } else if options.animate {
        pavior::draw::animation(&nodes, &grid, placed, options.seconds, &unit)
    } else {
        let ends = (options.from, options.to);
        let title = title("Utilization and jobs over time");
        pavior::draw::schedule(&title, &grid, placed, ends, &unit)
    };
    write_text(args, &svg.map_err(|error| wrong(path, error))?)
}

/// Fails if `--filter` would have no effect.
fn no_filter(args: &PlotArgs) -> Result<(), Failure> {
    match args.chart.filter {
        None => Ok(()),
        Some(_) => {
            Err(Failure::usage("--filter applies only to a results table: draw a results.csv"))
        }
    }
}

fn one_input(args: &PlotArgs) -> Result<(), Failure> {
    match args.inputs.len() {
        1 => Ok(()),
        _ => Err(Failure::usage("only directories and jobs.csv files can be drawn together")),
    }
}

fn logarithmic(args: &PlotArgs) -> Result<(bool, bool), Failure> {
    if let Some(other) = args.chart.log.iter().find(|axis| !["x", "y"].contains(&axis.as_str())) {
        return Err(Failure::usage(format!("--log {other}: must be x, y or x,y")));
    }
    let has = |axis: &str| args.chart.log.iter().any(|one| one == axis);
    Ok((has("x"), has("y")))
}

/// Writes SVG, or Vega-Lite if the file name ends in `.json`.
fn write_chart(args: &PlotArgs, chart: &Chart) -> Result<(), Failure> {
    let json = args.out.as_ref().is_some_and(|out| files::has_extension(out, "json"));
    let text =
        if json { format!("{:#}\n", pavior::draw::vega(chart)) } else { pavior::draw::svg(chart) };
    // Standard output has no file name, so SVG is written.
    write_text(args, &text)
}

fn write_text(args: &PlotArgs, text: &str) -> Result<(), Failure> {
    if let Some(out) = &args.out {
        return Ok(files::write_whole(out, |file| file.write_all(text.as_bytes()))?);
    }
    output::xml(text)
}
