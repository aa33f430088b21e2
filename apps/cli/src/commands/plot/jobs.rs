//! Draws distributions of the values in `jobs.csv` files.

use std::path::{Path, PathBuf};

use pavior::draw::ChartAxis;
use pavior::text::shown;

use super::{logarithmic, write_chart, wrong};
use crate::args::PlotArgs;
use crate::failure::Failure;
use crate::files;

/// Draws the distribution of one column in one or more `jobs.csv` files.
pub(super) fn draw(args: &PlotArgs) -> Result<(), Failure> {
    let column = args.chart.cdf.as_deref().unwrap_or("turnaround_time");
    let named = |path: &PathBuf| {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok((name, sample(path, column)?))
    };
    let samples = args.inputs.iter().map(named).collect::<Result<Vec<_>, Failure>>()?;
    let [x_log, _] = logarithmic(args)?;
    let name = column.replace('_', " ");
    let title = args.title.clone().unwrap_or_else(|| format!("Cumulative share of jobs by {name}"));
    let is_time = column.ends_with("_time");
    let unit = args.placements.unit.as_deref().filter(|_| is_time).unwrap_or_default();
    let axis = ChartAxis::of(&name, unit, x_log);
    write_chart(args, &pavior::draw::cdf(&title, axis, &samples))
}

/// Returns the values of a column for the jobs that did not fail.
fn sample(path: &Path, column: &str) -> Result<Vec<f64>, Failure> {
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
        if success.is_some_and(|success| &record[success] == "0") {
            continue;
        }
        let Some(value) = record[index].trim().parse().ok().filter(|v: &f64| v.is_finite()) else {
            let line = record.position().map_or(0, csv::Position::line);
            let text = shown(&record[index]);
            return Err(wrong(path, format!("line {line}: `{text}` is not a finite number")));
        };
        sample.push(value);
    }
    if sample.is_empty() {
        return Err(wrong(path, "contains no successful jobs"));
    }
    Ok(sample)
}
