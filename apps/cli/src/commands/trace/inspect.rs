//! `pavior trace inspect`: summarizes a log.

mod page;
mod replay;

use std::fmt::Write;

use pavior::experiments::summarize_log;
use pavior::files::FileUses;
use pavior::text::shown;
use pavior::workload::inspect::{Bin, Class, Clock, LineNumbers, LogSummary, Spread, Week};
use serde_json::json;

use self::replay::Example;
use crate::args::InspectArgs;
use crate::failure::Failure;
use crate::output::{self, Format};
use crate::{files, input};

struct Inspection<'s> {
    name: String,
    summary: &'s LogSummary,
    examples: Vec<Example>,
    /// The command that replays the log.
    replay: Option<String>,
}

pub(super) fn run(args: &InspectArgs) -> Result<(), Failure> {
    let machine = args.machine.as_deref().map(input::machine).transpose()?;
    let nodes = machine.map(|grid| u64::from(grid.nodes()));
    let options = args.read.given()?.reading();
    let summary = summarize_log(&args.file, &options, files::lines(), nodes)?;
    let inspection = Inspection {
        name: files::shown(&args.file),
        summary: &summary,
        examples: replay::examples(&args.file, &summary)?,
        replay: replay::command(&args.file, machine.as_ref(), &summary),
    };
    if let Some(path) = &args.html {
        let page = pavior::draw::html(&page::page(&inspection));
        if path.as_os_str() == "-" {
            return output::xml(&page);
        }
        files::check_drawing("--html", path, &["html"])?;
        FileUses::new().reads("", &args.file).writes("--html", path).check()?;
        return Ok(files::write_whole(path, |out| out.write_all(page.as_bytes()))?);
    }
    match args.output.format() {
        Format::Json => {
            let mut value = serde_json::to_value(&summary)
                .map_err(|error| Failure::Other(format!("cannot write JSON: {error}")))?;
            value["examples"] = json!(inspection.examples);
            value["replay"] = json!(inspection.replay);
            output::json(&value)
        }
        Format::Csv => csv(&summary),
        Format::Table => {
            let text = table(&inspection).map_err(Failure::other)?;
            output::plain(&text)
        }
    }
}

/// Prints the summary's values, one per line.
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

/// Returns the values in a summary that are single numbers or words.
fn facts(summary: &LogSummary) -> Vec<(&'static str, String)> {
    let optional = |value: Option<f64>| value.map_or("-".to_string(), round);
    let format = summary.format.map_or("-", pavior::workload::traces::Format::title).to_string();
    let mut facts = vec![
        ("format", format),
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
        ("repeated_numbers", summary.repeated_numbers.to_string()),
        ("header_nodes", optional(summary.header_nodes.map(|nodes| nodes as f64))),
        ("header_processors", optional(summary.header_processors.map(|count| count as f64))),
        ("greatest_use", optional(summary.greatest_use.map(|nodes| nodes as f64))),
        ("machine_size", summary.machine_size.map_or("-".into(), |size| size.to_string())),
        ("larger_than_machine", summary.larger_than_machine.to_string()),
        ("first_submit", round(summary.first_submit)),
        ("last_submit", round(summary.last_submit)),
        ("span", round(summary.span)),
        ("mean_interarrival", optional(summary.mean_interarrival)),
        ("load", optional(summary.load)),
        ("power_of_two", round(summary.power_of_two)),
        ("power_of_two_parallel", optional(summary.power_of_two_parallel)),
        ("with_preceding_job", dependencies(summary)),
    ]);
    facts.extend(summary.notes.iter().map(|note| ("note", shown(&note.text).to_string())));
    facts
}

/// Describes the dependent jobs and the predecessors that are ignored.
fn dependencies(summary: &LogSummary) -> String {
    let found = &summary.dependencies;
    let counts = [
        (found.followed, "followed"),
        (found.missing, "not among the jobs"),
        (found.later, "later than their job"),
        (found.cycles, "cycles"),
        (found.without_submit, "without a submit time"),
    ];
    let counts = counts.iter().filter(|(count, _)| *count > 0);
    let words: Vec<String> = counts.map(|(count, words)| format!("{count} {words}")).collect();
    if words.is_empty() {
        return found.jobs.to_string();
    }
    format!("{} ({})", found.jobs, words.join(", "))
}

/// Formats a count, followed by the first few line numbers.
fn with_lines(found: &LineNumbers) -> String {
    const MAX_LINES: usize = 5;
    let lines: Vec<String> = found.lines.iter().take(MAX_LINES).map(ToString::to_string).collect();
    if lines.is_empty() {
        return found.count.to_string();
    }
    let more = if found.lines.len() > MAX_LINES { ", ..." } else { "" };
    let word = if found.count == 1 { "line" } else { "lines" };
    format!("{} ({word} {}{more})", found.count, lines.join(", "))
}

/// Formats a number with at most three decimals.
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

fn table(inspection: &Inspection<'_>) -> Result<String, std::fmt::Error> {
    let summary = inspection.summary;
    let mut text = String::new();
    for (key, value) in facts(summary) {
        writeln!(text, "{key:<22} {value}")?;
    }
    for (at, Example { reason, line, text: example }) in inspection.examples.iter().enumerate() {
        let begin = if at == 0 { "\nexamples\n" } else { "" };
        writeln!(text, "{begin}  {reason}, line {line}: {example}")?;
    }
    if let Some(factors) = &summary.estimate_factors {
        writeln!(text, "\nestimate / run time: {}", spread_in_words(factors))?;
    }
    for (at, class) in summary.classes.iter().enumerate() {
        let begin = if at == 0 { "\nmost frequent values (jobs)\n" } else { "" };
        writeln!(text, "{begin}  {:>9}: {}", class.field, most_frequent(class))?;
    }
    for (name, spread) in [("size in nodes", &summary.sizes), ("run time in s", &summary.runs)] {
        writeln!(text, "\n{name}: {}", spread_in_words(spread))?;
        let bins =
            if name.starts_with("size") { &summary.size_histogram } else { &summary.run_histogram };
        bars(&mut text, bins.iter().map(|bin| (range(bin), bin.count)))?;
    }
    let loads = weekly_loads(&summary.weeks);
    if loads.len() > 1 {
        writeln!(text, "\nload in % by week of submission")?;
        bars(&mut text, loads.into_iter())?;
    }
    let clock = clock_name(summary.arrivals.clock);
    writeln!(text, "\narrivals by hour of the day ({clock})")?;
    let hours = summary.arrivals.by_hour.iter().enumerate();
    bars(&mut text, hours.map(|(hour, &count)| (format!("{hour:02}"), count)))?;
    if let Some(days) = summary.arrivals.by_weekday {
        writeln!(text, "\narrivals by day of the week")?;
        bars(&mut text, WEEKDAYS.iter().map(ToString::to_string).zip(days))?;
    }
    if let Some(command) = &inspection.replay {
        writeln!(text, "\nreplay: {command}")?;
    }
    for (place, one) in summary.names.iter().enumerate() {
        if place == 0 || summary.names[place - 1].field != one.field {
            writeln!(text, "\njobs by {}", one.field)?;
        }
        writeln!(text, "  {:>6}  {} ({})", one.jobs, shown(&one.name), one.number)?;
    }
    Ok(text)
}

const WEEKDAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

fn clock_name(clock: Clock) -> &'static str {
    match clock {
        Clock::Local => "local time",
        Clock::Utc => "universal time",
        Clock::Log => "hours since the log began",
    }
}

fn spread_in_words(spread: &Spread) -> String {
    let cell =
        |(key, value): (&str, f64)| format!("{key} {}", round((value * 10.0).round() / 10.0));
    quantiles(spread).map(cell).join(", ")
}

/// Formats a field's most frequent values, each followed by its number of jobs.
fn most_frequent(class: &Class) -> String {
    let all: Vec<String> =
        class.most.iter().map(|one| format!("{} ({})", one.value, one.jobs)).collect();
    let more = class.values - class.most.len() as u64;
    let more = if more > 0 { format!(", {more} more") } else { String::new() };
    all.join(", ") + &more
}

/// Returns the mean load, in percent, for at most 26 periods of one or more weeks.
fn weekly_loads(weeks: &[Week]) -> Vec<(String, u64)> {
    const MAX_ROWS: usize = 26;
    let each = weeks.len().div_ceil(MAX_ROWS).max(1);
    let row = |(at, weeks): (usize, &[Week])| {
        let loads: Vec<f64> = weeks.iter().filter_map(|week| week.load).collect();
        let mean = 100.0 * loads.iter().sum::<f64>() / loads.len() as f64;
        (!loads.is_empty()).then(|| ((at * each + 1).to_string(), mean.round() as u64))
    };
    weeks.chunks(each).enumerate().filter_map(row).collect()
}

fn range(bin: &Bin) -> String {
    match bin.to {
        Some(to) => format!("{}..{}", round(bin.from), round(to)),
        None => format!("{}..", round(bin.from)),
    }
}

/// Writes horizontal bars. The longest bar is 50 columns wide.
fn bars(text: &mut String, rows: impl Iterator<Item = (String, u64)>) -> std::fmt::Result {
    const MAX_BAR_COLUMNS: u64 = 50;
    let rows: Vec<(String, u64)> = rows.collect();
    let most = rows.iter().map(|(_, count)| *count).max().unwrap_or(0).max(1);
    let label = rows.iter().map(|(label, _)| label.len()).max().unwrap_or(0);
    for (name, count) in rows {
        let bar = "#".repeat(((count * MAX_BAR_COLUMNS).div_ceil(most)) as usize);
        let space = if bar.is_empty() { "" } else { " " };
        writeln!(text, "  {name:>label$} {bar}{space}{count}")?;
    }
    Ok(())
}
