//! Presents the summary of a log as an HTML page.

use pavior::draw::{
    Chart, ChartAxis, Drawing, Mark, Marks, Page, Section, SectionTable, Series, svg,
};
use pavior::workload::inspect::{Class, LogSummary, Spread};
use pavior::workload::traces::Format;

use super::format::{
    Bar, by_hour, by_weekday, clock_name, most_frequent, of_bins, quantiles, round,
};
use super::{Inspection, facts};
use crate::output;

/// Creates the page.
pub(super) fn page(inspection: &Inspection<'_>) -> Page {
    let Inspection { name, summary, replay, .. } = inspection;
    let days = summary.span / 86_400.0;
    let format = summary.format.map_or("a table", Format::title);
    let mut lead = vec![format!(
        "{} of {} job lines can be replayed. Submissions span {days:.1} days. Format: {format}.",
        summary.kept, summary.job_lines
    )];
    lead.extend(replay.as_ref().map(|command| format!("Replay: {command}")));
    let mut sections = vec![jobs(inspection), sizes_and_runs(summary)];
    sections.extend(weeks(summary));
    sections.push(arrivals(summary));
    sections.extend(classes(summary));
    let footer = vec![format!("pavior {} trace inspect", env!("CARGO_PKG_VERSION"))];
    Page { title: format!("Job log {name}"), lead, sections, footer }
}

fn table(header: &[&str], rows: Vec<Vec<String>>) -> SectionTable {
    let header = header.iter().map(ToString::to_string).collect();
    SectionTable { header, rows, words: 1 }
}

/// Creates the section with the counts and an example line for each reason for skipping lines.
fn jobs(inspection: &Inspection<'_>) -> Section {
    let facts = facts(inspection.summary, output::Format::Table).into_iter();
    let facts = facts.map(|(key, value)| vec![key.to_string(), value]).collect();
    let examples = inspection.examples.iter();
    let examples =
        examples.map(|one| format!("{}, line {}: {}", one.reason, one.line, one.text)).collect();
    Section {
        title: "Jobs and machine".to_string(),
        text: examples,
        table: Some(table(&["", ""], facts)),
        ..Section::default()
    }
}

/// Draws the number of jobs in each group as a bar chart.
fn bars(title: &str, x: &str, bars: Vec<Bar>) -> Drawing {
    let (categories, counts): (_, Vec<u64>) = bars.into_iter().unzip();
    let values = counts.into_iter().map(|count| count as f64).collect();
    drawing(title, [x, "jobs"], (Marks::Bars, 0), categories, values)
}

/// Draws evenly spaced values, starting at x = `first`.
fn drawing(
    title: &str,
    [x, y]: [&str; 2],
    (marks, first): (Marks, usize),
    categories: Vec<String>,
    values: Vec<f64>,
) -> Drawing {
    let points = (first..).zip(values);
    let points = points.map(|(x, y)| Mark { x: x as f64, y, interval: None }).collect();
    let chart = Chart {
        title: title.to_string(),
        x: ChartAxis::plain(x, false),
        y: ChartAxis::plain(y, false),
        categories,
        marks,
        series: vec![Series { name: y.to_string(), points }],
        stated: Vec::new(),
        note: String::new(),
    };
    Drawing { svg: svg(&chart), caption: String::new() }
}

fn sizes_and_runs(summary: &LogSummary) -> Section {
    let mut spreads = vec![("size", &summary.sizes), ("run time in s", &summary.runs)];
    spreads.extend(summary.estimate_factors.as_ref().map(|factors| ("estimate / run", factors)));
    let row = |(name, spread): &(&str, &Spread)| {
        let values = quantiles(spread).map(|(_, value)| round(value));
        [vec![(*name).to_string()], values.to_vec()].concat()
    };
    let header = [&[""], &quantiles(&summary.sizes).map(|(key, _)| key)[..]].concat();
    let drawings = vec![
        bars("Jobs by size", "nodes", of_bins(&summary.size_histogram)),
        bars("Jobs by run time", "seconds", of_bins(&summary.run_histogram)),
    ];
    Section {
        title: "Sizes, run times and estimates".to_string(),
        drawings,
        table: Some(table(&header, spreads.iter().map(row).collect())),
        ..Section::default()
    }
}

/// Draws the load and the number of jobs per week.
fn weeks(summary: &LogSummary) -> Option<Section> {
    if summary.weeks.len() < 2 {
        return None;
    }
    let line = |title: &str, y: &str, values: Vec<f64>| {
        drawing(title, ["week", y], (Marks::Steps, 1), Vec::new(), values)
    };
    let weeks = &summary.weeks;
    let loads: Vec<f64> = weeks.iter().filter_map(|week| week.load).collect();
    let mut drawings = vec![];
    if !loads.is_empty() {
        drawings.push(line("Load by submission week", "load", loads));
    }
    let jobs = weeks.iter().map(|week| week.jobs as f64).collect();
    drawings.push(line("Jobs by submission week", "jobs", jobs));
    Some(Section { title: "Weeks".to_string(), drawings, ..Section::default() })
}

fn arrivals(summary: &LogSummary) -> Section {
    let arrivals = &summary.arrivals;
    let hours = by_hour(arrivals);
    let mut drawings = vec![bars("Arrivals by hour", clock_name(arrivals.clock), hours)];
    drawings.extend(by_weekday(arrivals).map(|days| bars("Arrivals by day of the week", "", days)));
    Section { title: "Arrivals".to_string(), drawings, ..Section::default() }
}

fn classes(summary: &LogSummary) -> Option<Section> {
    let row = |class: &Class| {
        let cells = [class.jobs, class.values].map(|count| count.to_string());
        [vec![class.field.to_string()], cells.to_vec(), vec![most_frequent(class)]].concat()
    };
    let rows: Vec<Vec<String>> = summary.classes.iter().map(row).collect();
    (!rows.is_empty()).then(|| Section {
        title: "Field values".to_string(),
        text: vec!["The most frequent values, with the number of jobs for each.".to_string()],
        table: Some(table(&["field", "jobs", "values", "most frequent"], rows)),
        ..Section::default()
    })
}
