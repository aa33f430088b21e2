//! `pavior trace inspect`: summarizes a log.

mod examples;
mod format;
mod page;
mod replay;
mod table;

use pavior::experiments::summarize_log;
use pavior::files::FileUses;
use pavior::text::{cell, message};
use pavior::workload::inspect::{LineNumbers, LogSummary};
use pavior::workload::traces;
use serde_json::json;

use self::examples::Example;
use self::format::{quantiles, round, with_lines};
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
    let page_file = args.html.as_deref().filter(|path| path.as_os_str() != "-");
    files::check_drawing("--html", page_file, &["html"])?;
    if let Some(path) = page_file {
        FileUses::new().reads("", &args.file).writes("--html", path).check()?;
    }
    let machine = args.machine.as_deref().map(input::machine).transpose()?;
    let nodes = machine.map(|grid| u64::from(grid.nodes()));
    let options = args.read.given()?.reading();
    let summary = summarize_log(&args.file, &options, files::lines(), nodes)?;
    let inspection = Inspection {
        name: files::shown(&args.file),
        summary: &summary,
        examples: examples::examples(&args.file, &summary)?,
        replay: replay::command(args, machine.as_ref(), &summary),
    };
    if args.html.is_some() {
        let page = pavior::draw::html(&page::page(&inspection));
        return match page_file {
            Some(path) => Ok(files::write_whole(path, |out| out.write_all(page.as_bytes()))?),
            None => output::xml(&page),
        };
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
        Format::Table => output::plain(&table::table(&inspection)),
    }
}

/// Prints the summary's values, one per line.
fn csv(summary: &LogSummary) -> Result<(), Failure> {
    let mut rows: Vec<Vec<String>> = facts(summary, Format::Csv)
        .into_iter()
        .map(|(key, value)| vec![key.to_string(), value])
        .collect();
    let mut add =
        |name: &str, key: &str, value: String| rows.push(vec![format!("{name}_{key}"), value]);
    let skipped = summary.skipped.iter().map(|skip| (skip.reason, &skip.found));
    for (name, found) in skipped.chain([("submits_back", &summary.submits_back)]) {
        found.lines.iter().for_each(|line| add(name, "line", line.to_string()));
    }
    for (key, count, _) in dependency_counts(summary) {
        add("dependencies", key, count.to_string());
    }
    let factors = summary.estimate_factors.as_ref().map(|factors| ("estimate_factors", factors));
    let spreads = [("sizes", &summary.sizes), ("runs", &summary.runs)];
    for (name, spread) in spreads.into_iter().chain(factors) {
        for (key, value) in quantiles(spread) {
            add(name, key, value.to_string());
        }
    }
    output::csv(&["key", "value"], &rows)
}

/// Returns the single-line values in a summary, each with its name. In CSV, numbers are not
/// rounded, and missing values are empty.
fn facts(summary: &LogSummary, format: Format) -> Vec<(&'static str, String)> {
    let is_csv = format == Format::Csv;
    let missing = if is_csv { "" } else { "-" };
    let round = |value: f64| if is_csv { value.to_string() } else { round(value) };
    let with_lines =
        |found: &LineNumbers| if is_csv { found.count.to_string() } else { with_lines(found) };
    let optional = |value: Option<f64>| value.map_or(missing.to_string(), round);
    let preceding =
        if is_csv { summary.dependencies.jobs.to_string() } else { dependencies(summary) };
    let format = summary.format.map_or(missing, traces::Format::title).to_string();
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
        ("machine_size", optional(summary.machine_size.map(|nodes| nodes as f64))),
        ("larger_than_machine", summary.larger_than_machine.to_string()),
        ("first_submit", round(summary.first_submit)),
        ("last_submit", round(summary.last_submit)),
        ("span", round(summary.span)),
        ("mean_interarrival", optional(summary.mean_interarrival)),
        ("load", optional(summary.load)),
        ("power_of_two", round(summary.power_of_two)),
        ("power_of_two_parallel", optional(summary.power_of_two_parallel)),
        ("with_preceding_job", preceding),
    ]);
    facts.extend(summary.notes.iter().map(|note| ("note", message(&cell(&note.text)))));
    facts
}

/// Returns the numbers of dependencies, each with its key in CSV and its description.
fn dependency_counts(summary: &LogSummary) -> [(&'static str, u64, &'static str); 5] {
    let found = &summary.dependencies;
    [
        ("followed", found.followed, "followed"),
        ("missing", found.missing, "missing"),
        ("later", found.later, "later in the log"),
        ("cycles", found.cycles, "cycles"),
        ("without_submit", found.without_submit, "without a submit time"),
    ]
}

/// Describes the dependent jobs and the predecessors that are ignored.
fn dependencies(summary: &LogSummary) -> String {
    let jobs = summary.dependencies.jobs;
    let counts = dependency_counts(summary).into_iter().filter(|(_, count, _)| *count > 0);
    let words: Vec<String> = counts.map(|(_, count, words)| format!("{count} {words}")).collect();
    if words.is_empty() {
        return jobs.to_string();
    }
    format!("{jobs} ({})", words.join(", "))
}
