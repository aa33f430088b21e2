//! Draws charts from a results table.

use std::io::Read;
use std::path::Path;

use pavior::draw::Chart;
use pavior::experiments::parameters::{self, Parameter, ValueType};
use pavior::experiments::{Axis, Figure, Table, heading};
use pavior::text::shown;

use super::filter::{self, Conditions};
use super::{logarithmic, one_input, write_chart, wrong};
use crate::args::PlotArgs;
use crate::failure::Failure;

/// Draws a chart from a results table.
pub(super) fn draw(path: &Path, reader: impl Read, args: &PlotArgs) -> Result<(), Failure> {
    one_input(args)?;
    let mut table = Table::from_csv(reader).map_err(|error| wrong(path, error))?;
    let mut conditions = Conditions::new();
    if let Some(typed) = &args.chart.filter {
        conditions = filter::read(typed, &table)?;
        filter::keep(&mut table, &conditions);
        if table.rows.is_empty() {
            return Err(wrong(path, format!("--filter {typed} matches no points")));
        }
    }
    let varies = |parameter: &&Parameter| {
        let value = |row| table.value(row, &parameter.column());
        table.rows.windows(2).any(|pair| value(&pair[0]) != value(&pair[1]))
    };
    let varying: Vec<&Parameter> = parameters::ALL.iter().filter(varies).collect();
    let x = choose_x(args, &table, &varying)?;
    let y = choose_y(args, &table)?;
    check_finite(&table, x, y).map_err(|reason| wrong(path, reason))?;
    let [x_log, y_log] = logarithmic(args)?;
    let series = varying.iter().rev().filter(|one| one.name != x.name);
    let figure = Figure {
        name: "figure".into(),
        title: args.title.clone().unwrap_or_else(|| title(&table, x, y, &conditions)),
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

/// Returns the parameter on the x axis. The default is `strategy` if `load` is constant.
fn choose_x(
    args: &PlotArgs,
    table: &Table,
    varying: &[&Parameter],
) -> Result<&'static Parameter, Failure> {
    let is_load = varying.iter().any(|one| one.name == "load");
    let has_strategy = table.columns.iter().any(|column| column == "strategy");
    let usual = if is_load || !has_strategy { "load" } else { "strategy" };
    let x = args.chart.x.as_deref().unwrap_or(usual);
    filter::find_parameter(x, table).map_err(|bad| Failure::option("--x", x, 0, &bad))
}

/// Returns the metric on the y axis.
fn choose_y<'a>(args: &'a PlotArgs, table: &Table) -> Result<&'a str, Failure> {
    let y = args.chart.y.as_deref().unwrap_or("turnaround");
    if table.rows.iter().any(|row| row.metric == y) {
        return Ok(y);
    }
    let mut known: Vec<&str> = table.rows.iter().map(|row| row.metric.as_str()).collect();
    known.sort_unstable();
    known.dedup();
    let bad = pavior::names::unknown_name("metric", y, &known);
    Err(Failure::option("--y", y, 0, &bad))
}

/// Returns the default title, which includes the machine if it is the same in all rows.
fn title(table: &Table, x: &Parameter, y: &str, conditions: &Conditions) -> String {
    let machine = |row| table.value(row, "machine").filter(|machine| !machine.is_empty());
    let first = table.rows.first().and_then(machine);
    let machine = first.filter(|_| table.rows.iter().all(|row| machine(row) == first));
    heading(y, x.name, machine, &filter::describe(conditions))
}

/// Checks that all drawn numbers are finite.
fn check_finite(table: &Table, x: &Parameter, y: &str) -> Result<(), String> {
    let numeric = matches!(x.kind, ValueType::Number | ValueType::Count);
    for row in table.rows.iter().filter(|row| row.metric == y) {
        if let Some(mean) = row.summary.mean.filter(|mean| !mean.is_finite()) {
            return Err(format!("cannot plot {y}: one of its means is {mean}"));
        }
        // Infinite half-widths are allowed.
        if let Some(half) = row.summary.ci95.filter(|half| half.is_nan() || *half < 0.0) {
            return Err(format!("cannot plot {y}: one of its half-widths is {half}"));
        }
        let at = table.value(row, &x.column()).filter(|_| numeric);
        if let Some(at) = at.filter(|at| !at.parse().is_ok_and(f64::is_finite)) {
            return Err(format!("cannot plot {}: one of its values is `{}`", x.name, shown(at)));
        }
    }
    Ok(())
}

/// Returns a note that suggests a filter if a chart has too many series.
fn crowded(chart: &Chart, figure: &Figure, table: &Table) -> String {
    let names: Vec<&str> = figure.series.iter().map(|&one| parameters::ALL[one].name).collect();
    let example = figure.series.last().and_then(|&last| {
        let parameter = &parameters::ALL[last];
        let value = table.value(table.rows.first()?, &parameter.column())?;
        Some(format!(", such as {}={value}", parameter.name))
    });
    format!(
        "note: there are {} series, but colors and markers can distinguish only {}. The series \
         differ in {}; select a subset with --filter{}",
        chart.series.len(),
        Chart::TOLD_APART,
        names.join(", "),
        example.unwrap_or_default()
    )
}
