//! Distributions of the values in `jobs.csv` files.

use pavior::draw::ChartAxis;
use pavior::text::shown;

use super::{logarithmic, write_chart, wrong};
use crate::args::PlotArgs;
use crate::failure::Failure;
use crate::files;

/// Draws the distribution of one column of one or more `jobs.csv` files.
pub(super) fn draw(args: &PlotArgs) -> Result<(), Failure> {
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
    let [x_log, _] = logarithmic(args)?;
    let name = column.replace('_', " ");
    let title = args.title.clone().unwrap_or_else(|| format!("Share of jobs by {name}"));
    let is_time = column.ends_with("_time");
    let unit = args.placements.unit.as_deref().filter(|_| is_time).unwrap_or_default();
    let axis = ChartAxis::of(&name, unit, x_log);
    write_chart(args, &pavior::draw::cdf(&title, axis, &samples))
}
