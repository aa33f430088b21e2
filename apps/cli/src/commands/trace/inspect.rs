//! `pavior trace inspect`: what is in a log.

use std::fmt::Write;

use pavior_workload::inspect::{Bin, Clock, LineNumbers, LogSummary, Spread};

use crate::args::InspectArgs;
use crate::failure::Failure;
use crate::output::{self, Format};
use crate::{input, logs};

pub(super) fn run(args: &InspectArgs) -> Result<(), Failure> {
    let machine = args.machine.as_deref().map(input::machine).transpose()?;
    let trace = logs::read(&args.file, &args.read)?;
    let summary = LogSummary::of(&trace, machine.map(|grid| u64::from(grid.nodes())));
    match Format::or_default(args.format) {
        Format::Json => {
            let value = serde_json::to_value(&summary)
                .map_err(|error| Failure::Other(format!("cannot write JSON: {error}")))?;
            output::json(&value)
        }
        Format::Csv => csv(&summary),
        Format::Table => {
            let text = table(&summary).map_err(|error| Failure::Other(error.to_string()))?;
            output::plain(&text)
        }
    }
}

/// The numbers, a line each.
fn csv(summary: &LogSummary) -> Result<(), Failure> {
    let mut rows: Vec<Vec<String>> =
        facts(summary).into_iter().map(|(key, value)| vec![key.to_string(), value]).collect();
    for (name, spread) in [("sizes", &summary.sizes), ("runs", &summary.runs)] {
        for (key, value) in quantiles(spread) {
            rows.push(vec![format!("{name}_{key}"), value.to_string()]);
        }
    }
    output::csv(&["key", "value"], &rows)
}

/// The single numbers of a summary.
fn facts(summary: &LogSummary) -> Vec<(&'static str, String)> {
    let optional = |value: Option<f64>| value.map_or("-".to_string(), round);
    let mut facts = vec![
        ("lines", summary.lines.to_string()),
        ("job_lines", summary.job_lines.to_string()),
        ("kept", summary.kept.to_string()),
        ("filtered", summary.filtered.to_string()),
    ];
    facts.extend(summary.skipped.iter().map(|skip| (skip.reason, with_lines(&skip.found))));
    facts.extend([
        ("zero_length", summary.zero_length.to_string()),
        ("submits_back", with_lines(&summary.submits_back)),
        ("with_estimate", summary.with_estimate.to_string()),
        ("over_estimate", summary.over_estimate.to_string()),
        ("machine_size", summary.machine_size.map_or("-".into(), |size| size.to_string())),
        ("larger_than_machine", summary.larger_than_machine.to_string()),
        ("first_submit", round(summary.first_submit)),
        ("last_submit", round(summary.last_submit)),
        ("span", round(summary.span)),
        ("mean_interarrival", optional(summary.mean_interarrival)),
        ("load", optional(summary.load)),
        ("power_of_two", round(summary.power_of_two)),
        ("power_of_two_parallel", optional(summary.power_of_two_parallel)),
    ]);
    facts
}

/// A count, with the first lines it is about.
fn with_lines(found: &LineNumbers) -> String {
    const SHOWN: usize = 5;
    let lines: Vec<String> = found.lines.iter().take(SHOWN).map(ToString::to_string).collect();
    if lines.is_empty() {
        return found.count.to_string();
    }
    let more = if found.lines.len() > SHOWN { ", ..." } else { "" };
    let word = if found.count == 1 { "line" } else { "lines" };
    format!("{} ({word} {}{more})", found.count, lines.join(", "))
}

/// A number with at most three decimals.
fn round(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

fn quantiles(spread: &Spread) -> [(&'static str, f64); 8] {
    let Spread { mean, min, p25, p50, p75, p90, p99, max } = *spread;
    [
        ("mean", mean),
        ("min", min),
        ("p25", p25),
        ("p50", p50),
        ("p75", p75),
        ("p90", p90),
        ("p99", p99),
        ("max", max),
    ]
}

fn table(summary: &LogSummary) -> Result<String, std::fmt::Error> {
    let mut text = String::new();
    for (key, value) in facts(summary) {
        writeln!(text, "{key:<22} {value}")?;
    }
    for (name, spread) in [("size in nodes", &summary.sizes), ("run time in s", &summary.runs)] {
        let cells: Vec<String> = quantiles(spread)
            .iter()
            .map(|(key, value)| format!("{key} {}", round((value * 10.0).round() / 10.0)))
            .collect();
        writeln!(text, "\n{name}: {}", cells.join(", "))?;
        let bins =
            if name.starts_with("size") { &summary.size_histogram } else { &summary.run_histogram };
        bars(&mut text, bins.iter().map(|bin| (range(bin), bin.count)))?;
    }
    let clock = match summary.arrivals.clock {
        Clock::Local => "local time",
        Clock::Utc => "universal time",
        Clock::Log => "hours since the log began",
    };
    writeln!(text, "\narrivals by hour of the day ({clock})")?;
    let hours = summary.arrivals.by_hour.iter().enumerate();
    bars(&mut text, hours.map(|(hour, &count)| (format!("{hour:02}"), count)))?;
    if let Some(days) = summary.arrivals.by_weekday {
        writeln!(text, "\narrivals by day of the week")?;
        let names = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
        bars(&mut text, names.iter().map(ToString::to_string).zip(days))?;
    }
    Ok(text)
}

fn range(bin: &Bin) -> String {
    match bin.to {
        Some(to) => format!("{}..{}", round(bin.from), round(to)),
        None => format!("{}..", round(bin.from)),
    }
}

/// Horizontal bars, the longest of them 50 columns wide.
fn bars(text: &mut String, rows: impl Iterator<Item = (String, u64)>) -> std::fmt::Result {
    const LONGEST: u64 = 50;
    let rows: Vec<(String, u64)> = rows.collect();
    let most = rows.iter().map(|(_, count)| *count).max().unwrap_or(0).max(1);
    let label = rows.iter().map(|(label, _)| label.len()).max().unwrap_or(0);
    for (name, count) in rows {
        let bar = "#".repeat(((count * LONGEST).div_ceil(most)) as usize);
        let space = if bar.is_empty() { "" } else { " " };
        writeln!(text, "  {name:>label$} {bar}{space}{count}")?;
    }
    Ok(())
}
